import { measured } from "../../shared/clinical/measurement-key.ts";
import type { PushedStudy, Snapshot } from "../../shared/api/study.ts";

// What a later message about the same measurement does to its study. Pure; the spool calls it inside its transaction.

/** A study before it has fp and revision, with what its flags were computed from. */
export interface StudyBody {
  readonly body: Omit<PushedStudy, "fp" | "revision" | "snapshot">;
  readonly snapshot: Snapshot;
  /** Analytes whose earlier results no longer stand, unless there is a result of them. */
  readonly withdrawn?: readonly string[];
}

/** The latest revision of a study. */
export interface HeldStudy extends StudyBody {
  /** The server filed this revision to nobody. */
  readonly isUnmatched: boolean;
  /** The server rejected this revision. */
  readonly isRejected: boolean;
}

/**
 * The effect of a message on a study: the next revision, or null where the message says nothing new. "again": the server
 * refused the patient before, or rejected the study, so the same revision is sent once more.
 */
export function succeed(held: HeldStudy, late: StudyBody): StudyBody | "again" | null {
  const { patient_fp } = late.body;
  if (held.isRejected) return revise(held, late) ?? "again";
  if (!held.isUnmatched || patient_fp === null) return revise(held, late);
  if (patient_fp === held.body.patient_fp) return revise(held, late) ?? "again";
  return revise({ ...held, body: { ...held.body, patient_fp: null } }, late);
}

/** Nothing but a withdrawal: of what was never sent it makes no study. */
export function isWithdrawal({ body, withdrawn = [] }: StudyBody): boolean {
  return body.results.length === 0 && withdrawn.length > 0;
}

/**
 * The next revision, or null where the message says nothing new. Analytes the message does not name stay: many analyzers
 * send one test a message, and a late test must not take the earlier ones away. What it withdraws goes. The first time stands, for a header's newer
 * time must not move a measurement. A resend does not change what was computed (R7), unless the animal is known only now.
 */
export function revise(held: StudyBody, late: StudyBody): StudyBody | null {
  const matchedOnlyNow = held.body.patient_fp === null && late.body.patient_fp !== null;
  const withdrawn = late.withdrawn ?? [];
  // All images of a study are read together: a later reading has every result that still stands.
  const isComplete = late.snapshot.images !== undefined;
  const replace = <Row extends { readonly analyte: string }>(earlier: readonly Row[], later: readonly Row[]) =>
    replaceByAnalyte(isComplete ? [] : earlier, later, withdrawn);
  const results = replace(held.body.results, late.body.results);
  const sameImages = late.snapshot.images === held.snapshot.images;
  if (!matchedOnlyNow && sameImages && measured(results) === measured(held.body.results)) return null;
  return {
    body: { ...late.body, results, acquired_at: held.body.acquired_at },
    snapshot: {
      ...late.snapshot,
      rows: replace(held.snapshot.rows, late.snapshot.rows),
      ...(isComplete || isFlaggedAlike(held.snapshot, late.snapshot, withdrawn) ? {} : { animal: null }),
    },
  };
}

/** False where earlier rows stay that were flagged for other facts of the patient than the later ones. */
function isFlaggedAlike(held: Snapshot, late: Snapshot, withdrawn: readonly string[]): boolean {
  const replaced = new Set([...late.rows.map(({ analyte }) => analyte), ...withdrawn]);
  if (held.rows.every(({ analyte }) => replaced.has(analyte))) return true;
  return JSON.stringify(held.animal ?? null) === JSON.stringify(late.animal ?? null);
}

/** The earlier rows, without the withdrawn ones, with those of the later analytes in their place, then the analytes that are new. */
function replaceByAnalyte<Row extends { readonly analyte: string }>(
  earlier: readonly Row[],
  later: readonly Row[],
  withdrawn: readonly string[],
): Row[] {
  const late = new Map<string, Row[]>();
  for (const row of later) {
    const own = late.get(row.analyte);
    if (own === undefined) late.set(row.analyte, [row]);
    else own.push(row);
  }
  const named = new Set(late.keys());
  const kept = earlier.flatMap((row) => {
    if (!named.has(row.analyte)) return withdrawn.includes(row.analyte) ? [] : [row];
    const rows = late.get(row.analyte) ?? [];
    late.delete(row.analyte);
    return rows;
  });
  return [...kept, ...[...late.values()].flat()];
}
