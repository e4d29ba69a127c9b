import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, beforeEach } from "vitest";
import type { StoredMessage } from "../../agent/spool/queries/messages/message-row.ts";
import { Spool, type SpoolCalls } from "../../agent/spool/spool.ts";
import { temporaryFolder } from "./machine/processes.ts";

/** Opens one spool for all tests of a file and empties it before each, since opening takes longer than most tests. */
export function useSpool(): { readonly folder: string; readonly spool: Spool } {
  const used = { folder: "", spool: undefined as unknown as Spool };
  beforeAll(async () => {
    used.folder = temporaryFolder();
    used.spool = await Spool.open(used.folder);
  });
  afterAll(async () => {
    await used.spool.close();
    fs.rmSync(used.folder, { recursive: true });
  });
  beforeEach(() => {
    const db = new Database(path.join(used.folder, "spool.db"));
    const tables = db
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'migration'")
      .pluck()
      .all() as string[];
    for (const table of tables) db.exec(`DELETE FROM ${table}`);
    db.close();
  });
  return used;
}

/** Marks the patient directory in the spool as fully synced now. The test stores the patients itself. */
export function noteFetched(spool: Pick<Spool, "call">): Promise<void> {
  const now = Date.now();
  const cursor = { at: 0, seenAt: now };
  const progress = { patients: cursor, removed: cursor, fullSyncAt: now, syncedAt: now };
  return spool.call("setMeta", "directory", JSON.stringify(progress));
}

/** The messages of a device that are not processed, oldest first. */
export async function unprocessedMessages(spool: SpoolCalls, device: string): Promise<StoredMessage[]> {
  const rows = (await spool.call("backlog")).get(device) ?? [];
  return await spool.call("unprocessedMessages", device, rows);
}
