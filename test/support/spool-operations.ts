import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { onTestFinished } from "vitest";
import { messageRow, type MessageRow } from "../../agent/spool/queries/messages/message-row.ts";
import { type Operations, operationsOn } from "../../agent/spool/queries/operations.ts";
import type { Settlement } from "../../agent/spool/queries/studies/studies.ts";
import { migrate } from "../../agent/spool/thread/schema.ts";
import { temporaryFolder } from "./machine/processes.ts";

// Spool operations on a database without the worker, and values for them.

export function openOperations(): { folder: string; db: Database.Database; spool: Operations } {
  const folder = temporaryFolder();
  const db = new Database(path.join(folder, "spool.db"));
  onTestFinished(() => {
    db.close();
    fs.rmSync(folder, { recursive: true });
  });
  migrate(db);
  return { folder, db, spool: operationsOn(db) };
}

/** Adds a message of chem-1, in session 1. */
export function addMessage(
  spool: Operations,
  id: string,
  ordinal = 0,
  incomplete: string | null = null,
  bytes: Uint8Array = Buffer.from("H|\\^&\rL|1|N\r"),
): void {
  const received = { device: "chem-1", profile: "generic-astm", receivedAt: 1000 + ordinal };
  spool.addMessage({ id, session: 1, ordinal, ...received, bytes, incomplete });
}

export function rowOf(id: string, session: number, ordinal: number): MessageRow {
  const received = { device: "chem-1", profile: "generic-astm", receivedAt: 1000 };
  return messageRow({ id, session, ordinal, ...received, bytes: Buffer.from("H"), incomplete: null }, null);
}

export function settlement(message: string, values: Partial<Settlement> = {}): Settlement {
  return { message, state: "pending", reason: null, studies: [], completes: [], at: 2000, ...values };
}

export const taken = (spool: Operations) => spool.takeQueued(10, 1_000_000, 0).batch;

/** Builds the server's outcome for revision 1 of a study. */
export const serverOutcome = (
  fp: string,
  outcome: "filed" | "unchanged" | "unmatched" | "conflict" | "rejected",
  reason: string | null = null,
) => ({ fp, revision: 1, outcome, reason, matched: true });
