import type { FastifyInstance, FastifyRequest } from "fastify";
import { findSignedIn, requireSession, userOf } from "../dashboard/auth/guard.ts";
import type { Session } from "../database/query.ts";
import { ApiError } from "../http/errors.ts";
import type { AuditActor } from "../records/audit/audit.ts";
import { type ClinicState, findClinicState } from "../records/clinics/clinics.ts";
import type { OperatorContext } from "./context.ts";

// Plugin: finds the session of an operator, and refuses all others. A session of the dashboard opens nothing here.

export function guardConsole(scope: FastifyInstance, context: OperatorContext): void {
  scope.addHook("onRoute", ({ url, config }) => {
    if (config?.access !== "anyone" && config?.access !== "signed in") {
      throw new Error(`route ${url}: expected access anyone or signed in in its config`);
    }
  });
  scope.addHook("onRequest", async (request) => {
    await findSignedIn(request, context, "operator");
    if (request.context.route.access !== "anyone") requireSession(request);
  });
}

/** The clinic of the path. @throws ApiError for an unknown one */
export async function clinicIn(session: Session, request: FastifyRequest): Promise<ClinicState> {
  const { clinic: fp } = request.params as { clinic: string };
  const found = await findClinicState(session, fp);
  if (found === undefined) throw new ApiError("RECORD.NOT_FOUND", "This clinic");
  return found;
}

/** The operator of a request, for the audit of the clinic. */
export function operatorOf(request: FastifyRequest, now: number, clinicId: number): Required<AuditActor> {
  const { userId, name } = userOf(request);
  return { by: name, now, userId, clinicId };
}
