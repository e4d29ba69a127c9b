import type { Result, RowSnapshot } from "../../../shared/api/study.ts";
import type { ClinicRanges } from "../../../shared/clinical/clinic-ranges.ts";
import type { StudyResult } from "../../../shared/clinical/units/shown-result.ts";
import type { Session } from "../../database/query.ts";
import { parseStored, type StudyColumns } from "../../database/schema.ts";
import { rangesOfVersion } from "../clinics/ranges.ts";

// The results of stored studies with what decided their flags, so that every page prints the same bounds.

/** The columns of a study that name the intervals by which it was flagged. */
export interface FlaggedStudy {
  readonly clinic_id: number | null;
  readonly snapshot: StudyColumns["snapshot"];
}

export type RangesOf = (study: FlaggedStudy) => ClinicRanges | undefined;

/** Reads the intervals that the snapshots of studies name, each version once. */
export async function rangesOfStudies(session: Session, studies: readonly FlaggedStudy[]): Promise<RangesOf> {
  const known = new Map<string, ClinicRanges | undefined>();
  for (const { clinic_id: clinicId, snapshot } of studies) {
    const version = versionIn(snapshot);
    if (clinicId === null || version === null) continue;
    const key = `${clinicId} ${version}`;
    if (!known.has(key)) known.set(key, await rangesOfVersion(session, clinicId, version));
  }
  return ({ clinic_id, snapshot }) => known.get(`${clinic_id} ${versionIn(snapshot)}`);
}

function versionIn(snapshot: StudyColumns["snapshot"]): string | null {
  return parseStored(snapshot)?.ranges ?? null;
}

/** Returns the results of a stored study, each with its row of the snapshot. Rows of another revision do not describe them. */
export function storedResults(
  stored: FlaggedStudy & Pick<StudyColumns, "modality" | "results">,
  rangesOf: RangesOf,
): StudyResult[] {
  const { modality } = stored;
  const rows = parseStored(stored.snapshot)?.rows ?? [];
  const ranges = rangesOf(stored);
  return parseStored(stored.results).map((result, index) => {
    return { modality, result, row: rowFor(result, rows[index]), ranges };
  });
}

/** Reads the results of a study that is not verified; a damaged one, which may hold anything, has none. */
export function readResults(results: string): Result[] {
  try {
    const read: unknown = JSON.parse(results);
    return Array.isArray(read) ? (read as Result[]) : [];
  } catch {
    return [];
  }
}

/** Returns the row of a result; undefined if it is of another revision. */
export function rowFor({ analyte }: Result, kept: RowSnapshot | undefined): RowSnapshot | undefined {
  return kept?.analyte === analyte ? kept : undefined;
}
