import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { apply, createLink } from "../../../../../agent/connection/create-link.ts";
import { profileById } from "../../../../../agent/devices/index.ts";
import type { Link } from "../../../../../agent/protocols/link.ts";
import { type NoiseEvents, NoiseFinder } from "../../../../../agent/spool/queries/events/noise-events.ts";
import { fixturesFolder } from "../../../../support/runner/fixtures.ts";
import { type Dice, diceOf, pick } from "../../../../support/runner/dice.ts";
import { fixedContext } from "../../../../support/protocols/wire.ts";

// Goal: no message needs the noise that is removed. Method: random streams of messages, truncated messages and noise go
// through each kind of link. The events without the found runs go through a new link, which delivers the same messages.

/** Profiles whose links report their position between messages. */
const PROFILES = ["generic-astm", "generic-astm-raw", "generic-hl7", "arkray-spotchem-ez", "mindray-bc2800vet"];

interface TestEvent {
  readonly id: number;
  /** Null for a timeout. */
  readonly bytes: Uint8Array | null;
}

function recordingsOf(profile: string): Uint8Array[] {
  const folder = path.join(fixturesFolder, profile);
  const files = fs.readdirSync(folder).filter((name) => /\.(astm|hl7)$/.test(name));
  return files.map((name) => new Uint8Array(fs.readFileSync(path.join(folder, name))));
}

function streamOf(dice: Dice, recordings: readonly Uint8Array[]): TestEvent[] {
  const pieces = Array.from({ length: 12 }, () => {
    const recording = pick(dice, recordings);
    switch (dice(7)) {
      case 0:
        return recording;
      case 1:
        return recording.subarray(0, dice(recording.length));
      case 2:
        return Uint8Array.from({ length: dice(20_000) }, () => dice(256));
      case 3:
        return Uint8Array.from({ length: dice(20_000) }, () => 0x41 + dice(60));
      case 4:
        return new Uint8Array(dice(20_000)).fill(pick(dice, [0x00, 0x05, 0x0a, 0x55, 0xff]));
      case 5:
        // Record headers that are not at the start of a line.
        return Uint8Array.from({ length: dice(20_000) }, () => pick(dice, [0x41, 0x48, 0x7c]));
      default:
        return Uint8Array.from({ length: dice(300) }, () => pick(dice, [0x02, 0x03, 0x04, 0x05, 0x0b, 0x0d, 0x1c]));
    }
  });
  const bytes = Buffer.concat(pieces);
  const events: TestEvent[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = 1 + dice(dice(2) === 0 ? 3_000 : 100);
    events.push({ id: events.length, bytes: Uint8Array.from(bytes.subarray(at, at + length)) });
    at += length;
    if (dice(20) === 0) events.push({ id: events.length, bytes: null });
  }
  return events;
}

/** Feeds events to the link and returns the delivered messages. */
function feed(link: Link, events: readonly TestEvent[], taken?: (event: TestEvent, delivered: boolean) => void) {
  const delivered: string[] = [];
  for (const event of events) {
    const before = delivered.length;
    for (const action of apply(link, event.bytes === null ? "timeout" : "chunk", event.bytes)) {
      if (action.do !== "deliver") continue;
      delivered.push(`${action.incomplete} ${Buffer.from(action.message).toString("latin1")}`);
    }
    taken?.(event, delivered.length > before);
  }
  return delivered;
}

test.each(PROFILES)("a record of %s without its noise delivers the same messages", (profile) => {
  const newLink = () => createLink(profileById(profile)!, fixedContext);
  const recordings = recordingsOf(profile);
  let found = 0;
  for (let seed = 0; seed < 60; seed++) {
    const events = streamOf(diceOf(seed), recordings);
    const link = newLink();
    const finder = new NoiseFinder();
    const runs: NoiseEvents[] = [];
    const delivered = feed(link, events, ({ id, bytes }, isDelivered) => {
      const run = finder.add(1, id, bytes?.length ?? 0, isDelivered, link.between ?? null);
      if (run !== null) runs.push(run);
    });
    const left = events.filter(({ id }) => !runs.some((run) => id >= run.firstEvent && id <= run.lastEvent));
    expect(feed(newLink(), left), `seed ${seed}`).toEqual(delivered);
    found += runs.length;
  }
  expect(found).toBeGreaterThan(10);
});

test("HL7 letters after noise within a line begin no message, neither with the noise nor without it", () => {
  const newLink = () => createLink(profileById("generic-hl7")!, fixedContext);
  const texts = ["A".repeat(5_000), "A".repeat(5_000), "A\r", "A", "MSH|^~\\&|LAB\r"];
  const events = texts.map((text, id) => ({ id, bytes: Buffer.from(text) as Uint8Array }));
  const link = newLink();
  const finder = new NoiseFinder();
  finder.add(1, -1, 0, true, link.between ?? null);
  const ended = (last: readonly TestEvent[]) => feed(newLink(), [...last, { id: last.length, bytes: null }]);
  const runs = events.slice(0, -1).map(({ id, bytes }) => {
    feed(link, [{ id, bytes }]);
    return finder.add(1, id, bytes.length, false, link.between ?? null);
  });
  const found = [...runs, finder.end()].filter((run) => run !== null);
  const left = events.filter(({ id }) => !found.some((run) => id >= run.firstEvent && id <= run.lastEvent));
  expect(ended(left)).toEqual(ended(events));
});

test("endless noise is reported in pieces, and short runs are not reported", () => {
  const finder = new NoiseFinder();
  const runs: (NoiseEvents | null)[] = [];
  for (let id = 0; id < 300; id++) runs.push(finder.add(1, id, 2048, false, "neutral"));
  expect(runs.filter((run) => run !== null)).toEqual([
    { session: 1, firstEvent: 1, lastEvent: 128, bytes: 256 * 1024 },
    { session: 1, firstEvent: 129, lastEvent: 256, bytes: 256 * 1024 },
  ]);
  expect(finder.end()).toEqual({ session: 1, firstEvent: 257, lastEvent: 299, bytes: 43 * 2048 });
  finder.add(1, 300, 2048, false, "neutral");
  finder.add(1, 301, 2048, false, "neutral");
  expect(finder.add(1, 302, 2048, true, "neutral")).toBe(null);
});
