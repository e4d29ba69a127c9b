import type { IncomingHttpHeaders } from "node:http";

/**
 * Whether a page of this site, or no browser, sent a write. Another site's page could use the user's cookie or address (CSRF).
 * The rule is that of Go's http.CrossOriginProtection: Sec-Fetch-Site decides; without it Origin must name this host; without
 * both no browser sent it.
 */
export function isSameOrigin(headers: IncomingHttpHeaders): boolean {
  const site = headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin" || site === "none";
  const { origin, host } = headers;
  if (origin === undefined) return true;
  // A proxy changes the scheme, so the host alone decides.
  return URL.canParse(origin) && new URL(origin).host === host;
}
