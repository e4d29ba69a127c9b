import type { FastifyInstance, FastifyRequest } from "fastify";
import { isActive } from "./api-keys.ts";
import { admit } from "./authorization.ts";
import type { KeyLookup } from "./key-lookup.ts";
import type { KeyUse } from "./key-use.ts";

// Plugin: finds the API key of each request. It refuses none, so that the rate limit also counts requests without a key.

export interface Authentication {
  readonly findKey: KeyLookup;
  readonly noteUse: KeyUse;
  readonly now: () => number;
}

export function authenticateRequests(scope: FastifyInstance, { findKey, noteUse, now }: Authentication): void {
  scope.addHook("onRequest", async (request) => {
    await authenticate(request);
    const { key } = request.context;
    if (key !== null) await noteUse(key, now());
  });
  // A body may take a minute, in which its key ends, or its clinic is suspended and erased.
  scope.addHook("preHandler", async (request) => {
    if (request.body == null) return;
    await authenticate(request);
    admit(request);
  });

  async function authenticate(request: FastifyRequest): Promise<void> {
    const { context } = request;
    context.key = null;
    const found = await findKey(presentedKey(request));
    if (found === undefined) return;
    if (!isActive(found.key, now())) {
      context.inactiveKey = found.key;
      return;
    }
    context.key = found.key;
    context.versions = found.versions;
    context.isClinicSuspended = found.isClinicSuspended;
    context.studiesMax = found.studiesMax;
  }
}

/** The key in the header that the route expects. Empty if there is none. */
function presentedKey({ headers, context }: FastifyRequest): string {
  const { header = "x-api-key" } = context.route;
  const value = headers[header];
  if (typeof value !== "string") return "";
  if (header === "x-api-key") return value;
  // The scheme is case-insensitive (RFC 9110 §11.1). One space follows it (RFC 6750 §2.1).
  return /^bearer ([^ ]+)$/i.exec(value)?.[1] ?? "";
}
