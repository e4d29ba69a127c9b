import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createLink } from "../../../../agent/connection/create-link.ts";
import { profileById } from "../../../../agent/devices/index.ts";
import { duplicateKey } from "../../../../agent/protocols/hl7/message/duplicate-key.ts";
import { complete, read } from "../../../../agent/study/read.ts";
import type { Reading } from "../../../../agent/report/report.ts";
import { recordings } from "../../../support/runner/fixtures.ts";
import { fixedContext } from "../../../support/protocols/wire.ts";
import { diceOf, mutated } from "../../../support/runner/dice.ts";
import { context } from "../../records.ts";
import { MEANINGFUL } from "./wire.ts";
import { soakCount } from "../../../support/runner/soak.ts";

// Goal: no damaged message throws. Method: bytes of the fixtures of every HL7 profile are changed, lost, inserted, doubled and
// moved, and read. fast-check prints its seed with a failure; FUZZ_SEED=n repeats it. FUZZ_FRAMES sets the count.

const MESSAGES = Number(process.env["FUZZ_FRAMES"] ?? soakCount(50_000));
const SEED = process.env["FUZZ_SEED"] === undefined ? null : Number(process.env["FUZZ_SEED"]);
const STREAM_MS_MAX = 2_000;
const GROWTH_BYTES_MAX = 400 * 1024 * 1024;

const fixtures = recordings.filter(({ name }) => name.endsWith(".hl7"));
let messages = 0;

/** Returns the fault of a reading; null for a valid one. */
function fault(reading: Reading): string | null {
  if (reading.is !== "reports") return reading.reason === "" ? "no reason" : null;
  if (reading.reports.length === 0) return "Reports without any";
  for (const { rows, withdrawn = [], dedupe_key, acquired_at } of reading.reports) {
    if (rows.length === 0 && withdrawn.length === 0) return "a Report of nothing";
    const isValue = (value: number | null, text: string) => (value === null ? text !== "" : Number.isFinite(value));
    if (!rows.every(({ value, text }) => isValue(value, text))) return "a value that is neither a number nor a word";
    if (!/^chem-1:[0-9a-f]{32}/.test(dedupe_key)) return `key ${dedupe_key}`;
    if (!/^\d{4}-\d\d-\d\dT/.test(acquired_at)) return `time ${acquired_at}`;
  }
  const keys = reading.reports.map(({ dedupe_key }) => dedupe_key);
  return new Set(keys).size === keys.length ? null : "two Reports of one key";
}

/** Plays a fixture with faults, in random chunks, to a link of its profile. @returns the fault and the bytes */
function streamFault(seed: number): string | null {
  const dice = diceOf(seed);
  const { name: path, bytes } = fixtures[dice(fixtures.length)]!;
  const profile = profileById(path.split("/")[0]!)!;
  const wire = mutated(dice, bytes, MEANINGFUL);
  try {
    const link = createLink(profile, fixedContext);
    const actions = [];
    for (let at = 0; at < wire.length; ) {
      const chunk = wire.subarray(at, at + 1 + dice(2_000));
      at += chunk.length;
      actions.push(...link.receive(chunk));
    }
    actions.push(...link.close());
    const cut: { bytes: Uint8Array }[] = [];
    for (const action of actions) {
      if (action.do !== "deliver") continue;
      messages += 1;
      const { message, incomplete } = action;
      duplicateKey({ bytes: message, incomplete }, profile);
      complete(message, cut, profile);
      if (incomplete !== null) cut.push({ bytes: message });
      const wrong = fault(read(message, profile, context));
      if (wrong !== null) return `${wrong}\n${path}\n${Buffer.from(wire).toString("latin1")}`;
    }
    return null;
  } catch (error) {
    return `${String(error)}\n${path}\n${Buffer.from(wire).toString("latin1")}`;
  }
}

test(`${MESSAGES} messages with faults give a reading, and never an exception`, () => {
  const before = process.memoryUsage().rss;
  let slowest = 0;
  const streams = fc.array(fc.nat(), { minLength: 100, maxLength: 100 });
  const property = fc.property(streams, (seeds) => {
    for (const seed of seeds) {
      const from = process.cpuUsage();
      expect(streamFault(seed)).toBe(null);
      slowest = Math.max(slowest, process.cpuUsage(from).user / 1_000);
    }
  });
  const numRuns = Math.ceil(MESSAGES / 100);
  fc.assert(property, { numRuns, ...(SEED === null ? {} : { seed: SEED }) });
  const grown = process.memoryUsage().rss - before;
  process.stdout.write(
    `${messages} messages, the slowest stream ${slowest.toFixed(0)} ms, grown by ${(grown / 2 ** 20).toFixed(0)} MB\n`,
  );
  expect(messages).toBeGreaterThan(MESSAGES);
  expect(slowest).toBeLessThan(STREAM_MS_MAX);
  expect(grown).toBeLessThan(GROWTH_BYTES_MAX);
}, 1_800_000);
