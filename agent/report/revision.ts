import type { Collection } from "./report.ts";
import { measurementKey } from "../../shared/clinical/measurement-key.ts";
import {
  COMMENTS_MAX,
  type NotReported,
  type PushedStudy,
  RESULTS_MAX,
  type Result,
  type RowSnapshot,
  type Snapshot,
} from "../../shared/api/study.ts";

// Revisions: how a later message about the same measurement changes its study. Pure; the spool calls it inside its
// transaction.

/** A study without fp and revision, with the facts that its flags were computed from. */
export interface StudyBody {
  readonly body: Omit<PushedStudy, "fp" | "revision" | "snapshot">;
  readonly snapshot: Snapshot;
  /** Analytes whose earlier results are withdrawn, unless there is a new result. */
  readonly withdrawn?: readonly string[];
  /** A person had it flagged again: other facts of the same patient make a revision, too. */
  readonly flaggedAgain?: true;
}

/** Latest revision of a study. */
export interface HeldStudy extends StudyBody {
  /** The server filed this revision as unmatched. */
  readonly isUnmatched: boolean;
  /** The server rejected this revision. */
  readonly isRejected: boolean;
}

/**
 * Returns the effect of a message on a study: the next revision, or null if nothing changed. "again": the server had
 * refused the patient or rejected the study, so the same revision is sent once more.
 */
export function nextRevision(held: HeldStudy, late: StudyBody): StudyBody | "again" | null {
  const { patient_fp } = late.body;
  if (held.isRejected) return revise(held, late) ?? "again";
  if (!held.isUnmatched || patient_fp === null) return revise(held, late);
  if (patient_fp === held.body.patient_fp) return revise(held, late) ?? "again";
  return revise({ ...held, body: { ...held.body, patient_fp: null } }, late);
}

/**
 * Returns whether a collected study already has another measurement of an analyte, so that the message is of another study.
 * Otherwise the value would replace an earlier one.
 */
export function isRepeated(held: StudyBody, late: StudyBody["body"], by: Collection["repeatedBy"]): boolean {
  if (by === undefined) return false;
  const earlier = pairsOf(held);
  return late.results.some((result) => {
    const pair = earlier.find((each) => keyOf(each) === keyOf({ result, row: undefined }));
    if (pair === undefined || (pair.row?.measured_at ?? held.body.acquired_at) === late.acquired_at) return false;
    return by === "time" || measurementKey([pair.result]) !== measurementKey([result]);
  });
}

/** Returns whether the study is only a withdrawal. A withdrawal of unsent results creates no study. */
export function isWithdrawal({ body, withdrawn = [] }: StudyBody): boolean {
  return body.results.length === 0 && withdrawn.length > 0;
}

/**
 * Returns the next revision; null if nothing changed. Analytes that the message does not name stay, because many
 * analyzers send one test per message. Withdrawn analytes are removed. The first time stays: a header's newer time must
 * not move a measurement. A resend does not recompute flags unless it identifies the patient.
 */
export function revise(held: StudyBody, late: StudyBody): StudyBody | null {
  const matchedOnlyNow = held.body.patient_fp === null && late.body.patient_fp !== null;
  const withdrawn = late.withdrawn ?? [];
  // All images of a study are read together, so a later reading has every valid result.
  const isComplete = late.snapshot.images !== undefined;
  const rows = replaceRows(isComplete ? [] : pairsOf(held), pairsOf(late), withdrawn);
  const results = rows.map(({ result }) => result);
  const comments = commentsOf(isComplete ? [] : (held.body.comments ?? []), late.body.comments ?? []);
  const sameImages = late.snapshot.images === held.snapshot.images;
  const sameComments = comments.length === (held.body.comments ?? []).length;
  const notReported = notReportedOf(isComplete ? [] : (held.snapshot.not_reported ?? []), late, results);
  const sameGaps = JSON.stringify(notReported) === JSON.stringify(held.snapshot.not_reported ?? []);
  const sameValues =
    sameImages && sameComments && sameGaps && measurementKey(results) === measurementKey(held.body.results);
  if (sameValues && !matchedOnlyNow && !(late.flaggedAgain === true && isCorrected(held, late))) return null;
  const { comments: _late, ...body } = late.body;
  const { not_reported: _lateGaps, ...snapshot } = late.snapshot;
  return {
    body: { ...body, results, ...(comments.length === 0 ? {} : { comments }), acquired_at: held.body.acquired_at },
    snapshot: {
      ...snapshot,
      ...(notReported.length === 0 ? {} : { not_reported: notReported }),
      rows: rows.flatMap(({ row }) => row ?? []),
      ...(isComplete || isFlaggedAlike(held.snapshot, late.snapshot, withdrawn) ? {} : { animal: null }),
    },
  };
}

/** Returns whether the facts of the study's patient were corrected since it was flagged. */
function isCorrected(held: StudyBody, late: StudyBody): boolean {
  const [before, now] = [held.snapshot.animal, late.snapshot.animal];
  if (before == null || now == null || held.body.patient_fp !== late.body.patient_fp) return false;
  const facts = ["species", "breed", "sex", "date_of_birth"] as const;
  return facts.some((fact) => (before[fact] ?? null) !== (now[fact] ?? null));
}

/** Returns the comments of both messages, each once. A later message does not repeat the comments of an earlier one. */
function commentsOf(held: readonly string[], late: readonly string[]): string[] {
  return [...new Set([...held, ...late])].slice(0, COMMENTS_MAX);
}

/**
 * Returns the results without a value of both messages. A later one takes the place of an earlier one of its test, a withdrawn one
 * ends, and a test with a result is reported, even if a repetition of it failed.
 */
function notReportedOf(
  held: readonly NotReported[],
  { snapshot: { not_reported: late = [] }, withdrawn = [] }: StudyBody,
  results: readonly Result[],
): NotReported[] {
  const later = new Map(late.map((gap) => [gap.analyte, gap]));
  const kept = held
    .filter(({ analyte }) => later.has(analyte) || !withdrawn.includes(analyte))
    .map((gap) => later.get(gap.analyte) ?? gap);
  const known = new Set(kept.map(({ analyte }) => analyte));
  const reported = new Set(results.map(({ analyte }) => analyte));
  const all = [...kept, ...late.filter(({ analyte }) => !known.has(analyte))];
  return all.filter(({ analyte }) => !reported.has(analyte)).slice(0, RESULTS_MAX);
}

/** A result with its row of the snapshot. Studies of older agents may lack the row. */
interface ResultPair {
  readonly result: Result;
  readonly row: RowSnapshot | undefined;
}

function pairsOf({ body, snapshot }: StudyBody): ResultPair[] {
  return body.results.map((result, index) => {
    const row = snapshot.rows[index];
    return { result, row: row?.analyte === result.analyte ? row : undefined };
  });
}

/** Returns whether the remaining earlier rows were flagged with the same patient facts as the later ones. */
function isFlaggedAlike(held: Snapshot, late: Snapshot, withdrawn: readonly string[]): boolean {
  const replaced = new Set([...late.rows.map(({ analyte }) => analyte), ...withdrawn]);
  if (held.rows.every(({ analyte }) => replaced.has(analyte))) return true;
  return JSON.stringify(held.animal ?? null) === JSON.stringify(late.animal ?? null);
}

/**
 * Replaces the earlier rows of each analyte by the later ones, removes withdrawn rows, and appends new analytes. A row also
 * replaces an earlier one of the same device code if one of the two is outside the catalogue, because the clinic may have mapped
 * the code in between.
 */
function replaceRows(
  earlier: readonly ResultPair[],
  later: readonly ResultPair[],
  withdrawn: readonly string[],
): ResultPair[] {
  const late = new Map<string, ResultPair[]>();
  for (const pair of later) {
    const own = late.get(keyOf(pair));
    if (own === undefined) late.set(keyOf(pair), [pair]);
    else own.push(pair);
  }
  const named = new Set(late.keys());
  const codes = new Map(later.map((pair) => [deviceKeyOf(pair), isOutsideCatalogue(pair)]));
  const kept = earlier.flatMap((pair) => {
    const key = keyOf(pair);
    if (named.has(key)) {
      const pairs = late.get(key) ?? [];
      late.delete(key);
      return pairs;
    }
    const code = deviceKeyOf(pair);
    const isMapped = code !== undefined && codes.has(code) && (isOutsideCatalogue(pair) || codes.get(code) === true);
    return isMapped || withdrawn.includes(pair.result.analyte) ? [] : [pair];
  });
  return [...kept, ...[...late.values()].flat()];
}

/** One device code may name a count and its percentage. */
function deviceKeyOf({ result, row }: ResultPair): string | undefined {
  return row?.device_code === undefined ? undefined : `${result.unit === "%" ? "%" : ""} ${row.device_code}`;
}

function isOutsideCatalogue({ result }: ResultPair): boolean {
  return result.code_source !== undefined;
}

/** The device's own GLU may be another quantity than the catalogue's. */
function keyOf({ result: { analyte, code_source } }: ResultPair): string {
  return code_source === "device" ? `device:${analyte}` : analyte;
}
