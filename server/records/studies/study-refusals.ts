import { type ReasonOf, reasonOf } from "../../../shared/api/reason.ts";

// Why a command of a user on a study changes nothing: a code for programs, and the words of the response.

export type RefusalCode =
  | "STUDY.CHANGED"
  | "STUDY.REJECTED"
  | "STUDY.FILED"
  | "STUDY.FILED_BY_AGENT"
  | "STUDY.FILED_THERE"
  | "STUDY.UNMATCHED"
  | "STUDY.NOT_PLACED"
  | "STUDY.NOT_MOVED"
  | "STUDY.FLAGGED"
  | "STUDY.OTHER_CLINIC"
  | "PATIENT.LEFT"
  | "MATCH.OTHER_SPECIES";

export type Refusal = ReasonOf<RefusalCode>;

const words: Record<RefusalCode, (...values: readonly string[]) => string> = {
  /** Who changed it and where it is now; no values if the user may not see who. */
  "STUDY.CHANGED": (who, place, name) => {
    if (place === undefined) return "This study was changed meanwhile. Look again.";
    const now = place === "filed" ? `is filed to ${name} now.` : `${place} now. Look again.`;
    return `${who === "" ? "The device" : who} changed this study meanwhile: it ${now}`;
  },
  "STUDY.REJECTED": () => "This study is rejected: undo that first.",
  "STUDY.FILED": () => "This study is filed to a patient: expected an unmatched one.",
  "STUDY.FILED_BY_AGENT": () => "The agent filed this study meanwhile. Look again.",
  "STUDY.FILED_THERE": (name) => `This study is filed to ${name} already.`,
  "STUDY.UNMATCHED": () => "This study is filed to no patient: expected a filed one.",
  "STUDY.NOT_PLACED": () => "No user assigned or rejected this study.",
  "STUDY.NOT_MOVED": () => "The last change of this study did not move it.",
  "STUDY.FLAGGED": () => "This study is flagged for its patient as it is.",
  "STUDY.OTHER_CLINIC": () => "This is a study of another clinic.",
  "PATIENT.LEFT": () => "Its patient is not a patient of this clinic any more.",
  "MATCH.OTHER_SPECIES": (stated, known) =>
    `The device says ${stated}, but the patient is a ${known}: type the patient's species, ${known}, to file it all the same.`,
};

export function refusal(code: RefusalCode, ...values: readonly string[]): Refusal {
  return reasonOf(code, ...values);
}

export function refusalText({ code, values }: Refusal): string {
  return words[code](...values);
}
