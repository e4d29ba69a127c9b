import type { FilingCode } from "../../../shared/api/filing-code.ts";
import { type Reason, type ReasonOf, reasonOf } from "../../../shared/api/reason.ts";
import type { Outcome } from "../../../shared/api/study.ts";

// Decides the outcome of one pushed study.

/** Why a study has no patient. */
export type Unmatched = ReasonOf<FilingCode>;

export interface FilingInput {
  pushed: {
    revision: number;
    contentHash: string;
    /** Equal for equal measurements, whatever their ranges and flags. */
    measurementKey: string;
    patientFp: string | null;
    /** Why its images are of several animals; null if the agent did not say so. */
    severalAnimals: Reason | null;
  };
  /** The stored study with the same fp; null if there is none. */
  stored: {
    /** Whether an agent of this clinic sent it. */
    isOwn: boolean;
    /** Whether its content is not as it was stored. */
    isDamaged: boolean;
    isUnmatched: boolean;
    /** Whether a user placed, rejected or reopened it. */
    isPlacedByUser: boolean;
    patientFp: string | null;
    revision: number;
    contentHash: string;
  } | null;
  /** Content hash of the pushed revision, if a later revision replaced it. */
  replacedHash: string | null;
  /** Another study of this clinic with the same dedupe key; null if there is none. */
  twin: {
    fp: string;
    measurementKey: string;
    isUnmatched: boolean;
    /** Null if it is filed. */
    unmatchedReason: Reason | null;
    isPlacedByUser: boolean;
  } | null;
  /** Null if the study has a patient. */
  unmatched: Unmatched | null;
  /** Whether the clinic may store a further study. */
  hasRoom: boolean;
}

/**
 * The write and the outcome of a push. `insert` stores a new study, `replace` a new revision, and `overwrite` a damaged one. `assign` files the stored
 * unmatched study, and `assign twin` the unmatched study with the same dedupe key.
 */
export interface FilingDecision {
  write: "insert" | "replace" | "overwrite" | "assign" | "assign twin" | "nothing";
  outcome: FilingOutcome;
}

/** The outcome before its words are made. */
export interface FilingOutcome {
  readonly outcome: Outcome["outcome"];
  readonly reason: Reason | null;
  readonly existing_fp?: string;
}

/** Decides the filing of a pushed study. Equal inputs have equal outcomes. */
export function decideFiling({ pushed, stored, replacedHash, twin, unmatched, hasRoom }: FilingInput): FilingDecision {
  const placed = (write: FilingDecision["write"]): FilingDecision => ({
    write,
    outcome: unmatched === null ? { outcome: "filed", reason: null } : { outcome: "unmatched", reason: unmatched },
  });

  if (stored !== null) {
    if (!stored.isOwn) return nothing("conflict", reasonOf("STUDY.FP_TAKEN"));

    if (stored.isDamaged) {
      if (pushed.revision < stored.revision)
        return nothing("rejected", reasonOf("STUDY.DAMAGED", String(stored.revision)));
      // The disk may have changed the animal that the person chose, too.
      if (stored.isPlacedByUser) return nothing("rejected", reasonOf("STUDY.DAMAGED_PLACEMENT"));
      return placed("overwrite");
    }
    if (pushed.revision === stored.revision) {
      if (pushed.contentHash !== stored.contentHash) return nothing("conflict", otherBody(pushed.revision));
      if (!stored.isUnmatched) return nothing("unchanged", null);
      if (stored.isPlacedByUser) return nothing("unmatched", unmatched);
      // A resend files the study if the patient was imported or connected in the meantime.
      return placed(unmatched === null ? "assign" : "nothing");
    }
    if (pushed.revision < stored.revision) {
      if (replacedHash !== null && pushed.contentHash !== replacedHash) {
        return nothing("conflict", otherBody(pushed.revision));
      }
      return nothing("unchanged", reasonOf("STUDY.OLDER_REVISION", String(pushed.revision), String(stored.revision)));
    }
    // A number may have moved since: a later result of the same sample must not take the earlier ones to another animal.
    if (!stored.isUnmatched && ![null, stored.patientFp].includes(pushed.patientFp)) {
      const code = stored.isPlacedByUser ? "STUDY.PLACED_ELSEWHERE" : "STUDY.FILED_ELSEWHERE";
      return nothing("conflict", reasonOf(code, stored.patientFp ?? "", pushed.patientFp ?? ""));
    }
    // Images join their study by its UID alone. Those of another animal must not come to this one's record.
    if (!stored.isUnmatched && pushed.severalAnimals !== null) return nothing("conflict", pushed.severalAnimals);
  }
  if (twin !== null) {
    // An agent that lost its spool reads the device again and mints new fps for stored results.
    const same = twin.measurementKey === pushed.measurementKey;
    if (same && twin.isUnmatched) {
      // No reader sees an unmatched study, so that the outcome `unchanged` would hide the result.
      const mayFile = stored === null && unmatched === null && !twin.isPlacedByUser;
      if (!mayFile) return nothing("unmatched", twin.unmatchedReason, twin.fp);
      return { write: "assign twin", outcome: { outcome: "filed", reason: null, existing_fp: twin.fp } };
    }
    return same
      ? nothing("unchanged", reasonOf("STUDY.TWIN", twin.fp), twin.fp)
      : nothing("conflict", reasonOf("STUDY.OTHER_TWIN", twin.fp), twin.fp);
  }
  if (stored !== null) return placed("replace");
  return hasRoom ? placed("insert") : nothing("deferred", reasonOf("CLINIC.FULL"));
}

function nothing(
  outcome: Outcome["outcome"],
  reason: ReasonOf<FilingCode> | Reason | null,
  existing_fp?: string,
): FilingDecision {
  return { write: "nothing", outcome: { outcome, reason, ...(existing_fp !== undefined && { existing_fp }) } };
}

function otherBody(revision: number): ReasonOf<FilingCode> {
  return reasonOf("STUDY.OTHER_BODY", String(revision));
}
