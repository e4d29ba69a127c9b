import type { Outcome } from "../../shared/api/study.ts";

// Decides the outcome of one pushed study.

/** All that the decision rests on. */
export interface FilingInput {
  /** `measured`: what its results say without ranges and flags. */
  pushed: { revision: number; contentHash: string; measured: string; patientFp: string | null };
  /**
   * The study under the same fp, with the agent's number of its revision; `own` when this clinic's agent sent it, `held`
   * while it is unmatched, `byPerson` once a person has placed it.
   */
  stored: {
    own: boolean;
    held: boolean;
    byPerson: boolean;
    patientFp: string | null;
    revision: number;
    contentHash: string;
  } | null;
  /** The content hash of the pushed revision in the history, when it has been replaced already. */
  replacedHash: string | null;
  /** Another study of this clinic with the same dedupe key; `heldBecause`: why it is unmatched, null when it is filed. */
  twin: { fp: string; measured: string; heldBecause: string | null; byPerson: boolean } | null;
  /** Why the study cannot go to a patient; null when it can. */
  unmatchedReason: string | null;
}

/**
 * `insert` a new study, `replace` the current revision, `assign` a held one to its patient, `assign twin` the held one with
 * the same dedupe key, or write nothing.
 */
export interface FilingDecision {
  write: "insert" | "replace" | "assign" | "assign twin" | "nothing";
  outcome: Omit<Outcome, "fp">;
}

/** Decides without looking anything up, so that the same push always ends the same way. */
export function decideFiling({ pushed, stored, replacedHash, twin, unmatchedReason }: FilingInput): FilingDecision {
  const placed = (write: FilingDecision["write"]): FilingDecision => ({
    write,
    outcome: unmatchedReason === null ? { outcome: "filed", reason: null } : unmatched(unmatchedReason),
  });

  if (stored !== null) {
    // This clinic may not learn whether the study exists elsewhere, nor whose it is.
    if (!stored.own) return nothing("conflict", "this fp cannot be used here, make a new one");

    if (pushed.revision === stored.revision) {
      if (pushed.contentHash !== stored.contentHash) return nothing("conflict", otherBody(pushed.revision));
      if (!stored.held) return nothing("unchanged", null);
      if (stored.byPerson) return nothing("unmatched", unmatchedReason);
      // The patient may have been imported or connected since: then sending the same again files it.
      return placed(unmatchedReason === null ? "assign" : "nothing");
    }
    if (pushed.revision < stored.revision) {
      if (replacedHash !== null && pushed.contentHash !== replacedHash) {
        return nothing("conflict", otherBody(pushed.revision));
      }
      return nothing("unchanged", `revision is ${pushed.revision}, revision ${stored.revision} is current`);
    }
    // Once a person has placed a study, only a person moves it to another patient.
    if (stored.byPerson && !stored.held && ![null, stored.patientFp].includes(pushed.patientFp)) {
      return nothing(
        "conflict",
        `a person filed this study to ${stored.patientFp}, this revision is for ${pushed.patientFp}`,
      );
    }
  }
  if (twin !== null) {
    // An agent that lost its spool reads the device again and mints new fps for results that we have.
    const same = twin.measured === pushed.measured;
    if (same && twin.heldBecause !== null) {
      // Nobody can read the held one: to call that unchanged would hide the result.
      const mayFile = stored === null && unmatchedReason === null && !twin.byPerson;
      if (!mayFile) return nothing("unmatched", twin.heldBecause, twin.fp);
      return { write: "assign twin", outcome: { outcome: "filed", reason: null, existing_fp: twin.fp } };
    }
    const reason = `dedupe_key is already used by ${twin.fp}, with ${same ? "the same" : "other"} results`;
    return nothing(same ? "unchanged" : "conflict", reason, twin.fp);
  }
  return placed(stored === null ? "insert" : "replace");
}

function nothing(outcome: Outcome["outcome"], reason: string | null, existingFp?: string): FilingDecision {
  return {
    write: "nothing",
    outcome: { outcome, reason, ...(existingFp !== undefined && { existing_fp: existingFp }) },
  };
}

function unmatched(reason: string): FilingDecision["outcome"] {
  return { outcome: "unmatched", reason };
}

function otherBody(revision: number): string {
  return `revision ${revision} is already stored with another body, a correction needs a higher revision`;
}
