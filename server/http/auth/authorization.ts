import type { FastifyInstance, FastifyRequest } from "fastify";
import type { KeyHeader } from "./api-keys.ts";
import { ApiError } from "../errors.ts";

// Plugin: refuses requests without an active key (401), keys without a permission of the route, and readers of a suspended clinic
// (403).

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether the route writes what practice software sends. A suspended clinic takes none of it: its agents keep it and send it later. */
    isOfPractice?: boolean;
  }
}

/** The WWW-Authenticate header of a 401. */
export const CHALLENGES: Record<KeyHeader, string> = {
  "x-api-key": 'X-API-Key realm="vetwire"',
  authorization: 'Bearer realm="vetwire"',
};

const EXPECTED_HEADERS: Record<KeyHeader, Record<string, string>> = {
  "x-api-key": { header: "X-API-Key" },
  authorization: { header: "Authorization", scheme: "Bearer" },
};

export function authorizeRequests(scope: FastifyInstance): void {
  scope.addHook("onRoute", ({ url, config }) => {
    if (config?.header !== undefined && config.permissions !== undefined) return;
    throw new Error(`route ${url}: expected a key header and permissions in its config`);
  });
  scope.addHook("onRequest", (request, _reply, done) => {
    admit(request);
    done();
  });
}

/** @throws ApiError unless the key of the request opens its route */
export function admit({ context }: FastifyRequest): void {
  const { header = "x-api-key", permissions = [], isOfPractice = false } = context.route;
  if (context.key === null) throw unauthorized(header);
  if (!isPermitted({ context })) throw new ApiError("AUTH.FORBIDDEN", "", { details: { required: permissions } });
  // Agents of a suspended clinic go on: their studies wait with them, so that none is lost.
  if (context.isClinicSuspended && (isOfPractice || context.key.type !== "device")) {
    throw new ApiError("CLINIC.SUSPENDED");
  }
}

/** Whether the request has an active key with at least one permission of the route. */
export function isPermitted({ context }: Pick<FastifyRequest, "context">): boolean {
  const { permissions = [] } = context.route;
  return permissions.some((permission) => context.key?.permissions.includes(permission) === true);
}

/** The same error for missing, unknown, revoked and expired keys, so that it reveals no existing key. */
export function unauthorized(header: KeyHeader): ApiError {
  const headers = { "www-authenticate": CHALLENGES[header] };
  return new ApiError("AUTH.UNAUTHORIZED", "", { details: EXPECTED_HEADERS[header], headers });
}
