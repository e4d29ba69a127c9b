import { query, type Session } from "../../database/query.ts";
import { readNotRunHours } from "../clinics/clinics.ts";
import { notRunMs, orderState } from "../orders/order-state.ts";
import { missingTests } from "../orders/order-tests.ts";
import { factsOf, findOrder, runsByOrder } from "../orders/orders.ts";

/**
 * Returns the tests of an order that have no result while the screen of the orders calls it "in progress". After the hours that the
 * clinic chose, what is there counts as all that comes.
 */
export async function pendingTests(
  session: Session,
  { clinicId, orderFp, now }: { clinicId: number; orderFp: string; now: number },
): Promise<string[]> {
  const order = await findOrder(session, clinicId, orderFp);
  if (order === undefined) return [];
  const run = runsByOrder(await session.all(studiesOfOrder, { fp: orderFp })).get(orderFp) ?? null;
  if (run === null) return [];
  const facts = factsOf(order);
  const state = orderState({ order: facts, run }, now, notRunMs(await readNotRunHours(session, clinicId)));
  return state === "in progress" ? missingTests(facts.tests, run.analytes) : [];
}

const studiesOfOrder = query((db, p: { fp: string }) =>
  db
    .selectFrom("study")
    .select(["order_fp", "results", "received_at"])
    .where("order_fp", "=", p.fp)
    .where("patient_id", "is not", null),
);
