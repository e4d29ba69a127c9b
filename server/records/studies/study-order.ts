import { query, type Session } from "../../database/query.ts";
import type { OptionalStudyColumns, StudyColumns } from "../../database/schema.ts";
import { UNSTAMPED } from "../../database/stamps.ts";
import { eventOfOrder } from "../webhooks/events.ts";

// The order that a study answers.

type OrderOfStudy = Pick<OptionalStudyColumns, "order_fp" | "order_number">;

/**
 * Leaves out the order of another patient, so that a study which moves takes no order with it. A study without a patient keeps the
 * order of its sample, and an imported one the order of another server.
 */
export async function withOwnOrder<Row extends OrderOfStudy & Pick<StudyColumns, "patient_id">>(
  session: Session,
  row: Row,
): Promise<Row> {
  if (row.order_fp === null || row.patient_id === null) return row;
  const order = await session.first(orderByFp, { fp: row.order_fp });
  const isOther = order !== undefined && order.patient_id !== row.patient_id;
  return isOther ? { ...row, order_fp: null, order_number: null } : row;
}

/** Notes the change of results at their orders, by which agents learn whether an order still waits. */
export async function noteRuns(session: Session, studies: readonly OrderOfStudy[], now: number): Promise<void> {
  const fps = new Set(studies.flatMap(({ order_fp: fp }) => fp ?? []));
  for (const fp of fps) {
    for (const { clinic_id: clinicId } of await session.all(noteRun, { fp, now }))
      await session.all(eventOfOrder, { fp, clinicId, change: "changed" });
  }
}

const orderByFp = query((db, p: { fp: string }) =>
  db.selectFrom("lab_order").select("patient_id").where("fp", "=", p.fp),
);

// The event of the order names its clinic for the stamp.
const noteRun = query(
  (db, p: { fp: string; now: number }) =>
    db
      .updateTable("lab_order")
      .set((column) => ({ changed_at: column.lit(UNSTAMPED) }))
      .where("fp", "=", p.fp)
      .returning("clinic_id"),
  ({ now }) => ({ changedAt: now, stamps: "orders" }),
);
