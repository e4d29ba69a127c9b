import type { FastifyRequest } from "fastify";
import type { ApiKey } from "../store/keys.ts";
import type { Versions } from "../store/cache-versions.ts";

/** The key that a guard let through. */
export function keyOf(request: FastifyRequest): ApiKey {
  return request.getDecorator<ApiKey>("apiKey");
}

/** What the key's clinic had changed to when the guard let the request through. */
export function versionsOf(request: FastifyRequest): Versions {
  return request.getDecorator<Versions>("versions");
}

/** A key, and what its clinic had changed to when it was found. */
export interface FoundKey {
  readonly key: ApiKey;
  readonly versions: Versions;
}
