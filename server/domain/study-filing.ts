import type { Outcome, OutcomeCode } from "../../shared/api/study.ts";

// Decides the outcome of one pushed study.

/** Why a study has no patient. */
export interface Unmatched {
  readonly code: OutcomeCode;
  readonly reason: string;
}

export interface FilingInput {
  pushed: {
    revision: number;
    contentHash: string;
    /** Equal for equal measurements, whatever their ranges and flags. */
    measurementKey: string;
    patientFp: string | null;
  };
  /** The stored study with the same fp; null if there is none. */
  stored: {
    /** Whether an agent of this clinic sent it. */
    isOwn: boolean;
    /** Whether its content is not as it was stored. */
    isDamaged: boolean;
    isUnmatched: boolean;
    /** Whether a user assigned, rejected or reopened it. */
    isPlacedByUser: boolean;
    patientFp: string | null;
    /** The agent's revision number. */
    revision: number;
    contentHash: string;
  } | null;
  /** Content hash of the pushed revision, if a later revision replaced it. */
  replacedHash: string | null;
  /** Another study of this clinic with the same dedupe key; null if there is none. */
  twin: {
    fp: string;
    measurementKey: string;
    /** Null if the twin is filed. */
    unmatchedReason: string | null;
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
  outcome: Omit<Outcome, "fp">;
}

/** Decides the filing of a pushed study. Equal inputs have equal outcomes. */
export function decideFiling({ pushed, stored, replacedHash, twin, unmatched, hasRoom }: FilingInput): FilingDecision {
  const placed = (write: FilingDecision["write"]): FilingDecision => ({
    write,
    outcome: unmatched === null ? { outcome: "filed", reason: null } : { outcome: "unmatched", ...unmatched },
  });

  if (stored !== null) {
    // The reason must not reveal that another clinic has the study.
    if (!stored.isOwn) return nothing("conflict", "this fp cannot be used here, make a new one");

    if (stored.isDamaged) {
      if (pushed.revision < stored.revision) return nothing("rejected", damaged(stored.revision));
      // The disk may have changed the animal that the person chose, too.
      if (stored.isPlacedByUser) return nothing("rejected", DAMAGED_PLACEMENT);
      return placed("overwrite");
    }
    if (pushed.revision === stored.revision) {
      if (pushed.contentHash !== stored.contentHash) return nothing("conflict", otherBody(pushed.revision));
      if (!stored.isUnmatched) return nothing("unchanged", null);
      if (stored.isPlacedByUser) return nothing("unmatched", unmatched?.reason ?? null, { code: unmatched?.code });
      // A resend files the study if the patient was imported or connected in the meantime.
      return placed(unmatched === null ? "assign" : "nothing");
    }
    if (pushed.revision < stored.revision) {
      if (replacedHash !== null && pushed.contentHash !== replacedHash) {
        return nothing("conflict", otherBody(pushed.revision));
      }
      return nothing("unchanged", `revision is ${pushed.revision}, revision ${stored.revision} is current`);
    }
    // A number may have moved since: a later result of the same sample must not take the earlier ones to another animal.
    if (!stored.isUnmatched && ![null, stored.patientFp].includes(pushed.patientFp)) {
      const filed = stored.isPlacedByUser ? "a person filed this study to" : "this study is filed to";
      const reason = `${filed} ${stored.patientFp}, this revision is for ${pushed.patientFp}`;
      return nothing("conflict", reason, { code: "STUDY.FILED_ELSEWHERE" });
    }
  }
  if (twin !== null) {
    // An agent that lost its spool reads the device again and mints new fps for stored results.
    const same = twin.measurementKey === pushed.measurementKey;
    if (same && twin.unmatchedReason !== null) {
      // No reader sees an unmatched study, so that the outcome `unchanged` would hide the result.
      const mayFile = stored === null && unmatched === null && !twin.isPlacedByUser;
      if (!mayFile) return nothing("unmatched", twin.unmatchedReason, { existing_fp: twin.fp });
      return { write: "assign twin", outcome: { outcome: "filed", reason: null, existing_fp: twin.fp } };
    }
    const reason = `dedupe_key is already used by ${twin.fp}, with ${same ? "the same" : "other"} results`;
    return nothing(same ? "unchanged" : "conflict", reason, { existing_fp: twin.fp });
  }
  if (stored !== null) return placed("replace");
  return hasRoom ? placed("insert") : nothing("deferred", NO_ROOM);
}

const NO_ROOM =
  "the clinic stores as many studies as this server allows: the operator of the server can raise the limit";

function nothing(
  outcome: Outcome["outcome"],
  reason: string | null,
  { code, existing_fp }: { code?: OutcomeCode | undefined; existing_fp?: string } = {},
): FilingDecision {
  return {
    write: "nothing",
    outcome: { outcome, reason, ...(code && { code }), ...(existing_fp !== undefined && { existing_fp }) },
  };
}

const DAMAGED_PLACEMENT = "the stored study is damaged after a person placed it: restore a backup of the server";

function damaged(revision: number): string {
  return `the stored revision ${revision} is damaged, expected that revision or a later one`;
}

function otherBody(revision: number): string {
  return `revision ${revision} is already stored with another body, a correction needs a higher revision`;
}
