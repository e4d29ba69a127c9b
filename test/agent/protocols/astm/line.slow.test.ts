import { describe, expect, test } from "vitest";
import { diceOf } from "../../../support/runner/dice.ts";
import { type Frame, textsOf, transmit } from "./sender.ts";
import { type Receiver, receiver } from "./wire.ts";

// Goal: one damaged byte changes no delivery. Method: a model sender uses a line that damages bytes, or a full disk. Every
// message is delivered complete once, in order and unchanged. No frame gets two replies. An incomplete delivery is the start
// of a message.

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

/** Bytes of a transmission without faults. */
const LENGTH = (() => {
  let count = 0;
  transmit(MESSAGES, { damage: (sent) => ((count += sent.length), sent) });
  return count;
})();

const CONTROLS = Array.from({ length: 32 }, (_, value) => value);
/** A part of them in `npm run check`. */
const QUICK = process.env["SLOW"] === "0";
const EVERY_BYTE = Array.from({ length: 256 }, (_, value) => value);

/** Passes each sent byte, with its offset, through `change`. */
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

describe("a line that damages frames", () => {
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
    /** Replays the spooled events to a fresh link. */
    const record = receiver();
    const live = receiver(() => {
      recordGap();
      record.timeout();
    });
    let refusalsLeft = dice(60);
    let isGapOpen = false;

    // A gap is recorded before the next event; the live link receives it at the same position.
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

/** Removes the reason of an incomplete message: without EOT, the session ends later. */
function comparable({ deliveries }: Receiver) {
  return deliveries.map(({ message, incomplete }) => ({ message, isWhole: incomplete === null }));
}
