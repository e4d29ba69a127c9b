import type { FastifyInstance, FastifyRequest } from "fastify";
import { ApiError } from "../../http/errors.ts";

// Plugin: refuses writes that another site's page sends with the user's cookie (CSRF). The rule is that of Go's
// http.CrossOriginProtection: Sec-Fetch-Site decides; without it Origin must name this host; without both no browser sent it.

export function refuseCrossSiteWrites(scope: FastifyInstance): void {
  scope.addHook("onRequest", (request, _reply, done) => {
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (!isRead && !isSameOrigin(request)) throw new ApiError("SESSION.CROSS_SITE");
    done();
  });
}

function isSameOrigin({ headers }: FastifyRequest): boolean {
  const site = headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin" || site === "none";
  const { origin, host } = headers;
  if (origin === undefined) return true;
  // A scheme that differs behind a proxy is no other site: the host decides.
  return URL.canParse(origin) && new URL(origin).host === host;
}
