import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { readSpool, writeSpool } from "../../../agent/spool/access.ts";
import { listMessages } from "../../../agent/spool/queries/messages/message-summaries.ts";
import { readStatus } from "../../../agent/spool/queries/status.ts";
import { reassess } from "../../../agent/tools/offline/reprocess.ts";
import { Spool } from "../../../agent/spool/spool.ts";
import { temporaryFolder } from "../../support/machine/processes.ts";

// Method: one page of a real spool is overwritten, as a failing disk does.

const PAGE_BYTES = 4096;
let folder: string;
let file: string;

beforeEach(async () => {
  folder = temporaryFolder();
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  file = path.join(folder, "spool.db");
  const spool = await Spool.open(folder);
  await spool.call("setMeta", "directory", "{}");
  await spool.close();
});

/** Overwrites the file's first page, or the root page of a table. */
function damage(table: string | null): void {
  const page = table === null ? 1 : rootPageOf(table);
  const descriptor = fs.openSync(file, "r+");
  fs.writeSync(descriptor, Buffer.alloc(PAGE_BYTES, 0xa5), 0, PAGE_BYTES, (page - 1) * PAGE_BYTES);
  fs.closeSync(descriptor);
}

function rootPageOf(table: string): number {
  const db = new Database(file, { readonly: true });
  const page = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").pluck().get(table) as number;
  db.close();
  return page;
}

const damageText = (words: string) =>
  `${file} is damaged (${words}): copy it with its -wal file, then restore a backup or rescue its rows with sqlite3's .recover command`;

test.each([
  [null, "file is not a database"],
  ["event", "database disk image is malformed"],
  ["session", "database disk image is malformed"],
])("a start with a damaged spool names the file and the remedy (%s)", async (table, words) => {
  damage(table);
  await expect(Spool.open(folder)).rejects.toThrow(damageText(words));
});

test("an operation on a damaged page of an open spool names the file and the remedy", async () => {
  damage("pending_image_study");
  const spool = await Spool.open(folder);
  await expect(spool.call("nextImageStudy", Date.now(), [])).rejects.toThrow(
    damageText("database disk image is malformed"),
  );
  await spool.close();
});

test.each([
  ["status", "meta", () => readSpool(folder, (db) => readStatus(db, folder))],
  ["messages", "message", () => readSpool(folder, listMessages)],
  ["lock", "meta", () => writeSpool(folder, (operations) => operations.setMeta("directory", "{}"))],
] as const)("the command %s on a damaged spool names the file and the remedy", (_, table, command) => {
  damage(table);
  expect(command).toThrow(damageText("database disk image is malformed"));
});

test("the command reprocess names the damaged file and the remedy", async () => {
  damage("message");
  const wanted = { states: ["quarantined"], since: 0 } as const;
  const known = { analyzers: new Map(), imaging: new Map() };
  await expect(reassess(folder, wanted, known, false, () => undefined)).rejects.toThrow(
    damageText("database disk image is malformed"),
  );
});

test("a damaged lock is not taken for a running agent", async () => {
  fs.writeFileSync(path.join(folder, "lock.db"), Buffer.alloc(PAGE_BYTES, 0xa5));
  const lock = path.join(folder, "lock.db");
  await expect(Spool.open(folder)).rejects.toThrow(`${lock} is damaged (file is not a database)`);
  expect(() => readSpool(folder, (db) => readStatus(db, folder))).toThrow(
    `${lock} is damaged (file is not a database)`,
  );
});
