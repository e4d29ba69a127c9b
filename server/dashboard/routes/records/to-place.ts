import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import type {
  AssignBody,
  Placed,
  PlacementPreview,
  PlacementQueue,
  RejectBody,
  ReopenBody,
  ShownPatient,
  StudyToPlace,
} from "../../types/results/to-place.ts";
import type { Patient } from "../../../../shared/api/patient.ts";
import { ApiError } from "../../../http/errors.ts";
import { choice, readParameters, text } from "../../../http/query-parameters.ts";
import type { AuditActor } from "../../../records/audit/audit.ts";
import {
  describeStudyToPlace,
  findOwnPatient,
  findOwnStudy,
  previewFor,
  queueOf,
  searchPatients,
} from "../../../records/unmatched/to-place.ts";
import type { Session } from "../../../database/query.ts";
import { assignStudy, contradictedSpecies, rejectStudy, reopenStudy } from "../../../records/unmatched/placement.ts";
import type { StoredStudy } from "../../../records/studies/studies.ts";
import { clinicOf, userOf } from "../../auth/guard.ts";
import { bodyReader } from "../../body.ts";
import type { DashboardContext } from "../../context.ts";
import { namesSpecies } from "../../named-species.ts";
import { textForm } from "../../../../shared/schema/text-form.ts";

// The desk where users place unmatched studies.

const BASE = "/clinic/v1/clinics/:clinic/to-place";
const REASON_CHARS_MAX = 200;

const queueParameters = {
  rejected: choice(["0", "1"], "Whether to list the rejected studies, with 1."),
  order: choice(["oldest", "newest"], "Order of the studies."),
};
const searchParameters = { text: text("Words of the name or of an identifier.") };

const Revision = Type.Integer({ minimum: 1 });

const assignBody: (body: unknown) => AssignBody = bodyReader({
  revision: Revision,
  patient_fp: Type.String({ maxLength: 100 }),
  typed_species: Type.Optional(Type.String({ maxLength: 100 })),
});

const rejectBody: (body: unknown) => RejectBody = bodyReader({
  revision: Revision,
  reason: Type.String({
    maxLength: REASON_CHARS_MAX,
    minLength: 1,
    pattern: textForm("\\S", "text that is not blank"),
  }),
});

const reopenBody: (body: unknown) => ReopenBody = bodyReader({ revision: Revision });

export function toPlaceRoutes(app: FastifyInstance, context: DashboardContext): void {
  queueRoute(app, context);
  studyRoutes(app, context);
  commandRoutes(app, context);
}

function queueRoute(app: FastifyInstance, { store }: DashboardContext): void {
  app.get(
    BASE,
    { config: { access: "reader", parameters: queueParameters } },
    async (request): Promise<PlacementQueue> => {
      const { rejected, order } = readParameters(request, queueParameters);
      const wanted = { clinicId: clinicOf(request).id, isRejected: rejected === "1", order: order ?? "oldest" };
      return store.snapshot((session) => queueOf(session, wanted));
    },
  );
}

function studyRoutes(app: FastifyInstance, { store }: DashboardContext): void {
  app.get(`${BASE}/:fp`, { config: { access: "reader" } }, async (request): Promise<StudyToPlace> => {
    const clinicId = clinicOf(request).id;
    return store.snapshot(async (session) => describeStudyToPlace(session, clinicId, await ownStudy(session, request)));
  });
  app.get(
    `${BASE}/:fp/preview/:patient`,
    { config: { access: "reader" } },
    async (request): Promise<PlacementPreview> => {
      const { patient } = request.params as { patient: string };
      return store.snapshot(async (session) =>
        previewFor(session, await ownStudy(session, request), await ownPatient(session, request, patient)),
      );
    },
  );
  app.get(
    `${BASE}/patients`,
    { config: { access: "reader", parameters: searchParameters } },
    async (request): Promise<{ patients: ShownPatient[] }> => {
      const { text: words } = readParameters(request, searchParameters);
      return { patients: await searchPatients(store, clinicOf(request).id, words ?? "") };
    },
  );
}

function commandRoutes(app: FastifyInstance, context: DashboardContext): void {
  command(app, context, {
    name: "assign",
    body: assignBody,
    run: async (session, stored, { patient_fp, typed_species = "" }, actor, request) => {
      const patient = await ownPatient(session, request, patient_fp);
      if (stored.rejected_reason !== null) return "This study is rejected: undo that first.";
      // The agent files a study without a new revision, when a resend names its patient.
      if (stored.patient_id !== null && stored.placed_by_user === 0) {
        return "The agent filed this study meanwhile. Look again.";
      }
      const said = contradictedSpecies(stored, patient);
      if (said !== null && !namesSpecies(typed_species, patient)) {
        const expected = `type the patient's species, ${patient.species}, to file it all the same`;
        return `The device says ${said}, but ${patient.name} is a ${patient.species}: ${expected}.`;
      }
      const despite = said === null ? {} : ({ despite: "species" } as const);
      return assignStudy(session, { ...actor, ...despite, fp: stored.fp, patientFp: patient.fp });
    },
  });
  command(app, context, {
    name: "reject",
    body: rejectBody,
    run: (session, { fp }, { reason }, actor) => rejectStudy(session, { ...actor, fp, reason: reason.trim() }),
  });
  command(app, context, {
    name: "reopen",
    body: reopenBody,
    run: (session, { fp }, _body, actor) => reopenStudy(session, { ...actor, fp }),
  });
}

interface Command<Body extends { revision: number }> {
  readonly name: string;
  readonly body: (body: unknown) => Body;
  /** @returns the reason if it changes nothing, else null */
  readonly run: (
    session: Session,
    stored: StoredStudy,
    body: Body,
    actor: AuditActor,
    request: FastifyRequest,
  ) => Promise<string | null>;
}

/** Adds the route of a command. Its transaction also checks the clinic, and that the user saw the current revision. */
function command<Body extends { revision: number }>(
  app: FastifyInstance,
  { store, now }: DashboardContext,
  { name, body: read, run }: Command<Body>,
): void {
  app.post(`${BASE}/:fp/${name}`, { config: { access: "staff" } }, async (request): Promise<Placed> => {
    const body = read(request.body);
    const { name: by, userId } = userOf(request);
    const actor = { by, userId, clinicId: clinicOf(request).id, now: now() };
    return store.transaction(async (session) => {
      const stored = await ownStudy(session, request);
      if (stored.revision !== body.revision) {
        throw new ApiError("RECORD.REFUSED", await changeSentence(session, actor.clinicId, stored));
      }
      const problem = await run(session, stored, body, actor, request);
      if (problem !== null) throw new ApiError("RECORD.REFUSED", problem);
      return { revision: stored.revision + 1 };
    });
  });
}

/** @throws 404 for a study of another clinic, as for a missing one */
async function ownStudy(session: Session, request: FastifyRequest): Promise<StoredStudy> {
  const { fp } = request.params as { fp: string };
  const stored = await findOwnStudy(session, clinicOf(request).id, fp);
  if (stored === undefined) throw new ApiError("RECORD.NOT_FOUND", "This study");
  return stored;
}

async function ownPatient(session: Session, request: FastifyRequest, fp: string): Promise<Patient> {
  const patient = await findOwnPatient(session, clinicOf(request).id, fp);
  if (patient === undefined) throw new ApiError("RECORD.NOT_FOUND", "This patient");
  return patient;
}

/** Says who changed a study since the user saw it, and what it is now. */
async function changeSentence(session: Session, clinicId: number, stored: StoredStudy): Promise<string> {
  const { history, patient, rejected_reason } = await describeStudyToPlace(session, clinicId, stored);
  const who = history[0]?.by ?? "The device";
  if (patient !== null) return `${who} changed this study meanwhile: it is filed to ${patient.name} now.`;
  return `${who} changed this study meanwhile: it ${rejected_reason === null ? "waits" : "is rejected"} now. Look again.`;
}
