import type { FastifyRequest } from "fastify";
import type { AuditActor } from "../../records/audit/audit.ts";
import { clinicOf, userOf } from "../auth/guard.ts";

// The user of a command on records of the clinic.

/** The user of a request, for the audit of a command. */
export function actorOf(request: FastifyRequest, now: number): Required<AuditActor> {
  const { userId, name } = userOf(request);
  return { by: name, now, userId, clinicId: clinicOf(request).id };
}

/** The same for a write to animals or owners, whose batch takes times from the clock. */
export function handOf(request: FastifyRequest, clock: () => number): Required<AuditActor> & { clock: () => number } {
  return { ...actorOf(request, clock()), clock };
}
