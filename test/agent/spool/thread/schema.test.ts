import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { readSpool, writeSpool } from "../../../../agent/spool/access.ts";
import { listMessages } from "../../../../agent/spool/queries/messages/message-summaries.ts";
import { migrate } from "../../../../agent/spool/thread/schema.ts";
import { Spool } from "../../../../agent/spool/spool.ts";
import { temporaryFolder } from "../../../support/machine/processes.ts";

function newFolder(): string {
  const folder = temporaryFolder();
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

/** Makes a spool whose newest version is that one. */
function spoolOf(version: number): string {
  const folder = newFolder();
  const db = new Database(path.join(folder, "spool.db"));
  migrate(db);
  db.exec("DELETE FROM migration WHERE version < (SELECT MAX(version) FROM migration)");
  db.prepare("UPDATE migration SET version = ?").run(version);
  db.close();
  return folder;
}

test("a spool of a newer agent is refused by the agent and by commands", async () => {
  const folder = spoolOf(99);
  const refusal =
    /spool\.db has schema 99 of version \S+, this version \S+ knows schemas up to \d+: install version \S+ or newer, or restore a/;
  await expect(Spool.open(folder)).rejects.toThrow(refusal);
  expect(() => readSpool(folder, listMessages)).toThrow(refusal);
});

test("a command refuses a spool of an older version until the agent has migrated it", () => {
  const folder = spoolOf(0);
  expect(() => readSpool(folder, listMessages)).toThrow(/schema of another version: start this version's agent first/);
  expect(() => writeSpool(folder, (spool) => spool.getMeta("clock"))).toThrow(/schema of another version/);
});
