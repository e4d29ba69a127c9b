import type { PatientHint } from "../../../shared/api/study.ts";
import { query, type Session } from "../database/query.ts";
import type { StudyColumns } from "../database/schema.ts";
import { instant, parsed } from "./study-content.ts";

// The desk of the unmatched: what a person sees of studies that no program may place, and what a person does with them.
// Each act is a revision of the study and stands in the audit; functions that act say why they did not, null when done.

/** A study that waits for a person, as the list shows it. */
export interface UnmatchedStudy {
  fp: string;
  clinic_fp: string;
  received_at: string;
  modality: string;
  device_name: string;
  acquired_at: string;
  hint: PatientHint | null;
  reason: string | null;
  /** Why a person took it off the list. */
  rejected_reason: string | null;
}

/** The studies that wait for a person, the oldest first; a thousand in memory at a time. */
export async function* listUnmatched(
  session: Session,
  { clinicId, rejected }: { clinicId: number | null; rejected: boolean },
): AsyncGenerator<UnmatchedStudy> {
  let after: number | undefined = 0;
  while (after !== undefined) {
    const rows: (StudyColumns & { id: number; clinic_fp: string })[] = await session.all(unmatched, { after });
    for (const row of rows) {
      const isWanted = (row.rejected_reason !== null) === rejected && (clinicId ?? row.clinic_id) === row.clinic_id;
      if (isWanted) yield toUnmatched(row);
    }
    after = rows.at(-1)?.id;
  }
}

function toUnmatched(row: StudyColumns & { clinic_fp: string }): UnmatchedStudy {
  return {
    fp: row.fp,
    clinic_fp: row.clinic_fp,
    received_at: instant(row.received_at),
    modality: row.modality,
    device_name: row.device_name,
    acquired_at: instant(row.acquired_at),
    hint: parsed(row.patient_hint) as PatientHint | null,
    reason: row.unmatched_reason,
    rejected_reason: row.rejected_reason,
  };
}

const unmatched = query((db, p: { after: number }) =>
  db
    .selectFrom("study")
    .innerJoin("clinic", "clinic.id", "study.clinic_id")
    .selectAll("study")
    .select("clinic.fp as clinic_fp")
    .where("study.patient_id", "is", null)
    .where("study.id", ">", p.after)
    .orderBy("study.id")
    .limit(1000),
);
