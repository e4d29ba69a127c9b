import type { FastifyInstance, FastifyRequest } from "fastify";
import { ApiError } from "./errors.ts";

// Plugin: refuses a request without a route (404, 405) or without a Host header (400), before its key and body are read.

interface PathMethods {
  readonly pattern: RegExp;
  readonly allowed: Set<string>;
}

export function refuseUnknownRoutes(app: FastifyInstance): void {
  const paths = collectMethods(app);
  app.setNotFoundHandler((request) => {
    throw notFound(request, paths.values());
  });
  app.addHook("onRequest", (request, _reply, done) => {
    if (request.headers.host === undefined && request.raw.httpVersion === "1.1") {
      throw new ApiError("REQUEST.MALFORMED", "The Host header is missing.");
    }
    // The router matches `/patients/` with an empty fp. A trailing slash is another path, so it is 404.
    if (request.is404 || Object.values(request.params as object).includes("")) throw notFound(request, paths.values());
    done();
  });
}

/** The methods of each path. Fastify responds 404 to a wrong method; these tell a wrong method from a wrong path. */
function collectMethods(app: FastifyInstance): ReadonlyMap<string, PathMethods> {
  const paths = new Map<string, PathMethods>();
  app.addHook("onRoute", ({ url, method }) => {
    const path = paths.get(url) ?? {
      pattern: new RegExp(`^${url.replaceAll(/:\w+/g, "[^/]+")}$`),
      allowed: new Set<string>(),
    };
    for (const name of [method].flat()) path.allowed.add(name);
    paths.set(url, path);
  });
  return paths;
}

function notFound({ url, method }: FastifyRequest, paths: Iterable<PathMethods>): ApiError {
  const [path = ""] = url.split("?", 1);
  for (const { pattern, allowed } of paths) {
    if (!pattern.test(path) || allowed.has(method)) continue;
    const allow = [...allowed].join(", ");
    return new ApiError("ROUTE.METHOD_NOT_ALLOWED", method, { headers: { allow } });
  }
  return new ApiError("ROUTE.NOT_FOUND", path.slice(0, 200));
}
