import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import type {
  AssignBody,
  AssignPreview,
  UnmatchedList,
  RejectBody,
  ReopenBody,
  UnmatchedDetails,
} from "../../types/results/unmatched.ts";
import { choice, readParameters } from "../../../http/query-parameters.ts";
import {
  describeUnmatched,
  findOwnStudy,
  previewAssignment,
  listForPage,
  stepsOf,
} from "../../../records/unmatched/unmatched-page.ts";
import type { Session } from "../../../database/query.ts";
import { assignStudy, rejectStudy, reopenStudy } from "../../../records/unmatched/commands.ts";
import type { StoredStudy } from "../../../records/studies/studies.ts";
import { clinicOf } from "../../auth/guard.ts";
import { bodyReader } from "../../body.ts";
import type { DashboardContext } from "../../context.ts";
import { CONTRADICTED_FACTS } from "../../../../shared/clinical/candidates.ts";
import { textForm } from "../../../../shared/schema/text-form.ts";
import { type CommandScreen, found, ownPatient, studyCommand } from "./study-command.ts";
import { type Refusal, refusal } from "../../types/refusals.ts";

// Unmatched studies, and the commands of users on them. The page and its path are called "to place".

const BASE = "/clinic/v1/clinics/:clinic/unmatched";
const REASON_CHARS_MAX = 200;

const listParameters = {
  rejected: choice(["0", "1"], "Whether to list the rejected studies, with 1."),
  order: choice(["oldest", "newest"], "Order of the studies."),
};

const Revision = Type.Integer({ minimum: 1 });

const assignBody: (body: unknown) => AssignBody = bodyReader({
  revision: Revision,
  patient_fp: Type.String({ maxLength: 100 }),
  typed_species: Type.Optional(Type.String({ maxLength: 100 })),
  checked: Type.Optional(Type.Array(Type.Enum([...CONTRADICTED_FACTS]), { maxItems: CONTRADICTED_FACTS.length })),
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

export function unmatchedRoutes(app: FastifyInstance, context: DashboardContext): void {
  listRoute(app, context);
  studyRoutes(app, context);
  commandRoutes(app, context);
}

function listRoute(app: FastifyInstance, { store }: DashboardContext): void {
  app.get(
    BASE,
    { config: { access: "reader", parameters: listParameters } },
    async (request): Promise<UnmatchedList> => {
      const { rejected, order } = readParameters(request, listParameters);
      const wanted = { clinicId: clinicOf(request).id, isRejected: rejected === "1", order: order ?? "oldest" };
      return store.snapshot((session) => listForPage(session, wanted));
    },
  );
}

function studyRoutes(app: FastifyInstance, { store }: DashboardContext): void {
  app.get(`${BASE}/:fp`, { config: { access: "reader" } }, async (request): Promise<UnmatchedDetails> => {
    const clinicId = clinicOf(request).id;
    return store.snapshot(async (session) => describeUnmatched(session, clinicId, await ownStudy(session, request)));
  });
  app.get<{ Params: { patient: string } }>(
    `${BASE}/:fp/preview/:patient`,
    { config: { access: "reader" } },
    async (request): Promise<AssignPreview> => {
      const { patient } = request.params;
      return store.snapshot(async (session) => {
        const stored = await ownStudy(session, request);
        const { id, units } = clinicOf(request);
        return previewAssignment(session, stored, await ownPatient(session, id, patient), units);
      });
    },
  );
}

const screen: CommandScreen = { path: "unmatched", find: findOwnStudy, refuseStale: describeChange };

function commandRoutes(app: FastifyInstance, context: DashboardContext): void {
  studyCommand(app, context, screen, {
    name: "assign",
    body: assignBody,
    run: async (session, stored, { patient_fp, typed_species: typedSpecies = "", checked = [] }, actor) => {
      const patient = await ownPatient(session, actor.clinicId, patient_fp);
      return assignStudy(session, stored, { patient, typedSpecies, checked }, actor);
    },
  });
  studyCommand(app, context, screen, {
    name: "reject",
    body: rejectBody,
    run: (session, stored, { reason }, actor) => rejectStudy(session, stored, reason.trim(), actor),
  });
  studyCommand(app, context, screen, {
    name: "reopen",
    body: reopenBody,
    run: (session, stored, _body, actor) => reopenStudy(session, stored, actor),
  });
}

async function ownStudy(session: Session, request: FastifyRequest): Promise<StoredStudy> {
  const { fp } = request.params as { fp: string };
  return found("This study", await findOwnStudy(session, clinicOf(request).id, fp));
}

/** Describes who changed a study since the user saw it, and where it is now. */
async function describeChange(session: Session, clinicId: number, stored: StoredStudy): Promise<Refusal> {
  const [last] = await stepsOf(session, clinicId, stored);
  const place = stored.patient_id !== null ? "filed" : stored.rejected_reason !== null ? "is rejected" : "waits";
  return refusal("STUDY.CHANGED", last?.by ?? "", place, last?.patient?.name ?? "");
}
