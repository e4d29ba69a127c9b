import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { MoveBody } from "../../types/results/results.ts";
import type { ReopenBody } from "../../types/results/to-place.ts";
import { ApiError } from "../../../http/errors.ts";
import type { AuditActor } from "../../../records/audit/audit.ts";
import type { Session } from "../../../database/query.ts";
import { findVisible } from "../../../records/results/study-page.ts";
import { findOwnPatient } from "../../../records/unmatched/to-place.ts";
import { contradictedSpecies, flagAgain, moveStudy, undoMove } from "../../../records/unmatched/placement.ts";
import type { StoredStudy } from "../../../records/studies/studies.ts";
import { clinicOf, userOf } from "../../auth/guard.ts";
import { bodyReader } from "../../body.ts";
import type { DashboardContext } from "../../context.ts";
import { namesSpecies } from "../../named-species.ts";

// Commands on a study from its own page: another animal, back to the desk, undo, flag again.

const REASON_CHARS_MAX = 200;
const Revision = Type.Integer({ minimum: 1 });

const moveBody: (body: unknown) => MoveBody = bodyReader({
  revision: Revision,
  patient_fp: Type.Union([Type.String({ maxLength: 100 }), Type.Null()]),
  reason: Type.String({ maxLength: REASON_CHARS_MAX, minLength: 1, pattern: "\\S" }),
  typed_species: Type.Optional(Type.String({ maxLength: 100 })),
});
const revisionBody: (body: unknown) => ReopenBody = bodyReader({ revision: Revision });

export function studyCommandRoutes(app: FastifyInstance, context: DashboardContext): void {
  command(app, context, {
    name: "move",
    body: moveBody,
    run: async (session, stored, { patient_fp, reason, typed_species = "" }, actor) => {
      const wanted = { ...actor, fp: stored.fp, patientFp: patient_fp, reason: reason.trim() };
      if (patient_fp === null) return moveStudy(session, wanted);
      const patient = await findOwnPatient(session, actor.clinicId, patient_fp);
      if (patient === undefined) throw new ApiError("RECORD.NOT_FOUND", "This patient");
      const said = contradictedSpecies(stored, patient);
      if (said === null) return moveStudy(session, wanted);
      if (namesSpecies(typed_species, patient)) return moveStudy(session, { ...wanted, despite: "species" });
      const expected = `type the patient's species, ${patient.species}, to file it all the same`;
      return `The device says ${said}, but ${patient.name} is a ${patient.species}: ${expected}.`;
    },
  });
  command(app, context, {
    name: "undo-move",
    body: revisionBody,
    run: (session, { fp }, _body, actor) => undoMove(session, { ...actor, fp }),
  });
  command(app, context, {
    name: "flag-again",
    body: revisionBody,
    run: (session, { fp }, _body, actor) => flagAgain(session, { ...actor, fp }),
  });
}

type Actor = AuditActor & { readonly clinicId: number };

interface Command<Body extends { revision: number }> {
  readonly name: string;
  readonly body: (body: unknown) => Body;
  /** @returns the reason if it changes nothing, else null */
  readonly run: (session: Session, stored: StoredStudy, body: Body, actor: Actor) => Promise<string | null>;
}

/** Adds the route of a command. Its transaction checks that the clinic sees the study, and that the user saw this revision. */
function command<Body extends { revision: number }>(
  app: FastifyInstance,
  { store, now }: DashboardContext,
  { name, body: read, run }: Command<Body>,
): void {
  const url = `/clinic/v1/clinics/:clinic/results/:fp/${name}`;
  app.post(url, { config: { access: "staff" } }, async (request: FastifyRequest): Promise<{ revision: number }> => {
    const body = read(request.body);
    const { fp } = request.params as { fp: string };
    const { name: by, userId } = userOf(request);
    const actor = { by, userId, clinicId: clinicOf(request).id, now: now() };
    return store.transaction(async (session) => {
      const stored = await findVisible(session, actor.clinicId, fp);
      if (stored === undefined) throw new ApiError("RECORD.NOT_FOUND", "This study");
      if (stored.revision !== body.revision) {
        throw new ApiError("RECORD.REFUSED", "This study was changed meanwhile. Look again.");
      }
      const problem = await run(session, stored, body, actor);
      if (problem !== null) throw new ApiError("RECORD.REFUSED", problem);
      return { revision: stored.revision + 1 };
    });
  });
}
