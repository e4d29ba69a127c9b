import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { EventStore } from "../../../../agent/spool/thread/event-store.ts";
import { Reserve } from "../../../../agent/spool/thread/reserve.ts";
import { Room } from "../../../../agent/spool/thread/room.ts";
import { migrate } from "../../../../agent/spool/thread/schema.ts";
import { EventPacker } from "../../../../agent/spool/thread/wire-format.ts";
import { type Dice, diceOf } from "../../../support/runner/dice.ts";
import { temporaryFolder } from "../../../support/machine/processes.ts";

// Goal: each device gets its share of the room, however much the others take. Method: several devices fill a small database with
// events of random sizes, then the last one starts.

const MB = 1024 * 1024;
const BYTES_MAX = 16 * MB;

/** A store for the devices 0 to `count` - 1. Session n belongs to device n. */
function openStore(count: number, dividedPart?: number) {
  const db = new Database(":memory:");
  onTestFinished(() => void db.close());
  migrate(db);
  for (let device = 0; device < count; device++) {
    db.prepare("INSERT INTO device (id, profile, connected) VALUES (?, 'generic-hl7', 1)").run(`device-${device}`);
  }
  const room = new Room(db, BYTES_MAX, dividedPart);
  const store = new EventStore(db, room, new Reserve(temporaryFolder()));
  let event = 1;
  const append = (device: number, length: number): boolean => {
    const packer = new EventPacker(event);
    // A gap lets the device try again after a refusal.
    packer.add(device + 1, "gap", 1, null);
    packer.add(device + 1, "chunk", 1, new Uint8Array(length));
    const opened = { id: device + 1, device: `device-${device}`, profile: "generic-hl7", firstEvent: event, at: 1 };
    const isNew = db.prepare("SELECT 1 FROM session WHERE id = ?").get(device + 1) === undefined;
    const batch = { opened: isNew ? [opened] : [], events: packer.pack(), durable: true, messages: [], calls: [] };
    event += 2;
    store.open([batch]);
    const outcome = store.store([batch]);
    store.committed(outcome);
    return outcome.refused.length === 0;
  };
  return { room, append };
}

/** Appends events until one is refused. @returns the stored bytes */
function fill(append: (length: number) => boolean, dice: Dice): number {
  let stored = 0;
  for (;;) {
    const length = 1 + dice(64 * 1024);
    if (!append(length)) return stored;
    stored += length;
  }
}

/** Lets all devices but the last fill the room. @returns the bytes that the last one gets after them, as a part of its share */
function lastShare(seed: number, count: number, dividedPart?: number): number {
  const dice = diceOf(seed);
  const { append } = openStore(count, dividedPart);
  for (let device = 0; device < count - 1; device++) fill((length) => append(device, length), dice);
  return fill((length) => append(count - 1, length), dice) / (BYTES_MAX / 2 / count);
}

test.each([2, 3, 4, 8])("the last of %i devices gets its share after the others have filled the room", (count) => {
  for (let seed = 0; seed < 3; seed++) expect(lastShare(seed, count), `seed ${seed}`).toBeGreaterThan(0.75);
});

test("control: without shares the last of four devices is refused", () => {
  expect(lastShare(1, 4, 0)).toBeLessThan(0.1);
});

test("a device alone may take all of the room", () => {
  const { append } = openStore(1);
  expect(fill((length) => append(0, length), diceOf(1))).toBeGreaterThan(0.9 * BYTES_MAX);
});

test("a refused device needs room until a chunk fits again", () => {
  const { room, append } = openStore(4);
  fill((length) => append(0, length), diceOf(1));
  expect(room.shortDevices(false)).toEqual(["device-0"]);
  expect(append(1, 1)).toBe(true);
  expect(room.shortDevices(false)).toEqual(["device-0"]);
});
