import type { StockMovement, UsedStock } from "../../dashboard/types/stock.ts";
import { query, type Session, shownSpecies } from "../../database/query.ts";
import { isUndoable } from "./inventory-stock.ts";

// The movements of an item, and what was used for a patient.

/** Lists a page of an item's movements, the newest first. A patient that the clinic does not list has no name here. */
export async function listMovements(
  session: Session,
  { clinicId, fp, page, pageSize }: { clinicId: number; fp: string; page: number; pageSize: number },
): Promise<{ items: StockMovement[]; total: number }> {
  const rows = await session.all(ofItem, { clinicId, fp, limit: pageSize, offset: (page - 1) * pageSize });
  const counted = await session.first(countOfItem, { clinicId, fp });
  const items = rows.map((row): StockMovement => {
    const { id, at, reason, quantity, batch_id, lot, expiry_date, by, patient_fp, patient_name, species } = row;
    const is_undone = row.undone_by !== null;
    return {
      ...{ id, at: timeOf(at), reason, quantity, by, is_undone },
      batch: batch_id === null ? null : { lot, expiry_date },
      patient:
        patient_fp === null || patient_name === null || species === null
          ? null
          : { fp: patient_fp, name: patient_name, species },
      undoes:
        row.undone_at === null || row.undone_reason === null
          ? null
          : { at: timeOf(row.undone_at), reason: row.undone_reason },
      can_undo: isUndoable(reason) && !is_undone,
    };
  });
  return { items, total: counted?.total ?? 0 };
}

/** Uses that the page of a patient shows. */
const USED_MAX = 100;

/** Lists what the clinic used for a patient, the newest first, without what was undone. */
export async function listUsedStock(
  session: Session,
  { clinicId, fp: patientFp }: { clinicId: number; fp: string },
): Promise<UsedStock[]> {
  const rows = await session.all(usedFor, { clinicId, patientFp, limit: USED_MAX });
  return rows.map(({ at, fp, name, unit, quantity, lot, by }) => {
    return { at: timeOf(at), item: { fp, name, unit }, quantity: -quantity, lot, by };
  });
}

function timeOf(at: number): string {
  return new Date(at).toISOString();
}

const ofItem = query((db, p: { clinicId: number; fp: string; limit: number; offset: number }) =>
  db
    .selectFrom("stock_movement as movement")
    .innerJoin("inventory_item as item", "item.id", "movement.item_id")
    .leftJoin("inventory_batch as batch", "batch.id", "movement.batch_id")
    .leftJoin("dashboard_user as user", "user.id", "movement.user_id")
    .leftJoin("stock_movement as counter", "counter.undoes_id", "movement.id")
    .leftJoin("stock_movement as undone", "undone.id", "movement.undoes_id")
    .leftJoin("clinic_patient as listed", (join) =>
      join
        .onRef("listed.patient_id", "=", "movement.patient_id")
        .on("listed.clinic_id", "=", p.clinicId)
        .on("listed.listed", "=", 1),
    )
    .leftJoin("patient", "patient.id", "listed.patient_id")
    .select(["movement.id", "movement.at", "movement.reason", "movement.quantity", "movement.batch_id"])
    .select(["batch.lot", "batch.expiry_date", "user.name as by", "counter.id as undone_by"])
    .select(["undone.at as undone_at", "undone.reason as undone_reason"])
    .select(["patient.fp as patient_fp", "patient.name as patient_name", shownSpecies.as("species")])
    .where("item.fp", "=", p.fp)
    .where("item.clinic_id", "=", p.clinicId)
    .orderBy("movement.id", "desc")
    .limit(p.limit)
    .offset(p.offset),
);

const countOfItem = query((db, p: { clinicId: number; fp: string }) =>
  db
    .selectFrom("stock_movement as movement")
    .innerJoin("inventory_item as item", "item.id", "movement.item_id")
    .select(({ fn }) => fn.countAll<number>().as("total"))
    .where("item.fp", "=", p.fp)
    .where("item.clinic_id", "=", p.clinicId),
);

const usedFor = query((db, p: { clinicId: number; patientFp: string; limit: number }) =>
  db
    .selectFrom("patient")
    .innerJoin("stock_movement as movement", "movement.patient_id", "patient.id")
    .innerJoin("inventory_item as item", "item.id", "movement.item_id")
    .leftJoin("inventory_batch as batch", "batch.id", "movement.batch_id")
    .leftJoin("dashboard_user as user", "user.id", "movement.user_id")
    .leftJoin("stock_movement as counter", "counter.undoes_id", "movement.id")
    .select(["movement.at", "movement.quantity", "item.fp", "item.name", "item.unit"])
    .select(["batch.lot", "user.name as by"])
    .where("patient.fp", "=", p.patientFp)
    .where("movement.reason", "=", "used")
    .where("counter.id", "is", null)
    .where("item.clinic_id", "=", p.clinicId)
    .orderBy("movement.id", "desc")
    .limit(p.limit),
);
