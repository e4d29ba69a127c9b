import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { EventStore } from "../../../../agent/spool/thread/event-store.ts";
import type { EventKind } from "../../../../agent/spool/queries/events/event-log.ts";
import { Reserve } from "../../../../agent/spool/thread/reserve.ts";
import { Room } from "../../../../agent/spool/thread/room.ts";
import { migrate } from "../../../../agent/spool/thread/schema.ts";
import { type Batch, EventPacker } from "../../../../agent/spool/thread/wire-format.ts";
import { temporaryFolder } from "../../../support/machine/processes.ts";

function openStore(bytesMax = 1e9) {
  const db = new Database(":memory:");
  onTestFinished(() => void db.close());
  migrate(db);
  const store = new EventStore(db, new Room(db, bytesMax), new Reserve(temporaryFolder()));
  const rows = (sql: string) => db.prepare(sql).raw().all();
  return { store, rows };
}

/** A batch of events of session 1, which it opens with the first event. */
function batch(firstEvent: number, events: readonly (readonly [EventKind, bytes: number])[]): Batch {
  const packer = new EventPacker(firstEvent);
  for (const [kind, length] of events) packer.add(1, kind, 5, new Uint8Array(length));
  const opened = { id: 1, device: "chem-1", profile: "generic-astm", firstEvent, at: 5 };
  return { opened: firstEvent === 1 ? [opened] : [], events: packer.pack(), durable: true, messages: [], calls: [] };
}

test("a session is stored once, with its first event", () => {
  const { store, rows } = openStore();
  const first = batch(1, [
    ["chunk", 1],
    ["chunk", 2],
  ]);
  store.open([first]);
  expect(rows("SELECT id FROM session")).toEqual([]);
  store.committed(store.store([first]));
  store.committed(store.store([batch(3, [["close", 0]])]));
  expect(rows("SELECT id FROM session")).toEqual([[1]]);
  expect(rows("SELECT id, kind, length(bytes) FROM event")).toEqual([
    [1, "chunk", 1],
    [2, "chunk", 2],
    [3, "close", 0],
  ]);
});

test("after a refused event the session is refused until a gap is stored", () => {
  const { store, rows } = openStore(1_000_000);
  const group = batch(1, [
    ["chunk", 1],
    ["chunk", 2_000_000],
    ["chunk", 1],
  ]);
  store.open([group]);
  const outcome = store.store([group]);
  expect(outcome.refused).toEqual([
    [1, expect.stringContaining("the spool is full")],
    [2, "an event before it was refused"],
  ]);
  store.committed(outcome);
  const next = batch(4, [
    ["chunk", 1],
    ["gap", 0],
    ["chunk", 1],
  ]);
  const later = store.store([next]);
  expect(later.refused).toEqual([[0, "an event before it was refused"]]);
  expect(later.broken.size).toBe(0);
  expect(rows("SELECT id FROM event")).toEqual([[1], [5], [6]]);
});

test("a failed commit refuses the later events of its sessions", () => {
  const { store } = openStore();
  const group = batch(1, [["chunk", 1]]);
  store.open([group]);
  store.failed([group]);
  expect(store.store([batch(2, [["chunk", 1]])]).refused).toEqual([[0, "an event before it was refused"]]);
});

test("a finished session with a refused event is forgotten", () => {
  const { store } = openStore(1_000_000);
  const group = batch(1, [["chunk", 2_000_000]]);
  store.open([group]);
  const outcome = store.store([group]);
  store.committed(outcome);
  expect([...outcome.broken]).toEqual([1]);
  store.finish([1]);
  expect(store.store([]).broken.size).toBe(0);
});
