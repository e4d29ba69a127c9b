import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { builtPages, htmlPage, PAGE_HEADERS, pageFiles } from "../../shared/network/page-files.ts";
import { ApiError } from "../http/errors.ts";
import { RETURN_PATHS } from "./types/settings/session.ts";
import { isLocalName, isLoopback } from "../../shared/network/network-address.ts";

// The files of the dashboard and of the documentation. Every path of the dashboard gets index.html.

/** Time for which a browser that reached this name over TLS uses TLS alone for it (RFC 6797). */
const HSTS_S = 31_536_000;

/** Adds /dashboard and /docs with their files, and redirects / and /dashboard/ to the dashboard. With `hasConsole` it adds /operator. */
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
  app.route({ method: "GET", url: "/docs/", handler: (_request, reply) => reply.redirect("/docs") });
  const urls = ["/dashboard", "/dashboard/*"];
  const consoleUrls = hasConsole
    ? ["/operator", "/operator/account", "/operator/audit", "/operator/clinics/:clinic", RETURN_PATHS.operator]
    : [];
  if (folder === undefined) {
    for (const url of [...urls, ...consoleUrls, "/docs", "/docs/*"]) {
      app.route({ method: "GET", url, handler: refuseUnbuilt });
    }
    return;
  }
  if (hasConsole) htmlPage(app, folder, { html: "operator-app/index.html", urls: consoleUrls });
  await pageFiles(app, folder, { html: "index.html", urls });
  documents(app, join(folder, "docs"));
}

/** Adds the documentation, which is one file for each page. It is public, as its text is. */
function documents(app: FastifyInstance, folder: string): void {
  const send = async (name: string, reply: FastifyReply) => {
    // A name without dots stays in the folder.
    const isName = /^[\w-]+(\/[\w-]+)*$/.test(name);
    const text = isName ? await readFile(join(folder, `${name}.html`)).catch(() => null) : null;
    if (text === null) throw new ApiError("ROUTE.NOT_FOUND", `/docs/${name.slice(0, 200)}`);
    return reply.type("text/html; charset=utf-8").send(text);
  };
  app.get("/docs", (_request, reply) => send("index", reply));
  app.get<{ Params: { "*": string } }>("/docs/*", (request, reply) => send(request.params["*"], reply));
}

function refuseUnbuilt({ routeOptions }: FastifyRequest): never {
  throw new ApiError("ROUTE.NOT_FOUND", `${routeOptions.url}, because the pages are not built: run npm run build`);
}
