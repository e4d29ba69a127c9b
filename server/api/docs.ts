import swagger, { type StaticDocumentSpec } from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyError, FastifyInstance } from "fastify";
import { ApiError } from "../http/errors.ts";
import type { Limits } from "../http/rate-limit/rate-limiter.ts";
import { type ApiPart, type collectOperations, describeApi } from "../http/openapi/document.ts";

// The document of a part of the API, and a page that shows it. Both need no key. The page's files come from this server, not the internet.

export async function docsRoutes(
  app: FastifyInstance,
  part: ApiPart,
  routes: ReturnType<typeof collectOperations>,
  limits: Limits,
): Promise<void> {
  // Made when first requested, since a start would take longer with it.
  let json: string | undefined;
  const text = () => (json ??= JSON.stringify(describeApi(part, routes, limits)));
  const document: object = { toJSON: () => JSON.parse(text()) as object };

  // Gives the errors of the file server (a range past the end, a NUL in a name) the envelope of the API.
  app.setErrorHandler((error: FastifyError) => {
    throw (error.statusCode ?? 500) < 500
      ? new ApiError("REQUEST.MALFORMED", "The request is not well formed.")
      : error;
  });

  app.get(part.documentUrl, (_request, reply) => reply.type("application/json; charset=utf-8").send(text()));

  await app.register(swagger, { mode: "static", specification: { document } as StaticDocumentSpec });
  await app.register(swaggerUi, {
    routePrefix: part.pageUrl,
    staticCSP: CSP,
    theme: { title: part.title, js: [{ filename: "dark.js", content: DARK }] },
    // Omits the bar that loads other documents.
    uiConfig: { layout: "BaseLayout" },
  });
}

// The page sets inline styles at run time. Scripts come from files only.
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// swagger-ui has dark colours under this class, and sets it only in the bar that is omitted. Paper is light.
const DARK = `const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
addEventListener("beforeprint", () => document.documentElement.classList.remove("dark-mode"));
addEventListener("afterprint", follow);
follow();
`;
