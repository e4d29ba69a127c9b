import swagger, { type StaticDocumentSpec } from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyError, FastifyInstance } from "fastify";
import { ApiError } from "../http/errors.ts";
import type { Limits } from "../http/rate-limit.ts";
import { type collectOperations, describeApi } from "../http/openapi.ts";

// The API document and a page that shows it, without a key. The page's files are the server's own: it needs no internet.

export async function docsRoutes(
  app: FastifyInstance,
  routes: ReturnType<typeof collectOperations>,
  limits: Limits,
): Promise<void> {
  const document = describeApi(routes, limits);
  const json = JSON.stringify(document);

  // What the file server refuses (a range past the end, a NUL in a name) is the caller's fault, as the rest of the API says it.
  app.setErrorHandler((error: FastifyError) => {
    throw (error.statusCode ?? 500) < 500
      ? new ApiError("REQUEST.MALFORMED", "The request is not well formed.")
      : error;
  });

  app.route({
    method: "GET",
    url: "/openapi.json",
    handler: (_request, reply) => reply.type("application/json; charset=utf-8").send(json),
  });

  await app.register(swagger, { mode: "static", specification: { document } as StaticDocumentSpec });
  await app.register(swaggerUi, {
    routePrefix: "/docs",
    staticCSP: CSP,
    theme: { title: "Vetwire read API" },
    // Without the bar that loads other documents.
    uiConfig: { layout: "BaseLayout" },
  });
}

// The page sets styles of its own while it runs; scripts come from files alone.
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
