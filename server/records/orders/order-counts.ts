import type { OrderCounts, OrderState } from "../../dashboard/types/orders.ts";
import { query, type Session } from "../../database/query.ts";
import { readNotRunHours } from "../clinics/clinics.ts";
import { UNORDERED_MS, unorderedStudies } from "./order-list.ts";
import { notRunMs, orderState } from "./order-state.ts";
import { factsOf, ORDERS_KEPT_MS, runsByOrder } from "./orders.ts";

// The orders that are open, and the results without one, in numbers.

/** Counts the orders of a clinic that wait, run, or were not run, and the results without an order whose charge is open. */
export async function countOrders(session: Session, clinicId: number, now: number): Promise<OrderCounts> {
  const hours = await readNotRunHours(session, clinicId);
  const notRun = notRunMs(hours);
  const since = now - ORDERS_KEPT_MS;
  const states = await waitingStates(session, clinicId, { since, now, notRun });
  const open = await session.first(openResults, { clinicId, since: now - UNORDERED_MS });
  const usesOrders = (await session.first(anyOrder, { clinicId, since })) !== undefined;
  return {
    ordered: states.filter((state) => state !== "not run").length,
    running: await countRunning(session, clinicId, { since, now, notRun }),
    not_run: states.filter((state) => state === "not run").length,
    without_order: usesOrders ? (open?.total ?? 0) : 0,
    not_run_hours: hours,
  };
}

/** Counts the orders of a clinic that nobody ran within its hours. */
export async function countNotRun(session: Session, clinicId: number, now: number): Promise<number> {
  const notRun = notRunMs(await readNotRunHours(session, clinicId));
  const states = await waitingStates(session, clinicId, { since: now - ORDERS_KEPT_MS, now, notRun });
  return states.filter((state) => state === "not run").length;
}

interface Times {
  readonly since: number;
  readonly now: number;
  readonly notRun: number;
}

async function waitingStates(session: Session, clinicId: number, { since, now, notRun }: Times): Promise<OrderState[]> {
  const waiting = await session.all(waitingOrders, { clinicId, since });
  return waiting.map((row) => orderState({ order: factsOf(row), run: null }, now, notRun));
}

/** Only orders with results of the last hours can be running. */
async function countRunning(session: Session, clinicId: number, { since, now, notRun }: Times): Promise<number> {
  const rows = await session.all(recentRuns, { clinicId, since, after: now - notRun });
  const runs = runsByOrder(rows.map(({ fp, ...row }) => ({ ...row, order_fp: fp })));
  const orders = new Map(rows.map((row) => [row.fp, factsOf(row)]));
  const running = [...orders].filter(([fp, order]) => {
    return orderState({ order, run: runs.get(fp) ?? null }, now, notRun) === "in progress";
  });
  return running.length;
}

const anyOrder = query((db, p: { clinicId: number; since: number }) =>
  db
    .selectFrom("lab_order as order")
    .innerJoin("clinic_patient as listed", (join) =>
      join.onRef("listed.patient_id", "=", "order.patient_id").onRef("listed.clinic_id", "=", "order.clinic_id"),
    )
    .select("order.id")
    .where("order.clinic_id", "=", p.clinicId)
    .where("order.ordered_at", ">=", p.since)
    .where("listed.listed", "=", 1)
    .limit(1),
);

const waitingOrders = query((db, p: { clinicId: number; since: number }) =>
  db
    .selectFrom("lab_order as order")
    .innerJoin("clinic_patient as listed", (join) =>
      join.onRef("listed.patient_id", "=", "order.patient_id").onRef("listed.clinic_id", "=", "order.clinic_id"),
    )
    .select(["order.ordered_at", "order.offered_at", "order.cancelled_at", "order.tests"])
    .where("order.clinic_id", "=", p.clinicId)
    .where("order.ordered_at", ">=", p.since)
    .where("order.cancelled_at", "is", null)
    .where("listed.listed", "=", 1)
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom("study")
            .select("study.id")
            .whereRef("study.order_fp", "=", "order.fp")
            .where("study.patient_id", "is not", null),
        ),
      ),
    ),
);

const recentRuns = query((db, p: { clinicId: number; since: number; after: number }) =>
  db
    .selectFrom("lab_order as order")
    .innerJoin("clinic_patient as listed", (join) =>
      join.onRef("listed.patient_id", "=", "order.patient_id").onRef("listed.clinic_id", "=", "order.clinic_id"),
    )
    .innerJoin("study", "study.order_fp", "order.fp")
    .select(["order.fp", "order.ordered_at", "order.offered_at", "order.cancelled_at", "order.tests"])
    .select(["study.results", "study.received_at"])
    .where("order.clinic_id", "=", p.clinicId)
    .where("order.ordered_at", ">=", p.since)
    .where("order.cancelled_at", "is", null)
    .where("listed.listed", "=", 1)
    .where("study.patient_id", "is not", null)
    .where((where) =>
      where.exists(
        where
          .selectFrom("study as recent")
          .select("recent.id")
          .whereRef("recent.order_fp", "=", "order.fp")
          .where("recent.patient_id", "is not", null)
          .where("recent.received_at", ">", p.after),
      ),
    ),
);

const openResults = query((db, p: { clinicId: number; since: number }) =>
  unorderedStudies(db, p)
    .select(({ fn }) => fn.countAll<number>().as("total"))
    .where("charge.at", "is", null),
);
