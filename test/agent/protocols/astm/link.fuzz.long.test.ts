import * as fc from "fast-check";
import { expect, test } from "vitest";
import { encodeFrame } from "../../../../agent/protocols/astm/frame.ts";
import { AstmLink } from "../../../../agent/protocols/astm/link.ts";
import { FRAME_BYTES_MAX } from "../../../../agent/protocols/astm/received-frame.ts";
import { MESSAGE_BYTES_MAX } from "../../../../agent/protocols/astm/received-message.ts";
import { FRAME_END_TIMEOUT_MS, RECEIVE_TIMEOUT_MS } from "../../../../agent/protocols/astm/receiver.ts";
import {
  BUSY_MS,
  GARBLED_MS,
  HOST_CONTENTION_MS,
  INSTRUMENT_CONTENTION_MS,
  INTERRUPT_MS,
  REPLY_TIMEOUT_MS,
} from "../../../../agent/protocols/astm/sender.ts";
import { ETB } from "../../../../agent/protocols/bytes.ts";
import type { LinkAction } from "../../../../agent/protocols/link.ts";
import { type Dice, diceOf, mutated, pick } from "../../../support/runner/dice.ts";
import { bytes, frame, sessionOf, show } from "./wire.ts";
import { soakCount } from "../../../support/runner/soak.ts";

// Goal: a link survives sessions with faults of every kind. Method: fault() and recovers() state the invariants. fast-check
// prints its seed with a failure; FUZZ_SEED=n repeats it.

const FRAMES = Number(process.env["FUZZ_FRAMES"] ?? soakCount(100_000));
const SEED = process.env["FUZZ_SEED"] === undefined ? null : Number(process.env["FUZZ_SEED"]);
/** Sessions per link in a run, and max frames per session. */
const SESSIONS = 20;
const FRAMES_MAX = 12;

const CONTROLS = [0x00, 0x02, 0x03, 0x04, 0x05, 0x06, 0x0a, 0x0d, 0x15, 0x17, 0x48, 0x4c];
/** Replies of a device, mostly ACK. */
const REPLIES = [0x06, 0x06, 0x06, 0x06, 0x15, 0x04, 0x05, 0x00, 0x58];
const RECORDS = [
  "H|\\^&|||Analyzer^1.0",
  "P|1||D-77",
  "R|1|^^^GLU|95|mg/dL",
  "C|1|I|a&F&b|G",
  "L|1|N",
  "h|\\^&",
  "l|1|n",
];

/** Text of any bytes, mostly control characters, without ETX and ETB. */
function strange(dice: Dice): string {
  const text = Array.from({ length: dice(12) }, () => (dice(3) === 0 ? dice(256) : pick(dice, CONTROLS)));
  return Buffer.from(text.filter((byte) => byte !== 0x03 && byte !== 0x17)).toString("latin1");
}

/** A session of a few frames, most of them valid. */
function session(dice: Dice, frames: number): Buffer {
  const parts = ["<ENQ>"];
  for (let count = 1; count <= frames; count++) {
    const number = dice(20) === 0 ? dice(10) : count % 8;
    const record = pick(dice, RECORDS);
    const text = pick(dice, [
      `${record}<CR>`,
      `${record}<CR>`,
      record.slice(0, dice(record.length + 1)),
      strange(dice),
    ]);
    const wire = frame(number, text, dice(4) === 0 ? "ETB" : "ETX", dice(20) === 0 ? "0G" : undefined);
    parts.push(dice(15) === 0 ? wire + wire : wire, dice(30) === 0 ? "<EOT><ENQ>" : "");
  }
  if (dice(5) > 0) parts.push("<EOT>");
  return bytes(parts.join(""));
}

/** A message of the agent, with a frame per record. */
const OURS = "H|\\^&<CR>P|1<CR>O|1|4711||^^^GLU<CR>L|1|N<CR>";
const OUR_FRAMES = OURS.split(/(?<=<CR>)/).map((record, index) => frame(index + 1, record));
const SAID = ["<ACK>", "<NAK>", "<ENQ>", "<EOT>", ...OUR_FRAMES];
const OUTCOME =
  /^(?:no reply to (?:ENQ|frame [1-4]) within 15 s|frame [1-4] was not accepted in 6 tries|no transfer after 6 ENQs: .*|the connection closed)$/;
const TIMERS = [
  FRAME_END_TIMEOUT_MS,
  RECEIVE_TIMEOUT_MS,
  REPLY_TIMEOUT_MS,
  BUSY_MS,
  HOST_CONTENTION_MS,
  INSTRUMENT_CONTENTION_MS,
  INTERRUPT_MS,
  GARBLED_MS,
];

/** Returns the fault of actions; null for valid ones. */
function fault(actions: readonly LinkAction[]): string | null {
  for (const [index, action] of actions.entries()) {
    switch (action.do) {
      case "reply":
        if (!SAID.includes(show(action.bytes))) return `reply ${show(action.bytes)}`;
        break;
      case "sent":
        // Only the reply to the last frame gives "sent", and it frees the line.
        if (index === 0 && actions.every((other) => other.do !== "reply")) return "sent without a word";
        break;
      case "unsent":
        if (!OUTCOME.test(action.reason)) return `unsent: ${action.reason}`;
        break;
      case "deliver": {
        const { message, incomplete } = action;
        if (message.length === 0 || message.length > MESSAGE_BYTES_MAX) return `${message.length} bytes delivered`;
        if (incomplete === "") return "incomplete for no reason";
        if (incomplete === null && !/(?:^|\r)L[^\r]*\r?$/i.test(Buffer.from(message).toString("latin1"))) {
          return `complete without an L record: ${show(message)}`;
        }
        break;
      }
      case "warn":
        if (!/^[\x20-\x7e]{5,100}$/.test(action.reason)) return `warning ${JSON.stringify(action.reason)}`;
        break;
      case "timer":
        if (action.ms !== null && !TIMERS.includes(action.ms)) return `timer of ${action.ms} ms`;
        if (index !== actions.length - 1) return "a timer that is not the last action";
        break;
      case "identify":
      case "report":
      case "close":
        return `${action.do}, which no ASTM link does`;
      default:
        return `action ${JSON.stringify(action satisfies never)}`;
    }
  }
  return null;
}

const GOOD = bytes(sessionOf("H|\\^&", "R|1|^^^GLU|95", "L|1|N"));
const GOOD_ACTIONS = JSON.stringify(new AstmLink().receive(GOOD));
const SENT_ACTIONS = JSON.stringify(sendOurs(new AstmLink()));

/** Checks that after silence or a close the link receives a session and sends a message like a fresh link. */
function recovers(dice: Dice, link: AstmLink): string | null {
  if (dice(2) === 0) {
    const wrong = fault(link.close());
    if (wrong !== null) return wrong;
  }
  for (let waits = 0; !link.isIdle; waits++) {
    // The timers of a frame end, of a refused frame, of 30 s and of a waiting message expire in turn.
    if (waits === 4) return `${link.state} after four timeouts`;
    const wrong = fault(link.timeout());
    if (wrong !== null) return wrong;
  }
  const received = JSON.stringify(link.receive(GOOD));
  if (received !== GOOD_ACTIONS) return `the good session after it: ${received}`;
  const sent = JSON.stringify(sendOurs(link));
  return sent === SENT_ACTIONS ? null : `the message sent after it: ${sent}`;
}

/** Sends a message to a device that acknowledges everything. */
function sendOurs(link: AstmLink): LinkAction[] {
  const acknowledged = Array.from({ length: 1 + OUR_FRAMES.length }, () => bytes("<ACK>"));
  return [link.send(bytes(OURS)), ...acknowledged.map((reply) => link.receive(reply))].flat();
}

/** Feeds the wire in pieces. Refused pieces, gaps, timeouts and messages to send occur anywhere. */
function feed(dice: Dice, link: AstmLink, wire: Uint8Array): string | null {
  /** Messages given to send() that are neither sent nor unsent. */
  let offered = 0;
  function faultOf(actions: readonly LinkAction[]): string | null {
    offered -= actions.filter((action) => action.do === "sent" || action.do === "unsent").length;
    return offered < 0 ? "an outcome without a message" : fault(actions);
  }
  for (let at = 0; at < wire.length; ) {
    if (offered === 0 && dice(20) === 0) {
      offered = 1;
      const wrong = faultOf(link.send(bytes(OURS)));
      if (wrong !== null) return wrong;
    }
    const isReply = offered === 1 && dice(4) > 0;
    const chunk = isReply ? Uint8Array.of(pick(dice, REPLIES)) : wire.subarray(at, at + 1 + dice(80));
    if (!isReply) at += chunk.length;
    const wrong = faultOf(dice(20) === 0 ? link.refuse(chunk) : link.receive(chunk));
    if (wrong !== null) return wrong;
    if (dice(60) === 0) link.gap();
    const late = dice(40) === 0 ? faultOf(link.timeout()) : null;
    if (late !== null) return late;
  }
  return null;
}

/** Plays one session with faults. @returns the fault and the session */
function roundFault(seed: number, link: AstmLink, frames: number): string | null {
  const dice = diceOf(seed);
  const wire = mutated(dice, session(dice, frames), CONTROLS);
  try {
    const wrong = feed(dice, link, wire) ?? recovers(dice, link);
    return wrong === null ? null : `${wrong}\n${show(wire)}`;
  } catch (error) {
    return `${String(error)}\n${show(wire)}`;
  }
}

test(`${FRAMES} frames with faults throw nothing, and the next good session is received`, () => {
  expect(GOOD_ACTIONS.match(/"deliver"/g)).toHaveLength(1);
  expect(SENT_ACTIONS.match(/"sent"/g)).toHaveLength(1);
  // One link receives all sessions, so that each starts in the state that the last one leaves.
  const sessions = fc.array(fc.nat(), { minLength: SESSIONS, maxLength: SESSIONS });
  const property = fc.property(sessions, (seeds) => {
    const [first = 0] = seeds;
    const link = new AstmLink({ role: first % 2 === 0 ? "host" : "instrument", interrupts: first % 3 === 0 });
    for (const seed of seeds) expect(roundFault(seed, link, 1 + (seed % FRAMES_MAX))).toBe(null);
  });
  const framesARun = (SESSIONS * (1 + FRAMES_MAX)) / 2;
  fc.assert(property, { numRuns: Math.ceil(FRAMES / framesARun), ...(SEED === null ? {} : { seed: SEED }) });
}, 600_000);

/** Endless numbered frames of one message. */
function* endlessMessage(): Generator<Uint8Array> {
  const text = new Uint8Array(60_000).fill(0x78);
  for (let number = 1; ; number++) yield encodeFrame(number, text, ETB);
}

test.each([
  ["text", "<STX>1", "x"],
  ["text between frames", "", "x"],
  ["STX", "", "<STX>"],
  ["ENQ", "<STX>1", "<ENQ>"],
  ["NUL", "<STX>1", "<NUL>"],
  ["CR", "<STX>1", "<CR>"],
  ["a message", "", endlessMessage()],
  ["frames with bad checksums", "", frame(1, "x".repeat(1_000), "ETX", "0G")],
])("endless %s takes no more memory than its bound", (_, begin, endless) => {
  const link = new AstmLink();
  const before = process.memoryUsage().arrayBuffers;
  link.receive(bytes(`<ENQ>${begin}`));
  const chunk = bytes(typeof endless === "string" ? endless.repeat(Math.ceil(60_000 / bytes(endless).length)) : "");
  for (let sent = 0; sent < 3 * MESSAGE_BYTES_MAX; ) {
    const next = typeof endless === "string" ? chunk : (endless.next().value as Uint8Array);
    sent += next.length;
    expect(fault(link.receive(next))).toBe(null);
  }
  const held = process.memoryUsage().arrayBuffers - before;
  const [last] = link.close();
  // The message and two frames, each in a doubled buffer, and garbage that is not collected yet.
  expect(held).toBeLessThan(2 * MESSAGE_BYTES_MAX + 4 * FRAME_BYTES_MAX + 3 * MESSAGE_BYTES_MAX);
  expect(last?.do === "deliver" ? last.message.length : 0).toBeLessThanOrEqual(MESSAGE_BYTES_MAX);
  expect(JSON.stringify(link.receive(GOOD))).toBe(GOOD_ACTIONS);
});
