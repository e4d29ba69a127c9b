import { type CheckedValue, rowChecksum } from "../../../shared/runtime/row-checksum.ts";
import { DamagedRecord } from "../../database/damaged-records.ts";
import { query, type Query, type Session } from "../../database/query.ts";
import type { OptionalStudyColumns, StudyColumns } from "../../database/schema.ts";

// The checksum of a stored study, over the fields that the read API serves. SQLite has none of its own. The patient is covered by the
// fp, because a damaged row may get the id of another patient. A row that an operator's SQL wrote may have none, and is not checked.

/** The columns of `study` that the checksum covers, the checksum, and the marks of outdated flags and of controls. A checked query selects `patient_fp` too. */
export const STUDY_CONTENT = [
  "study.fp",
  "study.modality",
  "study.device_name",
  "study.status",
  "study.acquired_at",
  "study.results",
  "study.comments",
  "study.checksum",
  "study.flagged_species",
  "study.order_fp",
  "study.order_number",
  "study.quality",
] as const;

type Covered = "fp" | "patient_fp" | "modality" | "device_name" | "status" | "acquired_at" | "results" | "comments";
type Content = { readonly [Name in Covered | "order_fp" | "order_number"]: CheckedValue };

/** Computes the checksum of a study that is written. */
export async function studyChecksum(
  session: Session,
  row: StudyColumns & Pick<OptionalStudyColumns, "order_fp" | "order_number">,
): Promise<number> {
  const id = row.patient_id;
  const patient_fp = id === null ? null : ((await session.first(patientFp, { id }))?.fp ?? null);
  return contentChecksum({ ...row, patient_fp });
}

/** Whether a stored study is as it was written. */
export function isWholeStudy({ checksum, ...row }: Content & { readonly checksum: CheckedValue }): boolean {
  return checksum === null || checksum === contentChecksum(row);
}

/** Makes each read of the query verify its studies: a single read rejects with DamagedRecord, a list leaves a damaged study out. */
export function checked<P extends object, Row extends Content & { readonly checksum: number | null }>(
  asked: Query<P, Row>,
): Query<P, Row> {
  return {
    ...asked,
    check: (row, parameters) => {
      // A damaged index may lead to the row of another study.
      const isOther = "fp" in parameters && parameters.fp !== (row as Row).fp;
      return isOther || !isWholeStudy(row as Row) ? new DamagedRecord("study", row) : null;
    },
  };
}

function contentChecksum(row: Content): number {
  const { fp, patient_fp, modality, device_name, status, acquired_at, results, comments, order_fp, order_number } = row;
  // A study without an order has the checksum that earlier versions wrote.
  const order = order_fp === null ? [] : [order_fp, order_number];
  return rowChecksum([fp, patient_fp, modality, device_name, status, acquired_at, results, comments, ...order]);
}

const patientFp = query((db, p: { id: number }) => db.selectFrom("patient").select("fp").where("id", "=", p.id));
