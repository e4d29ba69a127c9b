import type { FastifyInstance, FastifyRequest } from "fastify";
import { ApiError } from "./errors.ts";

// Plugin: refuses a request without a route (404, 405), without a Host header or with a doubled header (400), before its key and
// body are read.

/** Headers of which Node keeps one or joins both. A proxy may go by the other one (RFC 9110 §5.3, RFC 9112 §3.2). */
const SINGLE_HEADERS: ReadonlySet<string> = new Set(["host", "authorization", "x-api-key", "content-type"]);

interface PathMethods {
  /** Matches the requests of the path. Null until a request without a route comes. */
  pattern: RegExp | null;
  readonly allowed: Set<string>;
}

export function refuseUnknownRoutes(app: FastifyInstance): void {
  const paths = collectMethods(app);
  app.setNotFoundHandler((request) => {
    throw notFound(request, paths);
  });
  app.addHook("onRequest", (request, _reply, done) => {
    if (request.headers.host === undefined && request.raw.httpVersion === "1.1") {
      throw new ApiError("REQUEST.MALFORMED", "The Host header is missing.");
    }
    const repeated = repeatedHeader(request.raw.rawHeaders);
    if (repeated !== null) throw new ApiError("REQUEST.MALFORMED", `The header ${repeated} is there twice.`);
    // The router matches `/patients/` with an empty fp. A trailing slash is another path, so it is 404.
    if (request.is404 || Object.values(request.params as object).includes("")) throw notFound(request, paths);
    done();
  });
}

/** Finds a doubled header that may occur only once. @returns its name in lower case, or null */
function repeatedHeader(rawHeaders: readonly string[]): string | null {
  const seen = new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? "";
    if (!SINGLE_HEADERS.has(name)) continue;
    if (seen.has(name)) return name;
    seen.add(name);
  }
  return null;
}

/** The methods of each path. Fastify responds 404 to a wrong method; these distinguish it from a wrong path. */
function collectMethods(app: FastifyInstance): ReadonlyMap<string, PathMethods> {
  const paths = new Map<string, PathMethods>();
  app.addHook("onRoute", ({ url, method }) => {
    const path = paths.get(url) ?? { pattern: null, allowed: new Set<string>() };
    for (const name of [method].flat()) path.allowed.add(name);
    paths.set(url, path);
  });
  return paths;
}

function notFound({ url, method }: FastifyRequest, paths: ReadonlyMap<string, PathMethods>): ApiError {
  const [path = ""] = url.split("?", 1);
  for (const [route, methods] of paths) {
    methods.pattern ??= new RegExp(`^${route.replaceAll(/:\w+/g, "[^/]+")}$`);
    if (!methods.pattern.test(path) || methods.allowed.has(method)) continue;
    const allow = [...methods.allowed].join(", ");
    return new ApiError("ROUTE.METHOD_NOT_ALLOWED", method, { headers: { allow } });
  }
  return new ApiError("ROUTE.NOT_FOUND", path.slice(0, 200));
}
