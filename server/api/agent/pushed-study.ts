import { compileLater } from "../../../shared/schema/compile-later.ts";
import { knownPart, overlongList } from "../../../shared/schema/known.ts";
import { textProblems, problems, shown } from "../../../shared/schema/problems.ts";
import { type Outcome, PatientHint, PushedStudy, STUDIES_PER_PUSH_MAX } from "../../../shared/api/study.ts";
import type { OutcomeCode } from "../../../shared/api/filing-code.ts";
import { isAfterClock } from "../../../shared/schema/timestamp.ts";
import { wellFormed } from "../../../shared/runtime/stored-text.ts";
import { studyProblems } from "../../../shared/clinical/study-checks.ts";
import { ApiError } from "../../http/errors.ts";

// Reads the body of a push.

/** Max faults that the check of a body reports. A longer search would block other requests. */
export const FAULTS_MAX = 20;

const pushedStudy = compileLater(PushedStudy);

/** Returns the studies of a push, unchecked. */
export function studyList(body: unknown): unknown[] {
  const studies = (body as { studies?: unknown } | null | undefined)?.studies;
  if (!Array.isArray(studies)) {
    throw new ApiError("REQUEST.INVALID_BODY", `studies is ${shown(studies)}, expected a list.`);
  }
  if (studies.length > STUDIES_PER_PUSH_MAX) {
    throw new ApiError("REQUEST.INVALID_BODY", `studies is ${shown(studies)}, at most ${STUDIES_PER_PUSH_MAX}.`);
  }
  return studies;
}

/**
 * Checks one study on its own, so that an invalid one does not reject the others. Unknown fields of another version are
 * discarded first. They enter neither the store nor the content hash, so they cause no conflict.
 */
export function readStudy(pushed: unknown, now: number): { study: PushedStudy } | { rejected: Outcome } {
  const overlong = overlongList(PushedStudy, pushed);
  if (overlong !== null) return rejected(pushed, overlong);
  // A malformed text is corrected, since it must not keep a result from its patient.
  const candidate = wellFormed(withWholeHint(knownPart(PushedStudy, pushed)));
  const faults = problems(pushedStudy, candidate, FAULTS_MAX);
  if (pushedStudy.Check(candidate)) {
    const { device_name, dedupe_key } = candidate;
    // The hint and the results may contain NUL, since they are stored as JSON, which escapes it.
    faults.push(...textProblems({ device_name, dedupe_key }));
    faults.push(...studyProblems(candidate, now));
    if (faults.length === 0) return { study: candidate };
    if (isAfterClock(candidate.acquired_at, now)) return rejected(candidate, faultList(faults), "STUDY.AFTER_CLOCK");
  }
  return rejected(candidate, faultList(faults));
}

function rejected(candidate: unknown, reason: string, code: OutcomeCode = "STUDY.INVALID"): { rejected: Outcome } {
  const fp = (candidate as { fp?: unknown } | null)?.fp;
  return { rejected: { fp: typeof fp === "string" ? fp.slice(0, 64) : "", outcome: "rejected", reason, code } };
}

const { other: _optional, ...REQUIRED } = PatientHint.properties;
const NO_HINT = Object.fromEntries(Object.keys(REQUIRED).map((name) => [name, null]));

/** Adds null for each fact of the hint that the agent left out. */
function withWholeHint(candidate: unknown): unknown {
  if (typeof candidate !== "object" || candidate === null || Array.isArray(candidate)) return candidate;
  const { patient_hint: hint = {} } = candidate as { patient_hint?: unknown };
  const isObject = typeof hint === "object" && hint !== null && !Array.isArray(hint);
  return isObject ? { ...candidate, patient_hint: { ...NO_HINT, ...hint } } : candidate;
}

/** Joins the first faults and the number of the others. */
export function faultList(faults: readonly string[]): string {
  const rest = faults.length - FAULTS_MAX;
  return faults.slice(0, FAULTS_MAX).join("; ") + (rest > 0 ? `; and at least ${rest} more` : "");
}
