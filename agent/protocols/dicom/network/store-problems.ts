import type { AcceptedContext } from "./association.ts";
import type { DatasetSummary } from "../dataset.ts";
import { type Command, type DimseOutcome, isUsableUid, STATUS } from "../dimse.ts";
import { VERIFICATION } from "../uids.ts";

// Checks of a C-STORE before and after its dataset (PS3.4 annex B).

/** Returns the refusal of a C-STORE before its dataset; null for a valid one. */
export function commandProblem(command: Command, { abstractSyntax }: AcceptedContext): DimseOutcome | null {
  if (abstractSyntax === VERIFICATION || command.affectedSopClass !== abstractSyntax) {
    return { status: STATUS.sopClassNotSupported, comment: "not the SOP class of its presentation context" };
  }
  if (isUsableUid(command.affectedSopInstance)) return null;
  return { status: STATUS.invalidInstance, comment: "invalid SOP Instance UID" };
}

/** Returns the refusal of a C-STORE after its dataset; null for a valid one. */
export function datasetProblem(command: Command, { sopClass, sopInstance, study, problem }: DatasetSummary) {
  if (problem !== null) return { status: STATUS.cannotUnderstand, comment: problem };
  if (!isUsableUid(study)) return { status: STATUS.cannotUnderstand, comment: "no Study Instance UID" };
  if (sopClass !== command.affectedSopClass || sopInstance !== command.affectedSopInstance) {
    return { status: STATUS.datasetMismatch, comment: "SOP class or instance differs from the command's" };
  }
  return null;
}
