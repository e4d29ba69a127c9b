import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance, FastifyReply } from "fastify";
import { CODE_FOLDER } from "../files/program-files.ts";

// The files of the pages as `npm run build` makes them: of the server's dashboard, and of the agent's own page.

const YEAR_S = 31_536_000;

/** Headers of every page: scripts and styles are in files alone, and nothing is loaded from elsewhere. */
export const PAGE_HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
    "font-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
};

/** The built pages: next to the build of this module, else in dist. The sources have no `assets`. Undefined if there are none. */
export function builtPages(): string | undefined {
  const candidates = ["server/web", "dist/server/web"].map((folder) => join(CODE_FOLDER, folder));
  return candidates.find((folder) => existsSync(join(folder, "assets")));
}

/** Adds the scripts and styles of the pages, and responds to each of `urls` with the HTML file; its script shows the screen. */
export async function pageFiles(
  app: FastifyInstance,
  folder: string,
  { html, urls }: { readonly html: string; readonly urls: readonly string[] },
): Promise<void> {
  await app.register(fastifyStatic, {
    root: join(folder, "assets"),
    serve: false,
    // The names of the files hold a hash of their content.
    cacheControl: false,
    setHeaders: (reply) => void reply.header("cache-control", `public, max-age=${YEAR_S}, immutable`),
  });
  app.get<{ Params: { file: string } }>("/assets/:file", (request, reply) => reply.sendFile(request.params.file));
  htmlPage(app, folder, { html, urls });
}

/** Responds to each of `urls` with the HTML file. */
export function htmlPage(
  app: FastifyInstance,
  folder: string,
  { html, urls }: { readonly html: string; readonly urls: readonly string[] },
): void {
  // A build while the program runs gives the scripts new names, which the next request for the page gets.
  let text = readFileSync(join(folder, html));
  const page = async (_request: unknown, reply: FastifyReply) => {
    text = await readFile(join(folder, html)).catch(() => text);
    return reply.type("text/html; charset=utf-8").send(text);
  };
  for (const url of urls) app.route({ method: "GET", url, handler: page });
}
