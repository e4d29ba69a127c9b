import { Type } from "typebox";
import { PlacementList } from "../../shared/api/agent/agent-lists.ts";
import { compileLater } from "../../shared/schema/compile-later.ts";
import type { ServerClient } from "../push/server-client.ts";
import type { SpoolCalls } from "../spool/spool.ts";

// Fetches what people did to pushed studies at the server: placed, took back, removed. The agent's counts and messages then agree
// with the dashboard.

const Placements = compileLater(Type.Object({ data: PlacementList }));

/** The key of the meta table for the last change that was seen, in ms since 1970 by the server's clock. */
const SEEN_META = "placements";

/**
 * A change may become visible this long after its time: an import of many studies takes minutes, and the clocks of a server's nodes
 * differ. A repeated change has no effect.
 */
const OVERLAP_MS = 15 * 60_000;

/** Notes the changes since the last call. @throws SendError; Error if the response is invalid */
export async function syncPlacements(spool: SpoolCalls, server: Pick<ServerClient, "get">): Promise<void> {
  const seen = Number((await spool.call("getMeta", SEEN_META)) ?? 0);
  let query = new URLSearchParams({ updated_since: new Date(Math.max(0, seen - OVERLAP_MS)).toISOString() });
  for (;;) {
    const body = await server.get(`/agent/v1/placements?${query.toString()}`);
    if (body === null) return; // an older server
    if (!Placements.Check(body)) throw new Error("invalid response of GET /agent/v1/placements");
    const { items, next } = body.data;
    const last = Date.parse(items.at(-1)?.updated_at ?? "") || 0;
    await spool.call("notePlacements", items);
    if (last > seen) await spool.call("setMeta", SEEN_META, String(last));
    if (next === null) return;
    query = new URLSearchParams({ after: next });
  }
}
