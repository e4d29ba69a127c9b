import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { CorrectionBody } from "../../types/results/manual-study.ts";
import type { MoveBody } from "../../types/results/results.ts";
import type { ReopenBody, WithdrawBody } from "../../types/results/unmatched.ts";
import { correctStudy, withdrawStudy } from "../../../records/manual/typed-studies.ts";
import { findVisible } from "../../../records/results/study-page.ts";
import { flagAgain, moveStudy, takeBackStudy, undoMove } from "../../../records/unmatched/commands.ts";
import { bodyReader } from "../../body.ts";
import type { DashboardContext } from "../../context.ts";
import { entryOf, typedValues } from "./manual-study.ts";
import { type CommandScreen, ownPatient, studyCommand } from "./study-command.ts";
import { refusal } from "../../types/refusals.ts";

// Commands on a study from its own page: another animal, take back, undo, flag again; correct and withdraw a typed one.

const REASON_CHARS_MAX = 200;
const Revision = Type.Integer({ minimum: 1 });

const Reason = Type.String({ maxLength: REASON_CHARS_MAX, minLength: 1, pattern: "\\S" });

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
