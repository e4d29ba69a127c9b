import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  BARE_END_TIMEOUT_MS,
  FRAME_END_TIMEOUT_MS,
  FRAME_TIMEOUT_MS,
  type Hl7Link,
} from "../../../../agent/protocols/hl7/link.ts";
import { MESSAGE_BYTES_MAX, parseMessage } from "../../../../agent/protocols/hl7/message/message.ts";
import type { LinkAction } from "../../../../agent/protocols/link.ts";
import { NOISE_TIMEOUT_MS } from "../../../../agent/protocols/noise.ts";
import { type Dice, diceOf, mutated } from "../../../support/runner/dice.ts";
import { bytes, show } from "../astm/wire.ts";
import { frame, header, MEANINGFUL, newLink, result, textOf } from "./wire.ts";
import { soakCount } from "../../../support/runner/soak.ts";

// Goal: a link survives streams with faults of every kind. Method: fault() and recovers() state the invariants. fast-check
// prints its seed with a failure; FUZZ_SEED=n repeats it.

const FRAMES = Number(process.env["FUZZ_FRAMES"] ?? soakCount(100_000));
const SEED = process.env["FUZZ_SEED"] === undefined ? null : Number(process.env["FUZZ_SEED"]);
/** Streams per link in a run, and max frames per stream. */
const STREAMS = 20;
const FRAMES_MAX = 6;

const MESSAGES = [
  result(),
  result("1") + result("2"),
  textOf(header({ 15: "AL", 16: "AL", 18: "UNICODE" }), "PID|1||D\\X41\\-77^^^A&B~8", "NTE|1||K\xc3\xb6pek", "goes on"),
  textOf(header({ 9: "QBP^Q11^QBP_Q11", 12: "2.5.1" }), "QPD|WOS|tag"),
  textOf(header({ 9: "ORU^R01", 18: "GB 18030-2000" }), "PID|1||\x81\x5c\x81\x7c"),
  textOf("MSH#@*/%#BC#M###2026##ORU@R01#A#P#2.3.1", "OBX#1"),
  textOf(header({ 9: "ACK^R01" }), "MSA|AA|1"),
  "junk",
];
/** Checks that CR ends each segment and no other control character occurs. */
const ANSWER = /^MSH[ -\xff]+\rMSA[ -\xff]+\r(?:(?:ERR|QAK|QPD)[ -\xff]*\r)*$/;
const TIMERS: readonly (number | null)[] = [
  ...[null, FRAME_END_TIMEOUT_MS, FRAME_TIMEOUT_MS],
  ...[NOISE_TIMEOUT_MS, BARE_END_TIMEOUT_MS],
];

/** Returns the fault of actions; null for valid ones. */
function fault(actions: readonly LinkAction[]): string | null {
  for (const [index, action] of actions.entries()) {
    switch (action.do) {
      case "reply":
        if (!isAnswer(Buffer.from(action.bytes).toString("latin1"))) return `reply ${show(action.bytes)}`;
        break;
      case "deliver": {
        const { message, incomplete } = action;
        if (message.length === 0 || message.length > MESSAGE_BYTES_MAX) return `${message.length} bytes delivered`;
        if (incomplete === "") return "incomplete for no reason";
        readAll(message);
        break;
      }
      case "warn":
        if (!/^[\x20-\x7e]{5,120}$/.test(action.reason)) return `warning ${JSON.stringify(action.reason)}`;
        break;
      case "timer":
        if (!TIMERS.includes(action.ms)) return `timer of ${action.ms} ms`;
        if (index !== actions.length - 1) return "a timer that is not the last action";
        break;
      default:
        return `action ${JSON.stringify(action)}`;
    }
  }
  return null;
}

function isAnswer(wire: string): boolean {
  const isFramed = wire.startsWith("\v") && wire.endsWith("\x1c\r");
  return ANSWER.test(isFramed ? wire.slice(1, -2) : wire); // a message without a frame is answered without one
}

/** Reads every leaf; none may throw. */
function readAll(message: Uint8Array): void {
  const read = parseMessage(message);
  if ("problem" in read) return;
  for (const segment of read.segments) {
    for (let number = 0; number <= segment.length; number++) {
      segment.repetitions(number);
      segment.subcomponents(number, 1);
    }
  }
}

const GOOD = bytes(frame(result("GOOD")));
const GOOD_ACTIONS = told(newLink().receive(GOOD));

/** Removes the offset of a message in the stream, which differs per link. */
function told(actions: readonly LinkAction[]): string {
  return JSON.stringify(actions, (key, value: unknown) => (key === "from" ? undefined : value));
}

/** Checks that after silence or a close the link receives a frame like a fresh link. */
function recovers(dice: Dice, link: Hl7Link): string | null {
  const wrong = fault(dice(2) === 0 ? link.close() : link.timeout());
  if (wrong !== null) return wrong;
  if (!link.isIdle) return "not at rest after silence";
  const received = told(link.receive(GOOD));
  return received === GOOD_ACTIONS ? null : `the good frame after it: ${received}`;
}

function feed(dice: Dice, link: Hl7Link, wire: Uint8Array): string | null {
  for (let at = 0; at < wire.length; ) {
    const chunk = wire.subarray(at, at + 1 + dice(200));
    at += chunk.length;
    const actions = dice(20) === 0 ? link.refuse(chunk) : link.receive(chunk);
    if (dice(60) === 0) actions.splice(-1, 1, ...link.gap());
    if (dice(40) === 0) actions.splice(-1, 1, ...link.timeout());
    const wrong = fault(actions);
    if (wrong !== null) return wrong;
  }
  return null;
}

/** Plays one stream with faults. @returns the fault and the stream */
function roundFault(seed: number, link: Hl7Link): string | null {
  const dice = diceOf(seed);
  const frames = Array.from({ length: 1 + (seed % FRAMES_MAX) }, () => frame(MESSAGES[dice(MESSAGES.length)]!));
  const wire = mutated(dice, bytes(frames.join("")), MEANINGFUL);
  try {
    const wrong = feed(dice, link, wire) ?? recovers(dice, link);
    return wrong === null ? null : `${wrong}\n${show(wire)}`;
  } catch (error) {
    return `${String(error)}\n${show(wire)}`;
  }
}

test(`${FRAMES} frames with faults throw nothing, and the next good frame is received`, () => {
  expect(GOOD_ACTIONS.match(/"deliver"/g)).toHaveLength(1);
  // One link receives all streams, so that each starts in the state that the last one leaves.
  const streams = fc.array(fc.nat(), { minLength: STREAMS, maxLength: STREAMS });
  const property = fc.property(streams, (seeds) => {
    const link = newLink();
    for (const seed of seeds) expect(roundFault(seed, link)).toBe(null);
  });
  const framesARun = (STREAMS * (1 + FRAMES_MAX)) / 2;
  fc.assert(property, { numRuns: Math.ceil(FRAMES / framesARun), ...(SEED === null ? {} : { seed: SEED }) });
}, 600_000);
