import type { AgentOrder, OrderList } from "../../../shared/api/agent/agent-lists.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { newAccession } from "../../../shared/runtime/accession.ts";
import { query, type Session } from "../../database/query.ts";
import type { OrderColumns } from "../../database/schema.ts";
import { UNSTAMPED } from "../../database/stamps.ts";
import { readResults } from "../studies/stored-results.ts";
import { eventOfOrder } from "../webhooks/events.ts";
import { awaitsResults, type OrderFacts, type Run } from "./order-state.ts";

// Orders of tests. An order never changes but for its cancellation: its label may be on a tube.

/** Who orders or cancels. */
export type OrderedBy = { readonly userId: number } | { readonly keyId: number };

export interface OrderToPlace {
  readonly clinicId: number;
  readonly patientId: number;
  readonly device: string | null;
  readonly panel: string | null;
  readonly tests: readonly string[];
  readonly placer: { readonly source: string; readonly number: string } | null;
  readonly orderedAt: number;
  readonly by: OrderedBy;
}

/** Stores an order. Run it in a transaction. @returns its fp and its accession, which is never the number of a patient */
export async function placeOrder(
  session: Session,
  { clinicId, patientId, device, panel, tests, placer, orderedAt, by }: OrderToPlace,
  now: number,
): Promise<{ fp: string; accession: string }> {
  let accession = newAccession("server");
  while ((await session.first(taken, { accession })) !== undefined) accession = newAccession("server");
  const fp = newFp("order");
  const { user_id, api_key_id } = actorColumns(by);
  await session.all(insert, {
    ...{ fp, clinic_id: clinicId, patient_id: patientId, accession, device_id: device, panel },
    ...{ tests: JSON.stringify(tests), source: placer?.source ?? null, placer_number: placer?.number ?? null },
    ...{ ordered_at: orderedAt, user_id, api_key_id, now },
    ...{ offered_at: null, cancelled_at: null, cancelled_user_id: null, cancelled_key_id: null },
  });
  await session.all(eventOfOrder, { fp, clinicId, change: "created" });
  return { fp, accession };
}

/** The order of a sample, as filing needs it. */
export type OrderOfSample = Pick<StoredOrder, "fp" | "patient_fp" | "placer_number">;

/** Finds an order of the clinic. */
export async function findOrder(session: Session, clinicId: number, fp: string): Promise<StoredOrder | undefined> {
  return session.first(orderByFp, { clinicId, fp });
}

export type StoredOrder = OrderColumns & { readonly patient_fp: string };

/** Finds the order that a software sent under this number. */
export async function findPlacedOrder(
  session: Session,
  placed: { readonly clinicId: number; readonly source: string; readonly number: string },
): Promise<StoredOrder | undefined> {
  return session.first(orderByNumber, placed);
}

/** The outcome of a cancellation. A measured sample keeps its results, so that its order can no longer be cancelled. */
export type Cancellation = "cancelled" | "unchanged" | "has results";

/** Cancels an order. Run it in a transaction. */
export async function cancelOrder(
  session: Session,
  { fp, clinic_id, cancelled_at }: StoredOrder,
  by: OrderedBy,
  now: number,
): Promise<Cancellation> {
  if (cancelled_at !== null) return "unchanged";
  if ((await session.first(runOf, { fp })) !== undefined) return "has results";
  const { user_id, api_key_id } = actorColumns(by);
  await session.all(cancel, { fp, clinic_id, now, user_id, api_key_id });
  await session.all(eventOfOrder, { fp, clinicId: clinic_id, change: "removed" });
  return "cancelled";
}

/** Notes orders that devices of the clinic got. The first time stays. */
export async function noteOffered(
  session: Session,
  clinicId: number,
  offered: readonly { readonly fp: string; readonly at: string }[],
  now: number,
): Promise<void> {
  for (const { fp, at } of offered) {
    const noted = await session.all(offer, { clinicId, fp, at: Math.min(Date.parse(at), now) });
    if (noted.length > 0) await session.all(eventOfOrder, { fp, clinicId, change: "changed" });
  }
}

/** A position in the list of changes: the time of a change, in ms since 1970, and the id of its order. */
export interface OrderPosition {
  readonly at: number;
  readonly id: number;
}

const LISTED_MAX = 200;

/** Age of the oldest orders that agents get. A label that is older names nothing. */
export const ORDERS_KEPT_MS = 30 * 24 * 60 * 60_000;

/** Lists the orders of a clinic that changed after a position, the earliest change first. */
export async function listChangedOrders(
  session: Session,
  clinicId: number,
  after: OrderPosition,
  now: number,
): Promise<OrderList> {
  const since = now - ORDERS_KEPT_MS;
  const found = await session.all(changed, { clinicId, since, ...after, limit: LISTED_MAX + 1 });
  const rows = found.slice(0, LISTED_MAX);
  const last = rows.at(-1);
  const runs =
    last === undefined ? [] : await session.all(runsOfChanged, { clinicId, since, ...after, to: last.changed_at });
  const runOfOrder = runsByOrder(runs);
  return {
    items: rows.map(
      (row): AgentOrder => ({
        fp: row.fp,
        accession: row.accession,
        patient_fp: row.patient_fp,
        device: row.device_id,
        tests: JSON.parse(row.tests) as string[],
        ordered_at: new Date(row.ordered_at).toISOString(),
        state: agentState(row, runOfOrder.get(row.fp) ?? null),
      }),
    ),
    changed_at: last === undefined ? null : new Date(last.changed_at).toISOString(),
    next: last === undefined || found.length <= LISTED_MAX ? null : `${last.changed_at}.${last.id}`,
  };
}

function agentState(row: StoredOrder, run: Run | null): AgentOrder["state"] {
  if (awaitsResults({ order: factsOf(row), run })) return "open";
  return run === null ? "cancelled" : "resulted";
}

/** Returns the facts that the state of an order follows from. */
export function factsOf(row: Pick<OrderColumns, "ordered_at" | "offered_at" | "cancelled_at" | "tests">): OrderFacts {
  return {
    orderedAt: row.ordered_at,
    offeredAt: row.offered_at,
    cancelledAt: row.cancelled_at,
    tests: JSON.parse(row.tests) as string[],
  };
}

/** Joins the studies of each order. A damaged one counts without its results, so that the order still waits for them. */
export function runsByOrder(
  studies: readonly { readonly order_fp: string | null; readonly results: string; readonly received_at: number }[],
): Map<string, Run> {
  const runs = new Map<string, Run>();
  for (const { order_fp: fp, results, received_at: at } of studies) {
    if (fp === null) continue;
    const before = runs.get(fp);
    const codes = readResults(results).map(({ analyte }) => analyte);
    runs.set(fp, { analytes: new Set([...(before?.analytes ?? []), ...codes]), at: Math.max(before?.at ?? at, at) });
  }
  return runs;
}

function actorColumns(by: OrderedBy) {
  return "userId" in by ? { user_id: by.userId, api_key_id: null } : { user_id: null, api_key_id: by.keyId };
}

/** Accessions and the numbers of patients share the field of an analyzer. */
const taken = query((db, p: { accession: string }) =>
  db
    .selectFrom("lab_order")
    .select("accession")
    .where("accession", "=", p.accession)
    .union(db.selectFrom("patient_identifier").select("identifier as accession").where("identifier", "=", p.accession)),
);

const orderByFp = query((db, p: { clinicId: number; fp: string }) =>
  db
    .selectFrom("lab_order")
    .innerJoin("patient", "patient.id", "lab_order.patient_id")
    .selectAll("lab_order")
    .select("patient.fp as patient_fp")
    .where("lab_order.fp", "=", p.fp)
    .where("lab_order.clinic_id", "=", p.clinicId),
);

const orderByNumber = query((db, p: { clinicId: number; source: string; number: string }) =>
  db
    .selectFrom("lab_order")
    .innerJoin("patient", "patient.id", "lab_order.patient_id")
    .selectAll("lab_order")
    .select("patient.fp as patient_fp")
    .where("lab_order.clinic_id", "=", p.clinicId)
    .where("lab_order.source", "=", p.source)
    .where("lab_order.placer_number", "=", p.number),
);

const runOf = query((db, p: { fp: string }) =>
  db.selectFrom("study").select("id").where("order_fp", "=", p.fp).where("patient_id", "is not", null).limit(1),
);

const changed = query((db, p: OrderPosition & { clinicId: number; since: number; limit: number }) =>
  db
    .selectFrom("lab_order")
    .innerJoin("patient", "patient.id", "lab_order.patient_id")
    .selectAll("lab_order")
    .select("patient.fp as patient_fp")
    .where("lab_order.clinic_id", "=", p.clinicId)
    .where((where) => where(where.refTuple("lab_order.changed_at", "lab_order.id"), ">", where.tuple(p.at, p.id)))
    .where("lab_order.ordered_at", ">=", p.since)
    .orderBy("lab_order.changed_at")
    .orderBy("lab_order.id")
    .limit(p.limit),
);

const runsOfChanged = query((db, p: OrderPosition & { clinicId: number; since: number; to: number }) =>
  db
    .selectFrom("lab_order")
    .innerJoin("study", "study.order_fp", "lab_order.fp")
    .select(["study.order_fp", "study.results", "study.received_at"])
    .where("lab_order.clinic_id", "=", p.clinicId)
    .where("lab_order.changed_at", ">=", p.at)
    .where("lab_order.changed_at", "<=", p.to)
    .where("lab_order.ordered_at", ">=", p.since)
    .where("study.patient_id", "is not", null),
);

const insert = query(
  (db, p: Omit<OrderColumns, "changed_at"> & { now: number }) =>
    db.insertInto("lab_order").values((column) => ({
      fp: p.fp,
      clinic_id: p.clinic_id,
      patient_id: p.patient_id,
      accession: p.accession,
      device_id: p.device_id,
      panel: p.panel,
      tests: p.tests,
      source: p.source,
      placer_number: p.placer_number,
      ordered_at: p.ordered_at,
      user_id: p.user_id,
      api_key_id: p.api_key_id,
      offered_at: p.offered_at,
      cancelled_at: p.cancelled_at,
      cancelled_user_id: p.cancelled_user_id,
      cancelled_key_id: p.cancelled_key_id,
      changed_at: column.lit(UNSTAMPED),
    })),
  ({ clinic_id, now }) => ({ clinics: [clinic_id], changedAt: now, stamps: "orders" }),
);

const cancel = query(
  (db, p: { fp: string; clinic_id: number; now: number; user_id: number | null; api_key_id: number | null }) =>
    db
      .updateTable("lab_order")
      .set((column) => ({
        cancelled_at: p.now,
        cancelled_user_id: p.user_id,
        cancelled_key_id: p.api_key_id,
        changed_at: column.lit(UNSTAMPED),
      }))
      .where("fp", "=", p.fp),
  ({ clinic_id, now }) => ({ clinics: [clinic_id], changedAt: now, stamps: "orders" }),
);

const offer = query(
  (db, p: { clinicId: number; fp: string; at: number }) =>
    db
      .updateTable("lab_order")
      .set({ offered_at: p.at })
      .where("fp", "=", p.fp)
      .where("clinic_id", "=", p.clinicId)
      .where("offered_at", "is", null)
      .returning("fp"),
  ({ clinicId }) => ({ clinics: [clinicId] }),
);
