import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { LinkAction } from "../../../../agent/protocols/link.ts";
import { Poct1Link } from "../../../../agent/protocols/poct1/link.ts";
import { DOCUMENT_BYTES_MAX } from "../../../../agent/protocols/poct1/xml/document-splitter.ts";
import { type Dice, diceOf, mutated } from "../../../support/runner/dice.ts";
import { MEANINGFUL, randomConversation } from "./device.ts";
import { faultOf } from "./transcript.ts";
import { fixedContext } from "../../../support/protocols/wire.ts";
import { bytes, endOfTopic, escape, hello, observation, said, status, DialogueHarness, wordOf, XML } from "./wire.ts";
import { soakCount } from "../../../support/runner/soak.ts";

// Dialogues of devices that send anything at any time, and streams with faults of every kind. fast-check prints its seed with
// a failure; FUZZ_SEED=n repeats it.

/** Short sessions with faults. */
const MUTATED = Number(process.env["MUTATED_SESSIONS"] ?? soakCount(20_000));
const SESSIONS = Number(process.env["FUZZ_SESSIONS"] ?? soakCount(2_000));
const seeds = process.env["FUZZ_SEED"] === undefined ? {} : { seed: Number(process.env["FUZZ_SEED"]) };

test(`${SESSIONS} dialogues obey the rules`, () => {
  const property = fc.property(fc.nat(), fc.integer({ min: 1, max: 80 }), (seed, steps) => {
    const { lines, requestEach } = randomConversation(seed, steps);
    expect(faultOf(lines, requestEach)).toBe(null);
  });
  fc.assert(property, { numRuns: SESSIONS, ...seeds });
}, 600_000);

function deliveries(actions: readonly LinkAction[]): string[] {
  return actions.flatMap((action) =>
    action.do === "deliver" ? [`${action.incomplete}: ${Buffer.from(action.message).toString("latin1")}`] : [],
  );
}

test(`${SESSIONS} dialogues deliver the same in a replay at another time, with other timers`, () => {
  const property = fc.property(fc.nat(), fc.nat(), (seed, other) => {
    const dice = diceOf(other);
    const { talk, events } = randomConversation(seed, 40);
    const again = new Poct1Link({ ...fixedContext, now: () => "2031-01-01T00:00:00+00:00" });
    const delivered: string[] = [];
    for (const event of events) {
      delivered.push(...deliveries(event === "timeout" ? again.timeout() : again.receive(bytes(event))));
      if (dice(5) === 0) delivered.push(...deliveries(again.timeout()));
    }
    expect(delivered).toEqual(talk.delivered.map(({ message, incomplete }) => `${incomplete}: ${message}`));
  });
  fc.assert(property, { numRuns: SESSIONS, ...seeds });
}, 600_000);

test(`${SESSIONS / 10} long dialogues deliver the same when split at every rest`, () => {
  let rests = 0;
  const property = fc.property(fc.nat(), (seed) => {
    const { events } = randomConversation(seed, 300);
    const live = new Poct1Link(fixedContext);
    let replayed = new Poct1Link(fixedContext);
    for (const event of events) {
      const memory = live.isIdle ? live.memory : null;
      if (memory !== null) {
        rests += 1;
        live.restore(memory);
        replayed = new Poct1Link(fixedContext);
        replayed.restore(memory);
      }
      const delivered = (conversation: Poct1Link) =>
        deliveries(event === "timeout" ? conversation.timeout() : conversation.receive(bytes(event)));
      expect(delivered(replayed)).toEqual(delivered(live));
    }
  });
  fc.assert(property, { numRuns: SESSIONS / 10, ...seeds });
  expect(rests).toBeGreaterThan(SESSIONS / 10);
}, 600_000);

/** Returns the fault of actions; null for valid ones. */
function fault(actions: readonly LinkAction[]): string | null {
  for (const [index, action] of actions.entries()) {
    if (action.do === "reply") wordOf(action.bytes); // throws for an unreadable document
    if (action.do === "deliver" && action.message.length > 2 * DOCUMENT_BYTES_MAX) return "more than the limits";
    if (action.do === "warn" && !/^[\x20-\x7e]{5,160}$/.test(action.reason)) return `warning ${action.reason}`;
    if (action.do === "timer" && index !== actions.length - 1) return "a timer that is not the last action";
  }
  return null;
}

/** Returns the bytes of a session with faults, in random pieces. */
function pieces(dice: Dice): Uint8Array[] {
  const { events } = randomConversation(dice(1_000_000), 12);
  const documents = events.filter((event) => event !== "timeout");
  const wire = mutated(
    dice,
    bytes(documents.map((text) => (dice(8) === 0 ? `\x0b${text}\x1c\r` : text)).join("\n")),
    MEANINGFUL,
  );
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < wire.length; at += chunks.at(-1)?.length ?? 0) {
    chunks.push(wire.subarray(at, at + 1 + dice(600)));
  }
  return chunks;
}

function withoutTimers(actions: readonly LinkAction[]): LinkAction[] {
  return actions.filter((action) => action.do !== "timer");
}

test(`${SESSIONS} mutated streams throw nothing, and give the same in one chunk, in pieces and byte by byte`, () => {
  const property = fc.property(fc.nat(), (seed) => {
    const chunks = pieces(diceOf(seed));
    const play = (some: readonly Uint8Array[]) => {
      const conversation = new Poct1Link(fixedContext);
      const actions = some.map((chunk) => conversation.receive(chunk));
      actions.push(conversation.close());
      for (const each of actions) expect(fault(each)).toBe(null);
      expect(conversation.isIdle).toBe(true);
      return withoutTimers(actions.flat());
    };
    const whole = play([Buffer.concat(chunks)]);
    // Byte by byte is slow, so only every fifth stream.
    const bytewise = chunks.flatMap((chunk) => Array.from(chunk, (byte) => Uint8Array.of(byte)));
    expect(play(seed % 5 === 0 ? bytewise : chunks)).toEqual(whole);
  });
  fc.assert(property, { numRuns: SESSIONS, ...seeds });
}, 600_000);

test(`after each of ${MUTATED} short sessions with faults the next good document is accepted, and no memory is kept`, () => {
  const first = Number(process.env["FUZZ_SEED"] ?? 1);
  const shapes = [hello(), status(2, 1), observation(3), said("KPA.R01", 4), endOfTopic(5), escape(6, 1, "CNC")];
  const good = bytes(`]]>-->${XML}${hello()}${observation(7)}`);
  const before = process.memoryUsage().heapUsed;
  for (let seed = first; seed < first + MUTATED; seed++) {
    const dice = diceOf(seed);
    const documents = Array.from({ length: 1 + dice(3) }, () => XML.repeat(dice(2)) + shapes[dice(shapes.length)]!);
    const wire = mutated(dice, bytes(hello() + documents.join("")), MEANINGFUL);
    const conversation = new Poct1Link(fixedContext);
    const cut = dice(wire.length + 1);
    const actions = [...conversation.receive(wire.subarray(0, cut)), ...conversation.receive(wire.subarray(cut))];
    const isOver = actions.some((action) => action.do === "close");
    const after = conversation.receive(good);
    const isTaken = deliveries(after).at(-1) === `null: ${XML}${hello()}${observation(7)}`;
    if (fault(actions.filter((action) => action.do !== "timer")) !== null || (!isTaken && !isOver)) {
      throw new Error(`FUZZ_SEED=${seed}: ${fault(actions) ?? `not taken: ${Buffer.from(wire).toString("latin1")}`}`);
    }
  }
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(200e6);
}, 3_600_000);

test(`${SESSIONS} streams with refused pieces deliver the same live as in a replay with gaps`, () => {
  const property = fc.property(fc.nat(), fc.boolean(), (seed, bent) => {
    const dice = diceOf(seed);
    const chunks = bent
      ? pieces(dice)
      : Array.from({ length: 12 }, (_, at) => bytes(at === 0 ? hello() : observation(at))).flatMap((document) => {
          const cut = dice(document.length);
          return [document.subarray(0, cut), document.subarray(cut)];
        });
    const live = new Poct1Link(fixedContext);
    const replayed = new Poct1Link(fixedContext);
    const [delivered, again]: [string[], string[]] = [[], []];
    const refused: LinkAction[] = [];
    let gap = false;
    for (const chunk of chunks) {
      if (dice(6) === 0) {
        refused.push(...live.refuse(chunk));
        gap = true;
        continue;
      }
      if (gap) {
        delivered.push(...deliveries(live.gap()));
        again.push(...deliveries(replayed.gap()));
      }
      gap = false;
      delivered.push(...deliveries(live.receive(chunk)));
      again.push(...deliveries(replayed.receive(chunk)));
    }
    expect(again).toEqual(delivered);
    expect(fault(withoutTimers(refused))).toBe(null);
    expect(deliveries(refused)).toEqual([]);
    const words = refused.map((action) => (action.do === "reply" ? wordOf(action.bytes).text : ""));
    expect(words.filter((word) => word.startsWith("ACK AA"))).toEqual([]);
  });
  fc.assert(property, { numRuns: SESSIONS, ...seeds });
}, 600_000);

test("control ids start again after 99999", () => {
  const talk = new DialogueHarness();
  const keepAlive = bytes(said("KPA.R01", 2).repeat(1_000));
  for (let count = 0; count < 100; count++) talk.link.receive(keepAlive);
  expect(talk.hears(said("KPA.R01", 3))).toEqual(["ACK AE 3 expected HEL"]);
  expect(talk.lastId).toBe(2);
});
