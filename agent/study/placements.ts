import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { PlacementList } from "../../shared/api/placements.ts";
import type { ServerClient } from "../push/server-client.ts";
import type { SpoolCalls } from "../spool/spool.ts";

// Learns what became of pushed studies at the server: a person placed them, took them back or removed them. The agent's counts and
// messages then say the same as the dashboard.

const Placements = Compile(Type.Object({ data: PlacementList }));

/** The key of the meta table for the last change that was seen, in ms since 1970 by the server's clock. */
const SEEN_META = "placements";

/** A change may become visible this long after its time, because the clocks of a server's nodes differ. */
const OVERLAP_MS = 60_000;

/** Notes the changes since the last call. @throws SendError; Error if the response is invalid */
export async function syncPlacements(spool: SpoolCalls, server: Pick<ServerClient, "get">): Promise<void> {
  const seen = Number((await spool.call("getMeta", SEEN_META)) ?? 0);
  let since = Math.max(0, seen - OVERLAP_MS);
  for (;;) {
    const query = new URLSearchParams({ updated_since: new Date(since).toISOString() });
    const body = await server.get(`/agent/v1/placements?${query.toString()}`);
    if (body === null) return; // an older server
    if (!Placements.Check(body)) throw new Error("invalid response of GET /agent/v1/placements");
    const { items, has_more } = body.data;
    const last = Date.parse(items.at(-1)?.updated_at ?? "") || since;
    await spool.call("notePlacements", items);
    if (last > seen) await spool.call("setMeta", SEEN_META, String(last));
    // More changes of one moment than a list holds would be read for ever.
    if (!has_more || last === since) return;
    since = last;
  }
}
