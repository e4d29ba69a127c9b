import { describe, expect, test } from "vitest";
import { diceOf } from "../../../support/dice.ts";
import { type Frame, textsOf, transmit } from "./sender.ts";
import { type Receiver, receiver } from "./wire.ts";

// A sender that keeps the standard talks to the link over a line that does damage, or beside a disk that refuses.
// Whatever one damaged byte does: every message is delivered complete exactly once, in order, with its own text; no
// sending gets two replies; what is delivered as incomplete is the beginning of a message.

const MESSAGES: readonly (readonly Frame[])[] = [
  [
    { text: "H|\\^&<CR>", terminator: "ETX" },
    { text: "R|1|^^^GLU|9", terminator: "ETB" },
    { text: "5<CR>", terminator: "ETB" },
    { text: "L|1|N<CR>", terminator: "ETX" },
  ],
  [{ text: "H|\\^&<CR>R|1|^^^CRE|1.1<CR>L|1|N<CR>", terminator: "ETX" }],
  [{ text: "H|\\^&<CR>R|1|^^^ALT|31<CR>L|1|N", terminator: "ETX" }],
];

/** Bytes that an undisturbed transmission takes. */
const LENGTH = (() => {
  let count = 0;
  transmit(MESSAGES, { damage: (sent) => ((count += sent.length), sent) });
  return count;
})();

const CONTROLS = Array.from({ length: 32 }, (_, value) => value);
/** `npm run check` takes a part of it. */
const QUICK = process.env["SLOW"] === "0";
const EVERY_BYTE = Array.from({ length: 256 }, (_, value) => value);

/** Runs what is sent through `change`, which sees each byte with its place in all that was sent. */
function transmitOver(change: (byte: number, at: number) => readonly number[]) {
  let at = 0;
  return transmit(MESSAGES, { damage: (sent) => Uint8Array.from([...sent].flatMap((byte) => change(byte, at++))) });
}

const TEXTS = textsOf(MESSAGES);

const INTACT = { accepted: MESSAGES.length, repliesMax: 1, whole: TEXTS, strange: [] };

function outcomeOf({ accepted, repliesMax, deliveries }: ReturnType<typeof transmit>) {
  const whole = deliveries.filter(({ incomplete }) => incomplete === null).map(({ message }) => message);
  const begun = deliveries.filter(({ incomplete }) => incomplete !== null).map(({ message }) => message);
  return { accepted, repliesMax, whole, strange: begun.filter((head) => !TEXTS.some((text) => text.startsWith(head))) };
}

describe("a line that damages frames", { timeout: 120_000 }, () => {
  test("an undamaged line carries everything in one session", () => {
    const outcome = transmitOver((byte) => [byte]);
    expect(outcomeOf(outcome)).toEqual(INTACT);
    expect([outcome.sessions, outcome.warnings]).toEqual([1, []]);
  });

  test("any changed byte is survived", () => {
    for (let place = 0; place < LENGTH; place++) {
      for (let bit = 1; bit < 256; bit *= 2) {
        expect(outcomeOf(transmitOver((byte, at) => [at === place ? byte ^ bit : byte]))).toEqual(INTACT);
      }
      for (const value of QUICK ? CONTROLS : EVERY_BYTE) {
        expect(outcomeOf(transmitOver((byte, at) => [at === place ? value : byte]))).toEqual(INTACT);
      }
    }
  });

  test("any lost byte is survived", () => {
    for (let place = 0; place < LENGTH; place++) {
      expect(outcomeOf(transmitOver((byte, at) => (at === place ? [] : [byte])))).toEqual(INTACT);
    }
  });

  test("any doubled byte or inserted control character is survived", () => {
    for (let place = 0; place < LENGTH; place++) {
      expect(outcomeOf(transmitOver((byte, at) => (at === place ? [byte, byte] : [byte])))).toEqual(INTACT);
      for (const value of CONTROLS) {
        expect(outcomeOf(transmitOver((byte, at) => (at === place ? [value, byte] : [byte])))).toEqual(INTACT);
      }
    }
  });

  test("any lost run of bytes is survived, unless its sum is 0", () => {
    for (let from = 0; from < LENGTH; from++) {
      for (let to = from + 2; to < from + (QUICK ? 20 : 100); to++) {
        let lost = 0;
        const outcome = transmitOver((byte, at) => {
          if (at < from || at >= to) return [byte];
          lost += byte;
          return [];
        });
        if (lost % 256 === 0) continue;
        expect(outcomeOf(outcome)).toEqual(INTACT);
      }
    }
  });
});

describe("a line that damages replies", () => {
  const replies = 1 + MESSAGES.flat().length;

  test.each(["<NAK>", "<ENQ>", "<EOT>", "?"])("any reply that arrives as %j does no harm", (value) => {
    for (let place = 0; place < replies; place++) {
      let at = 0;
      const outcome = transmit(MESSAGES, { damageReply: (reply) => (at++ === place ? value : reply) });
      expect(outcomeOf(outcome)).toEqual(INTACT);
    }
  });

  test("a lost reply repeats a message at most once", () => {
    for (let place = 0; place < replies; place++) {
      let at = 0;
      const outcome = outcomeOf(transmit(MESSAGES, { damageReply: (reply) => (at++ === place ? "" : reply) }));
      const whole = outcome.whole.filter((text, index) => text !== outcome.whole[index - 1]);
      expect({ ...outcome, whole }).toEqual(INTACT);
    }
  });
});

test("a disk outage loses nothing, and the replay gives the same", () => {
  for (let seed = 0; seed < 1_000; seed++) {
    const dice = diceOf(seed);
    /** A fresh link that gets what the spool holds. */
    const record = receiver();
    const live = receiver(() => {
      recordGap();
      record.timeout();
    });
    let refusalsLeft = dice(60);
    let isGapOpen = false;

    // A gap is recorded before whatever is recorded next, and the live link is told at the same place.
    function recordGap(): void {
      if (isGapOpen) for (const each of [live, record]) each.gap();
      isGapOpen = false;
    }

    function store(chunk: Uint8Array): void {
      if (refusalsLeft > 0 && dice(100) < 60) {
        refusalsLeft -= 1;
        isGapOpen = true;
        live.refuseBytes(chunk);
      } else {
        recordGap();
        for (const each of [live, record]) each.receiveBytes(chunk);
      }
    }

    function feed(_: unknown, arrived: Uint8Array): void {
      for (let at = 0; at < arrived.length; ) {
        const chunk = arrived.subarray(at, at + 1 + dice(30));
        at += chunk.length;
        store(chunk);
      }
    }

    const outcome = transmit(MESSAGES, { feed }, live);
    record.close();
    expect(outcomeOf(outcome), `seed ${seed}`).toEqual(INTACT);
    expect(comparable(record), `seed ${seed}`).toEqual(comparable(live));
  }
});

/** The reason why a message is incomplete may differ: a record that misses EOT ends its session later. */
function comparable({ deliveries }: Receiver) {
  return deliveries.map(({ message, incomplete }) => ({ message, isWhole: incomplete === null }));
}
