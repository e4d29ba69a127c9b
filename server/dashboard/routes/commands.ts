import type { FastifyRequest } from "fastify";
import { ApiError } from "../../http/errors.ts";
import type { AuditActor } from "../../records/audit/audit.ts";
import { clinicOf, userOf } from "../auth/guard.ts";

// Commands of a user on records of the clinic.

/** The user of a request, for the audit of a command. */
export function actorOf(request: FastifyRequest, now: number): Required<AuditActor> {
  const { userId, name } = userOf(request);
  return { by: name, now, userId, clinicId: clinicOf(request).id };
}

/** Throws 409 with the reason for which a command changes nothing. */
export function refuse(problem: string): never {
  throw new ApiError("RECORD.REFUSED", `${problem[0]?.toUpperCase() ?? ""}${problem.slice(1)}.`);
}
