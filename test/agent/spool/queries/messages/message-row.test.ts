import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { messageRow, type NewMessage } from "../../../../../agent/spool/queries/messages/message-row.ts";
import { operationsOn } from "../../../../../agent/spool/queries/operations.ts";
import { migrate } from "../../../../../agent/spool/thread/schema.ts";

const message: NewMessage = {
  id: "M1",
  session: 3,
  ordinal: 2,
  device: "chem-1",
  profile: "generic-hl7",
  receivedAt: 1_000,
  bytes: Uint8Array.of(0x4d, 0x53, 0x48),
  incomplete: "the line was cut",
};

function openDatabase(): Database.Database {
  const db = new Database(":memory:");
  onTestFinished(() => void db.close());
  migrate(db);
  return db;
}

test("a message is read as it was stored", () => {
  const operations = operationsOn(openDatabase());
  expect(operations.addMessages([messageRow(message, "fingerprint")])).toEqual(["M1"]);
  const { id, device, profile, receivedAt, incomplete, session } = message;
  const [stored] = operations.unprocessedMessages("chem-1", operations.backlog().get("chem-1")!);
  expect(stored).toEqual({ id, device, profile, receivedAt, incomplete, session, bytes: Buffer.from(message.bytes) });
});

test("a message with a byte range is read from the chunks of its session", () => {
  const db = openDatabase();
  const insert = db.prepare("INSERT INTO event (id, session, kind, at, bytes) VALUES (?, ?, ?, 0, ?)");
  insert.run(5, 3, "chunk", Uint8Array.of(1, 2));
  insert.run(6, 4, "chunk", Uint8Array.of(9));
  insert.run(7, 3, "send", Uint8Array.of(8));
  insert.run(8, 3, "chunk", Uint8Array.of(3, 4));
  const range = { firstEvent: 5, lastEvent: 8, start: 1, length: 2 };
  const operations = operationsOn(db);
  operations.addMessages([messageRow({ ...message, bytes: new Uint8Array(0), range }, null)]);
  expect(operations.unprocessedMessages("chem-1", operations.backlog().get("chem-1")!)[0]?.bytes).toEqual(
    Uint8Array.of(2, 3),
  );
});
