import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { textForm } from "../../../../shared/schema/text-form.ts";
import { RESULTS_MAX } from "../../../../shared/api/study.ts";
import { releaseStudy } from "../../../records/quality-marks/release.ts";
import { auditCommand } from "../../../records/audit/audit.ts";
import { writeRemark } from "../../../records/studies/study-remark.ts";
import { refuse } from "../../refuse.ts";
import { actorOf } from "../commands.ts";
import type { CorrectionBody } from "../../types/results/manual-study.ts";
import { type MoveBody, type ReleaseBody, REMARK_CHARS_MAX, type RemarkBody } from "../../types/results/results.ts";
import type { ReopenBody, WithdrawBody } from "../../types/results/unmatched.ts";
import { correctStudy, withdrawStudy } from "../../../records/manual/typed-studies.ts";
import { findVisible } from "../../../records/results/study-page.ts";
import { flagAgain, moveStudy, takeBackStudy, undoMove } from "../../../records/unmatched/commands.ts";
import { bodyReader } from "../../body.ts";
import type { DashboardContext } from "../../context.ts";
import { entryOf, typedValues } from "./manual-study.ts";
import { type CommandScreen, found, ownPatient, studyCommand } from "./study-command.ts";
import { refusal } from "../../types/refusals.ts";

// Commands on a study from its own page: another animal, take back, undo, flag again, a remark for the owner, a release after a failed
// control; correct and withdraw a typed one.

const REASON_CHARS_MAX = 200;
const Revision = Type.Integer({ minimum: 1 });

const Reason = Type.String({
  maxLength: REASON_CHARS_MAX,
  minLength: 1,
  pattern: textForm("\\S", "text that is not blank"),
});

const moveBody: (body: unknown) => MoveBody = bodyReader({
  revision: Revision,
  patient_fp: Type.Union([Type.String({ maxLength: 100 }), Type.Null()]),
  reason: Reason,
  typed_species: Type.Optional(Type.String({ maxLength: 100 })),
});
const correctBody: (body: unknown) => CorrectionBody = bodyReader({ ...typedValues, revision: Revision });
const withdrawBody: (body: unknown) => WithdrawBody = bodyReader({
  revision: Revision,
  reason: Reason,
});
const revisionBody: (body: unknown) => ReopenBody = bodyReader({ revision: Revision });

// The page shows who changed a study only to the clinic that may see it.
const screen: CommandScreen = {
  path: "results",
  find: findVisible,
  refuseStale: () => Promise.resolve(refusal("STUDY.CHANGED")),
};

export function studyCommandRoutes(app: FastifyInstance, context: DashboardContext): void {
  remarkRoute(app, context);
  releaseRoute(app, context);
  studyCommand(app, context, screen, {
    name: "move",
    body: moveBody,
    run: async (session, stored, { patient_fp, reason: typed, typed_species: typedSpecies = "" }, actor) => {
      const reason = typed.trim();
      if (patient_fp === null) return takeBackStudy(session, stored, reason, actor);
      const patient = await ownPatient(session, actor.clinicId, patient_fp);
      return moveStudy(session, stored, { patient, typedSpecies, reason }, actor);
    },
  });
  studyCommand(app, context, screen, {
    name: "correct",
    body: correctBody,
    run: (session, stored, { revision: _revision, ...study }, actor) =>
      correctStudy(session, stored, entryOf(study, actor.now), actor),
  });
  studyCommand(app, context, screen, {
    name: "withdraw",
    body: withdrawBody,
    run: (session, stored, { reason }, actor) => withdrawStudy(session, stored, reason.trim(), actor),
  });
  studyCommand(app, context, screen, {
    name: "undo-move",
    body: revisionBody,
    run: (session, stored, _body, actor) => undoMove(session, stored, actor),
  });
  studyCommand(app, context, screen, {
    name: "flag-again",
    body: revisionBody,
    run: (session, stored, _body, actor) => flagAgain(session, stored, actor),
  });
}

const remarkBody: (body: unknown) => RemarkBody = bodyReader({
  text: Type.String({ maxLength: REMARK_CHARS_MAX }),
  seen: Type.Union([Type.String({ maxLength: 40 }), Type.Null()]),
});

/** The remark of a vet for the owner, on a study that has a patient. It changes no revision. */
function remarkRoute(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.put("/clinic/v1/clinics/:clinic/results/:fp/remark", { config: { access: "staff" } }, async (request) => {
    const { text, seen } = remarkBody(request.body);
    const { fp } = request.params as { fp: string };
    const actor = actorOf(request, now());
    await store.transaction(async (session) => {
      const stored = found("This study", await findVisible(session, actor.clinicId, fp));
      if (stored.patient_fp === null) refuse(refusal("STUDY.UNMATCHED"));
      const key = { clinicId: actor.clinicId, fp, patientFp: stored.patient_fp };
      const words = text.trim();
      if (!(await writeRemark(session, key, { text: words, seen }, actor))) refuse(refusal("REMARK.CHANGED"));
      await auditCommand(session, words === "" ? "remark removed" : "remark written", [fp], actor);
    });
    return {};
  });
}

const releaseBody: (body: unknown) => ReleaseBody = bodyReader({
  reason: Reason,
  seen: Type.Array(Type.String({ maxLength: 400 }), { maxItems: RESULTS_MAX }),
});

/** The release of a study around a failed control. It changes no revision, as the control changed none. */
function releaseRoute(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.post("/clinic/v1/clinics/:clinic/results/:fp/release", { config: { access: "staff" } }, async (request) => {
    const { reason, seen } = releaseBody(request.body);
    const { fp } = request.params as { fp: string };
    const actor = actorOf(request, now());
    await store.transaction(async (session) => {
      const stored = found("This study", await findVisible(session, actor.clinicId, fp));
      const refused = await releaseStudy(session, stored, { reason: reason.trim(), seen }, actor);
      if (refused !== null) refuse(refused);
    });
    return {};
  });
}
