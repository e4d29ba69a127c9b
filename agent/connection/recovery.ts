import { newUlid } from "../../shared/api/fp.ts";
import type { Profile } from "../devices/profile.ts";
import { fingerprint } from "../protocols/hl7/duplicate-key.ts";
import { RecentChunks } from "../spool/queries/event-log.ts";
import { type MessageRow, messageRow } from "../spool/queries/message-row.ts";
import type { Spool } from "../spool/spool.ts";
import { linkContext, RECOVERED_AT_ONCE, rowOf } from "./connection.ts";
import { apply, createLink } from "./create-link.ts";

/** Feeds what an earlier process left unfinished through fresh links; its messages are stored as if it had gone on. */
export async function recover(spool: Spool, profileById: (id: string) => Profile | undefined): Promise<number> {
  const sessions = await spool.call("unfinishedSessions");
  for (const { id: session, device, profile: profileId, events } of sessions) {
    const profile = profileById(profileId);
    if (profile === undefined) continue; // a newer agent's profile: kept until one that knows it runs
    const link = createLink(profile, linkContext("UTC")); // its replies go nowhere
    const chunks = new RecentChunks();
    const at = Date.now();
    const closing = { id: 0, kind: "close", at, bytes: null } as const;
    let ordinal = 0;
    const rows: MessageRow[] = [];
    for (const event of [...events, closing]) {
      if (event.kind === "chunk") chunks.add(event.id, event.bytes?.length ?? 0);
      for (const action of apply(link, event.kind, event.bytes)) {
        // An event is told once; how the device is, it says again when it is back.
        if (action.do === "news" && action.news.topic === "event")
          await spool.call("noteNews", device, action.news, event.at);
        if (action.do !== "deliver") continue;
        const { message: bytes, incomplete } = action;
        const message = { id: newUlid(), device, profile: profileId, receivedAt: event.at, bytes, incomplete };
        const row = rowOf(message, action.from, chunks, session, ordinal++);
        rows.push(messageRow(row, fingerprint(message, profile)));
        if (rows.length === RECOVERED_AT_ONCE) await spool.call("addMessages", rows.splice(0));
      }
    }
    await spool.call("addMessages", rows);
    await spool.call("finishSessions", [session], at);
  }
  return sessions.length;
}
