import type { FastifyInstance } from "fastify";
import type { Refusal } from "../../types/refusals.ts";
import { ApiError } from "../../../http/errors.ts";
import type { Session } from "../../../database/query.ts";
import type { ClinicActor } from "../../../records/unmatched/commands.ts";
import type { StoredStudy } from "../../../records/studies/studies.ts";
import type { FoundPatient } from "../../../records/patients/patients.ts";
import { findOwnPatient } from "../../../records/unmatched/unmatched-page.ts";
import { clinicOf, userOf } from "../../auth/guard.ts";
import type { DashboardContext } from "../../context.ts";
import { refuse } from "../../refuse.ts";

// The route of a user's command on a study. It reads the study once, in the transaction of the command.

/** A screen's studies: its path below the clinic, which of them the clinic sees, and why an older revision is refused. */
export interface CommandScreen {
  readonly path: string;
  readonly find: (session: Session, clinicId: number, fp: string) => Promise<StoredStudy | undefined>;
  readonly refuseStale: (session: Session, clinicId: number, stored: StoredStudy) => Promise<Refusal>;
}

interface Command<Body extends { revision: number }> {
  readonly name: string;
  readonly body: (body: unknown) => Body;
  /** @returns why it changes nothing, else null */
  readonly run: (session: Session, stored: StoredStudy, body: Body, actor: ClinicActor) => Promise<Refusal | null>;
}

/** Adds the route of a command. Its transaction checks that the clinic sees the study, and that the user saw this revision. */
export function studyCommand<Body extends { revision: number }>(
  app: FastifyInstance,
  { store, now }: DashboardContext,
  { path, find, refuseStale }: CommandScreen,
  { name, body: read, run }: Command<Body>,
): void {
  const url = `/clinic/v1/clinics/:clinic/${path}/:fp/${name}`;
  app.post(url, { config: { access: "staff" } }, async (request): Promise<{ revision: number }> => {
    const body = read(request.body);
    const { fp } = request.params as { fp: string };
    const { name: by, userId } = userOf(request);
    const actor = { by, userId, clinicId: clinicOf(request).id, now: now() };
    return store.transaction(async (session) => {
      const stored = found("This study", await find(session, actor.clinicId, fp));
      const refused =
        stored.revision === body.revision
          ? await run(session, stored, body, actor)
          : await refuseStale(session, actor.clinicId, stored);
      if (refused !== null) refuse(refused);
      return { revision: stored.revision + 1 };
    });
  });
}

/** @throws 404 for a patient of another clinic, as for a missing one */
export async function ownPatient(session: Session, clinicId: number, fp: string): Promise<FoundPatient> {
  return found("This patient", await findOwnPatient(session, clinicId, fp));
}

/** @throws 404 for a record of another clinic, as for a missing one */
export function found<Item>(what: string, record: Item | undefined): Item {
  if (record === undefined) throw new ApiError("RECORD.NOT_FOUND", what);
  return record;
}
