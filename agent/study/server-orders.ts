import { Type } from "typebox";
import { AgentOrder, OrderList } from "../../shared/api/agent/agent-lists.ts";
import { compileLater } from "../../shared/schema/compile-later.ts";
import type { ServerOrder } from "../spool/queries/orders/server-orders.ts";
import type { SpoolCalls } from "../spool/spool.ts";
import type { ServerPages } from "./server-pages.ts";

// Pulls the orders that users of the dashboard and practice software placed.

const { changed_at, next } = OrderList.properties;
const response = compileLater(
  Type.Object({ data: Type.Object({ items: Type.Array(Type.Unknown()), changed_at, next }) }),
);
const order = compileLater(AgentOrder);

/** The key of the meta table for the last change that was seen, in ms since 1970 by the server's clock. */
const SEEN_META = "orders";

/**
 * A change may become visible this long after its time: a push of many studies takes minutes, and the clocks of a server's nodes
 * differ. A repeated change has no effect.
 */
const OVERLAP_MS = 15 * 60_000;

/** Fetches the orders that changed since the last call. @throws SendError; Error if the response is invalid */
export async function syncOrders(spool: SpoolCalls, pages: Pick<ServerPages, "get">): Promise<void> {
  let seen = Number((await spool.call("getMeta", SEEN_META)) ?? 0);
  let query = new URLSearchParams(seen === 0 ? {} : { updated_since: new Date(seen - OVERLAP_MS).toISOString() });
  for (;;) {
    const body = await pages.get(`/agent/v1/orders?${query.toString()}`);
    if (body === null) return; // an older server without the route
    if (!response.Check(body)) throw new Error("invalid response of GET /agent/v1/orders: expected a list of orders");
    const { items, changed_at: last, next: after } = body.data;
    // A later server may know orders that this agent cannot give to a device.
    const known = items.filter((item) => order.Check(item)).map(asServerOrder);
    if (known.length > 0) await spool.call("storeServerOrders", known);
    const changedAt = last === null ? 0 : Date.parse(last);
    if (changedAt > seen) {
      await spool.call("setMeta", SEEN_META, String(changedAt));
      seen = changedAt;
    }
    if (after === null) return;
    query = new URLSearchParams({ after });
  }
}

function asServerOrder({ fp, accession, patient_fp, device, tests, ordered_at, state }: AgentOrder): ServerOrder {
  return { fp, accession, patientFp: patient_fp, device, tests, createdAt: Date.parse(ordered_at), state };
}
