import type { Kysely } from "kysely";
import { query, type Session } from "../../database/query.ts";
import type { OrderColumns, Tables } from "../../database/schema.ts";
import { awaitsResults } from "../orders/order-state.ts";
import { factsOf, runsByOrder } from "../orders/orders.ts";
import { checked, STUDY_CONTENT } from "../studies/study-checksum.ts";
import type { Bounds } from "./walked-studies.ts";

// The orders of a clinic for the patients that it lists, the first changed first.

export type WalkedOrder = OrderColumns & { readonly id: number; readonly patient_fp: string };

interface OrderKey {
  readonly changedAt: number;
  readonly orderId: number;
}

/** The place before all orders. */
export const FIRST_ORDER: OrderKey = { changedAt: Number.MIN_SAFE_INTEGER, orderId: 0 };

interface OrderWalk {
  readonly clinicId: number;
  /** Null for every patient. */
  readonly patientFp: string | null;
  readonly changed: Bounds;
  readonly ordered: Bounds;
  readonly after: OrderKey;
  readonly limit: number;
}

/** Lists the orders after a place, at most one more than `limit`, which shows whether another page follows. */
export async function walkOrders(session: Session, walk: OrderWalk): Promise<WalkedOrder[]> {
  const { clinicId, patientFp, changed, ordered, after, limit } = walk;
  return session.all(patientFp === null ? everyPatient : onePatient, {
    ...{ clinicId, patientFp: patientFp ?? "", ...after, limit: limit + 1 },
    ...{ changedFrom: changed.from, changedBefore: changed.before },
    ...{ orderedFrom: ordered.from, orderedBefore: ordered.before },
  });
}

/** Finds an order of the clinic for a patient that it lists. */
export async function findWalkedOrder(
  session: Session,
  clinicId: number,
  fp: string,
): Promise<WalkedOrder | undefined> {
  return session.first(byFp, { clinicId, fp });
}

/** Finds the orders with this accession, or with this number in a practice software. */
export async function findOrdersNumbered(session: Session, clinicId: number, number: string): Promise<WalkedOrder[]> {
  return session.all(byNumber, { clinicId, number });
}

/** Whether devices still get the order, all its results are there, or nobody waits for it. */
export async function orderStatus(session: Session, row: WalkedOrder): Promise<"active" | "completed" | "revoked"> {
  const run = runsByOrder(await session.all(runs, { orderFp: row.fp })).get(row.fp) ?? null;
  if (awaitsResults({ order: factsOf(row), run })) return "active";
  return run === null ? "revoked" : "completed";
}

/** Returns the place of an order in the list: before all of its time if it is unknown. */
export async function placeOfOrder(session: Session, changedAt: number, fp: string): Promise<OrderKey> {
  return { changedAt, orderId: (await session.first(idOfOrder, { fp }))?.id ?? 0 };
}

interface OrderParameters extends OrderKey {
  readonly clinicId: number;
  readonly patientFp: string;
  readonly changedFrom: number;
  readonly changedBefore: number;
  readonly orderedFrom: number;
  readonly orderedBefore: number;
  readonly limit: number;
}

const everyPatient = query((db, p: OrderParameters) => page(db, p));
const onePatient = query((db, p: OrderParameters) => page(db, p).where("clinic_patient.patient_fp", "=", p.patientFp));

function page(db: Kysely<Tables>, p: OrderParameters) {
  return ofClinic(db, p)
    .where("lab_order.changed_at", ">=", p.changedFrom)
    .where("lab_order.changed_at", "<", p.changedBefore)
    .where("lab_order.ordered_at", ">=", p.orderedFrom)
    .where("lab_order.ordered_at", "<", p.orderedBefore)
    .where((where) =>
      where(where.refTuple("lab_order.changed_at", "lab_order.id"), ">", where.tuple(p.changedAt, p.orderId)),
    )
    .orderBy("lab_order.changed_at")
    .orderBy("lab_order.id")
    .limit(p.limit);
}

const byFp = query((db, p: { clinicId: number; fp: string }) => ofClinic(db, p).where("lab_order.fp", "=", p.fp));

const byNumber = query((db, p: { clinicId: number; number: string }) =>
  ofClinic(db, p).where((where) =>
    where.or([where("lab_order.placer_number", "=", p.number), where("lab_order.accession", "=", p.number)]),
  ),
);

function ofClinic(db: Kysely<Tables>, p: { clinicId: number }) {
  return db
    .selectFrom("lab_order")
    .innerJoin("clinic_patient", (join) =>
      join
        .onRef("clinic_patient.patient_id", "=", "lab_order.patient_id")
        .onRef("clinic_patient.clinic_id", "=", "lab_order.clinic_id")
        .on("clinic_patient.listed", "=", 1),
    )
    .selectAll("lab_order")
    .select("clinic_patient.patient_fp")
    .where("lab_order.clinic_id", "=", p.clinicId);
}

const runs = checked(
  query((db, p: { orderFp: string }) =>
    db
      .selectFrom("study")
      .innerJoin("patient", "patient.id", "study.patient_id")
      .select(STUDY_CONTENT)
      .select(["study.received_at", "patient.fp as patient_fp"])
      .where("study.order_fp", "=", p.orderFp),
  ),
);

const idOfOrder = query((db, p: { fp: string }) => db.selectFrom("lab_order").select("id").where("fp", "=", p.fp));
