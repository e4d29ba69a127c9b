import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { recover } from "../../../agent/connection/recovery.ts";
import { profileById } from "../../../agent/devices/index.ts";
import { isWhole, recoverImageFolder } from "../../../agent/imaging/files/image-folder.ts";
import { openDatabase } from "../../../agent/spool/thread/database.ts";
import { BYTES_COLUMNS, messageReader, type StoredMessageRow } from "../../../agent/spool/queries/events/event-log.ts";
import type { InstanceContent } from "../../../agent/spool/queries/images/instance-file.ts";
import { operationsOn } from "../../../agent/spool/queries/operations.ts";
import type { Spool } from "../../../agent/spool/spool.ts";
import { createKeyLookup } from "../../../server/http/auth/key-lookup.ts";
import { loadPepper } from "../../../server/http/auth/pepper.ts";
import { countKeys } from "../../../server/records/clinics/keys.ts";
import { openSqlite } from "../../../server/database/sqlite.ts";
import type { Acknowledged } from "./recordings.ts";

// Starts on the disk that a cut of the power left, and looks for what was acknowledged before.

/** The marks of the recordings: times of measurement and of the upkeep. */
const MARK = /\d{14}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00|upkeep-\d+-/g;

/** The agent's start, without its devices. @returns what is missing, doubled or damaged */
export async function agentProblems(data: string, acknowledged: readonly Acknowledged[]): Promise<string[]> {
  fs.mkdirSync(data, { recursive: true });
  const db = openDatabase({ folder: data, bytesMax: 2 ** 34 });
  try {
    const operations = operationsOn(db);
    const call = async (name: keyof typeof operations, ...args: readonly unknown[]) =>
      (operations[name] as (...values: readonly unknown[]) => unknown)(...args);
    const spool = { call, now: Date.now } as unknown as Pick<Spool, "call" | "now">;
    await recover(spool, profileById);
    await recoverImageFolder(data, spool);
    return [
      ...damage(db),
      ...messageProblems(db, marksOf(acknowledged, "message")),
      ...(await imageProblems(db, data, marksOf(acknowledged, "instance"))),
    ];
  } finally {
    db.close();
  }
}

/** The server's start. @returns what is missing, doubled or damaged */
export async function serverProblems(data: string, acknowledged: readonly Acknowledged[]): Promise<string[]> {
  const store = await openSqlite(data, 5_000);
  try {
    const findKey = createKeyLookup(store, loadPepper(data, (await countKeys(store)) > 0));
    const keys = await Promise.all(marksOf(acknowledged, "key").map(findKey));
    if (keys.includes(undefined)) return ["a key does not work"];
  } finally {
    await store.close();
  }
  const db = new Database(path.join(data, "vetwire.db"));
  try {
    const missing = (["study", "patient"] as const).flatMap((kind) => {
      const count = countOf(db.prepare(`SELECT fp FROM ${kind}`).pluck().all() as string[]);
      return marksOf(acknowledged, kind).flatMap((fp) => problemOf(fp, count.get(fp) ?? 0));
    });
    return [...damage(db), ...missing];
  } finally {
    db.close();
  }
}

function marksOf(acknowledged: readonly Acknowledged[], wanted: Acknowledged["kind"]): string[] {
  return acknowledged.filter(({ kind }) => kind === wanted).map(({ mark }) => mark);
}

function damage(db: Database.Database): string[] {
  const integrity = db.pragma("integrity_check", { simple: true });
  return integrity === "ok" ? [] : [`integrity_check: ${String(integrity)}`];
}

function messageProblems(db: Database.Database, marks: readonly string[]): string[] {
  const read = messageReader(db);
  const rows = db.prepare(`SELECT id, ${BYTES_COLUMNS} FROM message`).all() as StoredMessageRow<{
    session: number;
    bytes: Uint8Array;
  }>[];
  const found = rows.flatMap((row) => [...new Set(Buffer.from(read(row).bytes).toString("latin1").match(MARK))]);
  const count = countOf(found);
  return marks.flatMap((mark) => problemOf(mark, count.get(mark) ?? 0));
}

async function imageProblems(db: Database.Database, data: string, uids: readonly string[]): Promise<string[]> {
  const instances = db
    .prepare(
      `SELECT i.sop_instance_uid AS uid, i.message, i.sha256, m.bytes AS head FROM instance i JOIN message m ON m.id = i.message
       WHERE i.removed_at IS NULL`,
    )
    .all() as (InstanceContent & { uid: string })[];
  const count = countOf(instances.map(({ uid }) => uid));
  const problems = uids.flatMap((uid) => problemOf(uid, count.get(uid) ?? 0));
  for (const instance of instances) {
    const isAcknowledged = uids.includes(instance.uid);
    if (isAcknowledged && !(await isWhole(data, instance))) problems.push(`the file of ${instance.uid} is damaged`);
  }
  return problems;
}

function problemOf(mark: string, count: number): string[] {
  return count === 1 ? [] : [`${mark} is there ${count} times`];
}

function countOf(texts: readonly string[]): Map<string, number> {
  const count = new Map<string, number>();
  for (const text of texts) count.set(text, (count.get(text) ?? 0) + 1);
  return count;
}
