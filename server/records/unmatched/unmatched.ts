import { sql } from "kysely";
import { timestampOf } from "../../../shared/runtime/timestamp.ts";
import type { Reason } from "../../../shared/api/reason.ts";
import type { PatientHint } from "../../../shared/api/study.ts";
import { query, type Session } from "../../database/query.ts";
import { parseStored, type StudyColumns } from "../../database/schema.ts";
import { checked } from "../studies/study-checksum.ts";
import { sampleIds } from "../studies/study-content.ts";

/** An unmatched study in the list for a user. */
export interface UnmatchedStudy {
  fp: string;
  clinic_fp: string;
  received_at: string;
  modality: string;
  device_name: string;
  acquired_at: string;
  hint: PatientHint | null;
  /** Present if the device sent any. */
  sample_ids?: string[];
  reason: Reason | null;
  /** Reason of the user who removed it from the list. */
  rejected_reason: string | null;
}

/**
 * Lists unmatched or rejected studies, the oldest first, all of them or those with a sample identifier. Letter case does not
 * count. Holds 1000 rows in memory.
 */
export async function* listUnmatched(
  session: Session,
  { clinicId, rejected, sample }: { clinicId: number | null; rejected: boolean; sample?: string },
): AsyncGenerator<UnmatchedStudy> {
  let after: number | undefined = 0;
  while (after !== undefined) {
    const rows: (StudyColumns & { id: number; clinic_fp: string })[] = await session.all(unmatched, { after });
    for (const row of rows) {
      const isWanted = (row.rejected_reason !== null) === rejected && (clinicId ?? row.clinic_id) === row.clinic_id;
      if (!isWanted) continue;
      const study = toUnmatched(row);
      if (sample === undefined || study.sample_ids?.some((id) => folded(id) === folded(sample))) yield study;
    }
    after = rows.at(-1)?.id;
  }
}

function folded(id: string): string {
  return id.trim().toUpperCase();
}

function toUnmatched(row: StudyColumns & { clinic_fp: string }): UnmatchedStudy {
  return {
    fp: row.fp,
    clinic_fp: row.clinic_fp,
    received_at: timestampOf(row.received_at),
    modality: row.modality,
    device_name: row.device_name,
    acquired_at: timestampOf(row.acquired_at),
    hint: parseStored(row.patient_hint),
    ...sampleIds(parseStored(row.source)),
    reason: parseStored(row.unmatched_reason),
    rejected_reason: row.rejected_reason,
  };
}

const unmatched = checked(
  query((db, p: { after: number }) =>
    db
      .selectFrom("study")
      .innerJoin("clinic", "clinic.id", "study.clinic_id")
      .selectAll("study")
      .select("clinic.fp as clinic_fp")
      .select(sql<string | null>`null`.as("patient_fp"))
      .where("study.patient_id", "is", null)
      .where("study.id", ">", p.after)
      .orderBy("study.id")
      .limit(1000),
  ),
);
