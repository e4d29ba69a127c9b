import { newUlid } from "../../shared/api/fp.ts";
import type { Profile } from "../devices/profile.ts";
import type { LinkAction } from "../protocols/link.ts";
import { RecentChunks } from "../spool/queries/events/event-log.ts";
import { messageRow, type MessageRow } from "../spool/queries/messages/message-row.ts";
import type { Operations } from "../spool/queries/operations.ts";
import type { Spool } from "../spool/spool.ts";
import { SET_ASIDE, Tries } from "../spool/tries.ts";
import { apply, createLink, linkContext } from "./create-link.ts";
import { messageRowAt } from "./message-row.ts";

/** Messages of a replay per spool operation. */
const MESSAGES_PER_CALL = 200;

type UnfinishedSession = ReturnType<Operations["unfinishedSessions"]>[number];

/** Replays the unfinished sessions of an earlier process and stores their messages. @returns the number of sessions */
export async function recover(
  spool: Pick<Spool, "call" | "now">,
  profileById: (id: string) => Profile | undefined,
): Promise<number> {
  const sessions = await spool.call("unfinishedSessions");
  const tries = new Tries(spool, "session");
  for (const session of sessions) {
    const profile = profileById(session.profile);
    // A profile of a newer agent: the session stays for an agent that knows it.
    if (profile === undefined) continue;
    const item = String(session.id);
    const replayed = await tries.run(item, () => replaySession(spool, session, profile).then(() => "replayed"));
    if (replayed !== null) continue;
    await setAside(spool, session, profile);
    tries.end(item);
  }
  return sessions.length;
}

/** Stores the bytes of a session as one message that waits for a person. */
async function setAside(
  spool: Pick<Spool, "call" | "now">,
  { id: session, device, events }: UnfinishedSession,
  profile: Profile,
): Promise<void> {
  const bytes = Buffer.concat(events.map((event) => event.bytes ?? new Uint8Array(0)));
  const [message, at] = [newUlid(), spool.now()];
  const received = { device, profile: profile.id, receivedAt: at, bytes, incomplete: null };
  await spool.call("addMessages", [messageRow({ id: message, session, ordinal: -1, ...received }, null)]);
  const outcome = { state: "quarantined", reason: null, code: SET_ASIDE, studies: [], completes: [] } as const;
  await spool.call("settle", { message, ...outcome, at });
  await spool.call("finishSessions", [session], at);
}

/** Feeds the events of one session through a fresh link, as if its connection had closed after the last one. */
async function replaySession(
  spool: Pick<Spool, "call" | "now">,
  session: UnfinishedSession,
  profile: Profile,
): Promise<void> {
  const link = createLink(profile, linkContext("UTC")); // the agent discards its replies
  const chunks = new RecentChunks();
  const at = spool.now();
  const closing = { id: 0, kind: "close", at, bytes: null } as const;
  let ordinal = 0;
  const rows: MessageRow[] = [];
  const rowOf = (delivery: Extract<LinkAction, { do: "deliver" }>, receivedAt: number) => {
    const { message: bytes, incomplete, from } = delivery;
    const message = { id: newUlid(), device: session.device, profile: profile.id, receivedAt, bytes, incomplete };
    return messageRowAt(message, { session: session.id, ordinal: ordinal++, from }, chunks, profile);
  };
  for (const event of [...session.events, closing]) {
    if (event.kind === "chunk") chunks.add(event.id, event.bytes?.length ?? 0);
    for (const action of apply(link, event.kind, event.bytes)) {
      // A device reports an event once. It repeats its status when it reconnects.
      if (action.do === "report" && action.report.topic === "event")
        await spool.call("storeDeviceReport", session.device, action.report, event.at);
      if (action.do !== "deliver") continue;
      rows.push(rowOf(action, Math.min(event.at, at))); // the clock may have been ahead
      if (rows.length === MESSAGES_PER_CALL) await spool.call("addMessages", rows.splice(0));
    }
  }
  await spool.call("addMessages", rows);
  await spool.call("finishSessions", [session.id], at);
}
