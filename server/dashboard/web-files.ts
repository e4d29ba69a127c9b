import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance, FastifyReply } from "fastify";
import { ApiError } from "../http/errors.ts";
import { isLoopback } from "../http/network-address.ts";

// The files of the dashboard as `npm run build` makes them. Every path of the page gets index.html; its script shows the screen.

const YEAR_S = 31_536_000;

/** Time for which a browser that reached this name over TLS asks it by TLS alone (RFC 6797). */
const HSTS_S = YEAR_S;

// The page has scripts and styles in files alone, and loads nothing from elsewhere.
const PAGE_HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
    "font-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "x-frame-options": "DENY",
};

/** Adds /dashboard with its files, and redirects / to it. */
export async function webFiles(app: FastifyInstance, folder = builtFolder()): Promise<void> {
  app.addHook("onSend", (request, reply, _payload, done) => {
    reply.headers(PAGE_HEADERS);
    if (request.protocol === "https" && !isLoopback(request.hostname)) {
      reply.header("strict-transport-security", `max-age=${HSTS_S}`);
    }
    done();
  });
  app.route({ method: "GET", url: "/", handler: (_request, reply) => reply.redirect("/dashboard") });
  if (folder === undefined) {
    for (const url of ["/dashboard", "/dashboard/*"]) app.route({ method: "GET", url, handler: refuseUnbuilt });
    return;
  }
  await app.register(fastifyStatic, {
    root: join(folder, "assets"),
    prefix: "/dashboard/assets/",
    wildcard: false,
    index: false,
    // The names of the files hold a hash of their content.
    cacheControl: false,
    setHeaders: (response) => void response.setHeader("cache-control", `public, max-age=${YEAR_S}, immutable`),
  });
  const html = readFileSync(join(folder, "index.html"));
  const page = (_request: unknown, reply: FastifyReply) => reply.type("text/html; charset=utf-8").send(html);
  for (const url of ["/dashboard", "/dashboard/*"]) app.route({ method: "GET", url, handler: page });
}

function refuseUnbuilt(): never {
  throw new ApiError("ROUTE.NOT_FOUND", "/dashboard, because the pages are not built: run npm run build");
}

/** The built pages: beside this module in the build, else in dist. The sources have no `assets`. Undefined if there are none. */
function builtFolder(): string | undefined {
  const candidates = ["../web", "../../dist/server/web"].map((path) => join(import.meta.dirname, path));
  return candidates.find((folder) => existsSync(join(folder, "assets")));
}
