import type { FastifyInstance } from "fastify";
import { builtPages, htmlPage, PAGE_HEADERS, pageFiles } from "../../shared/network/page-files.ts";
import { ApiError } from "../http/errors.ts";
import { isLocalName, isLoopback } from "../../shared/network/network-address.ts";

// The files of the dashboard. Every path of the page gets index.html.

/** Time for which a browser that reached this name over TLS uses TLS alone for it (RFC 6797). */
const HSTS_S = 31_536_000;

/** Adds /dashboard with its files, and redirects / and /dashboard/ to it. With `hasConsole` it adds /operator, too. */
export async function webFiles(
  app: FastifyInstance,
  { folder = builtPages(), hasConsole = false }: { readonly folder?: string; readonly hasConsole?: boolean } = {},
): Promise<void> {
  app.addHook("onSend", (request, reply, _payload, done) => {
    reply.headers(PAGE_HEADERS);
    // Names of the local network get no HSTS: after a new certificate of the clinic, browsers would lock their users out for a
    // year.
    if (request.protocol === "https" && !isLoopback(request.hostname) && !isLocalName(request.hostname)) {
      reply.header("strict-transport-security", `max-age=${HSTS_S}`);
    }
    done();
  });
  app.route({ method: "GET", url: "/", handler: (_request, reply) => reply.redirect("/dashboard") });
  app.route({ method: "GET", url: "/dashboard/", handler: (_request, reply) => reply.redirect("/dashboard") });
  const urls = ["/dashboard", "/dashboard/*"];
  const consoleUrls = hasConsole ? ["/operator", "/operator/clinics/:clinic"] : [];
  if (folder !== undefined) {
    if (hasConsole) htmlPage(app, folder, { html: "operator-app/index.html", urls: consoleUrls });
    return pageFiles(app, folder, { html: "index.html", urls });
  }
  for (const url of [...urls, ...consoleUrls]) app.route({ method: "GET", url, handler: refuseUnbuilt });
}

function refuseUnbuilt(): never {
  throw new ApiError("ROUTE.NOT_FOUND", "/dashboard, because the pages are not built: run npm run build");
}
