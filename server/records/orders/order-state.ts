import type { OrderState } from "../../dashboard/types/orders.ts";
import { missingTests } from "./order-tests.ts";

// The state of an order follows from facts, and no table stores it: a stored state stays when the facts change.

/** Time after which an open order counts as not run, and a part of its results as all that come. Each clinic chooses it. */
export function notRunMs(hours: number): number {
  return hours * 60 * 60_000;
}

export interface OrderFacts {
  readonly orderedAt: number;
  /** When a device first got it. */
  readonly offeredAt: number | null;
  readonly cancelledAt: number | null;
  readonly tests: readonly string[];
}

/** The filed results of a sample. */
export interface Run {
  /** Codes of the results. */
  readonly analytes: ReadonlySet<string>;
  /** When the last of them came. */
  readonly at: number;
}

/** An order with its results so far, or results without an order. */
export type OrderedRun =
  | { readonly order: OrderFacts; readonly run: Run | null }
  | { readonly order: null; readonly run: Run };

/**
 * Derives the state. `notRun` is the time of `notRunMs()`. A cancelled order whose sample was measured keeps its results, and waits
 * for no more.
 */
export function orderState({ order, run }: OrderedRun, now: number, notRun: number): OrderState {
  if (order === null) return "without order";
  if (run !== null) {
    const waits = awaitsResults({ order, run }) && now - run.at < notRun;
    return waits ? "in progress" : "resulted";
  }
  if (order.cancelledAt !== null) return "cancelled";
  if (now - order.orderedAt >= notRun) return "not run";
  return order.offeredAt === null ? "ordered" : "offered";
}

/** Whether devices still get the order: nobody cancelled it, and tests of it have no result. */
export function awaitsResults({ order, run }: { readonly order: OrderFacts; readonly run: Run | null }): boolean {
  if (order.cancelledAt !== null) return false;
  return run === null || missingTests(order.tests, run.analytes).length > 0;
}
