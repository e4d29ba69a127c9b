import { setImmediate } from "node:timers/promises";
import type Database from "better-sqlite3";
import type { Profile } from "../../../devices/profile.ts";
import { changesBetween, unreadIn } from "../../../maker/look/changes.ts";
import { CHANGE_KINDS, type ChangeKind, type LocalMakerCheck } from "../../types/maker.ts";
import { searchSpool } from "../../../spool/access.ts";
import { listClinicCodes } from "../../../spool/queries/clinic-codes.ts";
import { type FilingDevice, readContext } from "../../../study/assess.ts";
import { read, readable } from "../../../study/read.ts";
import { messageOf } from "../../../tools/offline/reprocess.ts";

// Reads the stored messages of a device with a draft, and counts what changes. Nothing is written.

const MESSAGES_MAX = 1000;
/** Rows searched for them, newest first, which bounds the time for a large spool. */
const ROWS_MAX = 20_000;
/** Messages that are named for each kind of change. */
const NAMED_MAX = 5;
/** Messages read before the devices get their turn. */
const TURN = 10;

export async function checkDraft(
  data: string,
  device: FilingDevice,
  id: string,
  draft: Profile,
): Promise<LocalMakerCheck> {
  return searchSpool(data, async (db) => {
    const codes = listClinicCodes(db);
    const found = new Map<ChangeKind, string[]>();
    let [messages, same, unread] = [0, 0, 0];
    for (const [index, each] of newest(db, id).entries()) {
      if (index % TURN === TURN - 1) await setImmediate();
      const message = messageOf(db, each);
      if (message.incomplete !== null || message.damage !== undefined) continue;
      const context = readContext(device, message, codes);
      const after = read(await readable(message.bytes, draft), draft, context);
      const before = read(await readable(message.bytes, device.profile), device.profile, context);
      const kinds = changesBetween(before, after);
      messages += 1;
      unread += unreadIn(after);
      if (kinds.length === 0) same += 1;
      for (const kind of kinds) found.set(kind, [...(found.get(kind) ?? []), each]);
    }
    const changes = CHANGE_KINDS.flatMap((kind) => {
      const ids = found.get(kind) ?? [];
      return ids.length === 0 ? [] : [{ kind, count: ids.length, messages: ids.slice(0, NAMED_MAX) }];
    });
    return { messages, same, changes, unread };
  });
}

function newest(db: Database.Database, device: string): string[] {
  return db
    .prepare(
      `SELECT id FROM message WHERE rowid > (SELECT MAX(rowid) FROM message) - ${ROWS_MAX} AND device = ?
       ORDER BY rowid DESC LIMIT ${MESSAGES_MAX}`,
    )
    .pluck()
    .all(device) as string[];
}
