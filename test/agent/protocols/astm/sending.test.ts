import { describe, expect, test } from "vitest";
import {
  BUSY_MS,
  ENQUIRIES_MAX,
  FRAME_TRIES_MAX,
  GARBLED_MS,
  HOST_CONTENTION_MS,
  INSTRUMENT_CONTENTION_MS,
  INTERRUPT_MS,
  REPLY_TIMEOUT_MS,
} from "../../../../agent/protocols/astm/sender.ts";
import { RECEIVE_TIMEOUT_MS } from "../../../../agent/protocols/astm/receiver.ts";
import { bytes, complete, frame, sessionOf, station } from "./wire.ts";

const H = "H|\\^&|||Vetwire";
const O = "O|1|4711||^^^GLU";
const L = "L|1|N";
const MESSAGE = [H, O, L].map((record) => `${record}<CR>`).join("");
/** Frames of MESSAGE after the ACK of ENQ. */
const FRAMES = [frame(1, `${H}<CR>`), frame(2, `${O}<CR>`), frame(3, `${L}<CR>`)] as const;

/** A host that is sending: its ENQ and `acknowledged` frames are acknowledged. */
function sending(acknowledged: number, options: Parameters<typeof station>[0] = {}) {
  const host = station(options);
  host.send(MESSAGE);
  for (let count = 0; count <= acknowledged; count++) host.receive("<ACK>");
  return host;
}

describe("a message is sent", () => {
  test("ENQ comes first, then one frame after each ACK, then EOT", () => {
    const host = station();
    host.send(MESSAGE);
    expect(host.replies()).toBe("<ENQ>");
    expect(host.timer()).toBe(REPLY_TIMEOUT_MS);
    for (const [index, sent] of FRAMES.entries()) {
      host.receive("<ACK>");
      expect(host.replies()).toBe(`<ENQ>${FRAMES.slice(0, index).join("")}${sent}`);
      expect(host.timer()).toBe(REPLY_TIMEOUT_MS);
      expect(host.outcomes).toEqual([]);
      expect(host.link.isIdle).toBe(false);
    }
    host.receive("<ACK>");
    expect(host.replies()).toBe(`<ENQ>${FRAMES.join("")}<EOT>`);
    expect(host.outcomes).toEqual(["sent"]);
    expect(host.timer()).toBe(null);
    expect(host.link.isIdle).toBe(true);
  });

  test("frame 0 follows frame 7, and numbers restart at 1 with the next message", () => {
    const host = station();
    for (let turn = 0; turn < 2; turn++) {
      host.send("C|1<CR>".repeat(10));
      for (let replies = 0; replies < 11; replies++) host.receive("<ACK>");
    }
    const numbers = host
      .replies()
      .match(/(?<=<STX>)\d/g)
      ?.join("");
    expect(numbers).toBe("12345670121234567012");
    expect(host.outcomes).toEqual(["sent", "sent"]);
  });

  test.each([
    ["record", undefined, ["1H|\\^&|||Vetwire<CR><ETX>", "2O|1|4711||^^^GLU<CR><ETX>", "3L|1|N<CR><ETX>"]],
    ["etb-record", undefined, ["1H|\\^&|||Vetwire<CR><ETB>", "2O|1|4711||^^^GLU<CR><ETB>", "3L|1|N<CR><ETX>"]],
    ["message", undefined, ["1H|\\^&|||Vetwire<CR>O|1|4711||^^^GLU<CR>L|1|N<CR><ETX>"]],
    ["message", 18, ["1H|\\^&|||Vetwire<CR>O|<ETB>", "21|4711||^^^GLU<CR>L|1<ETB>", "3|N<CR><ETX>"]],
    ["record", 12, ["1H|\\^&|||Vetw<ETB>", "2ire<CR><ETX>", "3O|1|4711||^^<ETB>", "4^GLU<CR><ETX>", "5L|1|N<CR><ETX>"]],
  ] as const)("a frame holds a %s, at most %s bytes of text", (framing, frameBytes, expected) => {
    const host = station({ framing, ...(frameBytes === undefined ? {} : { frameBytes }) });
    host.send(MESSAGE);
    while (host.outcomes.length === 0) host.receive("<ACK>");
    expect(host.replies().match(/(?<=<STX>).*?<ET[XB]>/g)).toEqual(expected);
  });

  test("a frame has 240 bytes of text by default, and up to 63 993 if configured", () => {
    const record = "x".repeat(100_000);
    for (const frameBytes of [240, 63_993]) {
      const host = station(frameBytes === 240 ? {} : { frameBytes });
      host.send(`${record}<CR>`);
      host.receive("<ACK>");
      expect(host.replies()).toBe(`<ENQ>${frame(1, "x".repeat(frameBytes), "ETB")}`);
    }
  });

  test("a second message before the first is settled throws", () => {
    expect(() => sending(1).send(MESSAGE)).toThrow("a message is offered before the last one is sent or unsent");
  });
});

describe("missing and wrong replies", () => {
  test("15 s without a reply to ENQ give EOT and unsent", () => {
    const host = station();
    host.send(MESSAGE);
    host.wait(REPLY_TIMEOUT_MS - 1);
    expect(host.outcomes).toEqual([]);
    host.wait(1);
    expect(host.replies()).toBe("<ENQ><EOT>");
    expect(host.outcomes).toEqual(["no reply to ENQ within 15 s"]);
    expect(host.link.isIdle).toBe(true);
    expect(host.timer()).toBe(null);
  });

  test("15 s without a reply to a frame give EOT and unsent", () => {
    const host = sending(1);
    host.wait(REPLY_TIMEOUT_MS);
    expect(host.replies()).toBe(`<ENQ>${FRAMES[0]}${FRAMES[1]}<EOT>`);
    expect(host.outcomes).toEqual(["no reply to frame 2 within 15 s"]);
    expect(host.link.isIdle).toBe(true);
  });

  test("NAK repeats the frame under its number", () => {
    const host = sending(1);
    host.receive("<NAK>");
    host.receive("<ACK>");
    expect(host.replies()).toBe(`<ENQ>${FRAMES[0]}${FRAMES[1]}${FRAMES[1]}${FRAMES[2]}`);
    expect(host.said().warnings).toEqual(["frame 2 got NAK"]);
  });

  test("six NAKs give EOT and unsent; each frame has its own six", () => {
    const host = sending(0);
    for (const [index, sent] of [FRAMES[0], FRAMES[1]].entries()) {
      for (let tries = 1; tries < FRAME_TRIES_MAX; tries++) host.receive("<NAK>");
      expect(host.replies().split(sent)).toHaveLength(1 + FRAME_TRIES_MAX);
      if (index === 0) host.receive("<ACK>");
    }
    expect(host.outcomes).toEqual([]);
    host.receive("<NAK>");
    expect(host.replies().endsWith(`${FRAMES[1]}<EOT>`)).toBe(true);
    expect(host.outcomes).toEqual(["frame 2 was not accepted in 6 tries"]);
    expect(host.link.isIdle).toBe(true);
  });

  test.each(["x", "<ENQ>", "<STX>", "<LF>", "<NUL>"])("%j as a reply counts as NAK after a short wait", (noise) => {
    const host = sending(1);
    host.receive(noise);
    expect(host.timer()).toBe(GARBLED_MS);
    host.receive(noise);
    expect(host.timer()).toBe(GARBLED_MS);
    host.wait(GARBLED_MS);
    expect(host.replies()).toBe(`<ENQ>${FRAMES[0]}${FRAMES[1]}${FRAMES[1]}`);
    expect(host.timer()).toBe(REPLY_TIMEOUT_MS);
  });

  test("noise before a reply does not repeat the frame", () => {
    for (const [noise, reply] of [["x~", "<ACK>"] as const, ["x~<ACK>", ""] as const]) {
      const host = sending(1);
      host.receive(noise);
      host.receive(reply);
      expect(host.replies()).toBe(`<ENQ>${FRAMES.join("")}`);
    }
  });

  test("bytes after a reply in its chunk are ignored", () => {
    for (const replies of ["<ACK><ACK><ACK>", "<NAK><ACK>"]) {
      const host = sending(0);
      host.receive(replies);
      expect(host.replies()).toBe(`<ENQ>${FRAMES[0]}${replies.startsWith("<ACK>") ? FRAMES[1] : FRAMES[0]}`);
    }
  });

  test("a closed connection makes the message unsent in every state", () => {
    for (const acknowledged of [-1, 0, 2]) {
      const host = sending(acknowledged);
      host.close();
      host.close();
      expect(host.outcomes).toEqual(["the connection closed"]);
      expect(host.link.isIdle).toBe(true);
      expect(host.timer()).toBe(null);
    }
  });
});

describe("a busy receiver", () => {
  test("NAK to ENQ delays the next ENQ by 10 s", () => {
    const host = station();
    host.send(MESSAGE);
    host.receive("<NAK>");
    expect([host.timer(), host.link.isIdle]).toEqual([BUSY_MS, false]);
    host.wait(BUSY_MS);
    expect(host.replies()).toBe("<ENQ><ENQ>");
  });

  test("after six ENQs and the last 10 s the message is unsent", () => {
    const host = station();
    host.send(MESSAGE);
    for (let enquiry = 1; enquiry <= ENQUIRIES_MAX; enquiry++) {
      host.receive("<NAK>");
      expect(host.outcomes).toEqual([]);
      host.wait(BUSY_MS);
    }
    expect(host.replies()).toBe("<ENQ>".repeat(ENQUIRIES_MAX));
    expect(host.outcomes).toEqual(["no transfer after 6 ENQs: the other side was busy or wanted to send"]);
    expect(host.link.isIdle).toBe(true);
    host.send(MESSAGE);
    expect(host.replies()).toBe("<ENQ>".repeat(ENQUIRIES_MAX + 1));
  });

  test("a session of the other side delays ENQ to 10 s after it", () => {
    const host = station();
    host.send(MESSAGE);
    host.receive("<NAK>");
    host.receive(sessionOf(H, L));
    expect(host.deliveries).toEqual([complete(H, L)]);
    expect(host.replies()).toBe("<ENQ><ACK><ACK><ACK>");
    expect(host.timer()).toBe(BUSY_MS);
    host.wait(BUSY_MS);
    expect(host.replies().endsWith("<ENQ>")).toBe(true);
  });
});

describe("contention", () => {
  test("the host lets the instrument send first, then sends", () => {
    const host = station({ role: "host" });
    host.send(MESSAGE);
    host.receive("<ENQ>");
    expect([host.replies(), host.timer()]).toEqual(["<ENQ>", HOST_CONTENTION_MS]);
    host.receive("<ENQ>");
    expect([host.replies(), host.timer()]).toEqual(["<ENQ><ACK>", RECEIVE_TIMEOUT_MS]);
    host.receive(`${frame(1, `${H}<CR>${L}<CR>`)}<EOT>`);
    expect(host.deliveries).toEqual([complete(H, L)]);
    expect(host.replies()).toBe("<ENQ><ACK><ACK><ENQ>");
  });

  test("the host repeats ENQ after 20 s without an ENQ", () => {
    const host = station();
    host.send(MESSAGE);
    host.receive("<ENQ>");
    host.wait(HOST_CONTENTION_MS);
    expect(host.replies()).toBe("<ENQ><ENQ>");
  });

  test("the instrument repeats ENQ after 1 s", () => {
    const instrument = station({ role: "instrument" });
    instrument.send(MESSAGE);
    instrument.receive("<ENQ>");
    expect([instrument.replies(), instrument.timer()]).toEqual(["<ENQ>", INSTRUMENT_CONTENTION_MS]);
    instrument.wait(INSTRUMENT_CONTENTION_MS);
    expect(instrument.replies()).toBe("<ENQ><ENQ>");
  });

  test("a doubled ENQ counts once", () => {
    const host = station();
    host.send(MESSAGE);
    host.receive("<ENQ><ENQ>");
    expect([host.replies(), host.timer()]).toEqual(["<ENQ>", HOST_CONTENTION_MS]);
  });
});

describe("a busy line", () => {
  test("a message given while the device sends waits for its EOT", () => {
    const host = station();
    host.receive("<ENQ>");
    host.send(MESSAGE);
    host.receive(frame(1, `${H}<CR>`));
    host.receive(frame(2, `${L}<CR>`));
    expect(host.replies()).toBe("<ACK><ACK><ACK>");
    host.receive("<EOT>");
    expect(host.replies()).toBe("<ACK><ACK><ACK><ENQ>");
  });

  test("a device that sends EOT and ENQ together keeps the line", () => {
    const host = station();
    host.receive("<ENQ>");
    host.send(MESSAGE);
    host.receive("<EOT><ENQ>");
    expect(host.replies()).toBe("<ACK><ACK>");
    host.receive("<EOT>");
    expect(host.replies()).toBe("<ACK><ACK><ENQ>");
  });

  test("30 s of silence free the line", () => {
    const host = station();
    host.receive("<ENQ>");
    host.send(MESSAGE);
    host.wait(RECEIVE_TIMEOUT_MS);
    expect(host.replies()).toBe("<ACK><ENQ>");
    expect(host.timer()).toBe(REPLY_TIMEOUT_MS);
  });
});

describe("interrupts", () => {
  test("EOT in place of ACK stops the sender for 15 s, and the message starts again", () => {
    const host = sending(1);
    host.receive("<EOT>");
    expect(host.replies()).toBe(`<ENQ>${FRAMES[0]}${FRAMES[1]}<EOT>`);
    expect([host.timer(), host.outcomes, host.link.isIdle]).toEqual([INTERRUPT_MS, [], false]);
    host.wait(INTERRUPT_MS);
    host.receive("<ACK>");
    expect(host.replies()).toBe(`<ENQ>${FRAMES[0]}${FRAMES[1]}<EOT><ENQ>${FRAMES[0]}`);
  });

  test("the end of the receiver's session resumes with ENQ immediately", () => {
    const host = sending(1);
    host.receive("<EOT>");
    host.receive(sessionOf(H, L));
    expect(host.deliveries).toEqual([complete(H, L)]);
    expect(host.replies().endsWith("<EOT><ACK><ACK><ACK><ENQ>")).toBe(true);
  });

  test("EOT for the last frame settles the message and keeps the line free for 15 s", () => {
    const host = sending(2);
    host.receive("<EOT>");
    expect([host.outcomes, host.timer(), host.link.isIdle]).toEqual([["sent"], INTERRUPT_MS, false]);
    host.send(MESSAGE);
    expect(host.replies()).toBe(`<ENQ>${FRAMES.join("")}<EOT>`);
    host.wait(INTERRUPT_MS);
    expect(host.replies()).toBe(`<ENQ>${FRAMES.join("")}<EOT><ENQ>`);
  });

  test("the agent does not interrupt by default", () => {
    const replies = [false, true].map((interrupts) => {
      const host = station({ interrupts });
      host.receive("<ENQ>");
      host.receive(frame(1, `${H}<CR>`));
      host.send(MESSAGE);
      host.receive(frame(2, `${O}<CR>`));
      return host.replies();
    });
    expect(replies).toEqual(["<ACK><ACK><ACK>", "<ACK><ACK><EOT>"]);
  });

  test("an interrupting agent acknowledges ENQ and repetitions, and interrupts at a new frame", () => {
    const host = station({ interrupts: true });
    host.receive("<ENQ>");
    host.send(MESSAGE);
    for (const wire of [frame(1, `${H}<CR>`), frame(1, `${H}<CR>`), frame(2, `${L}<CR>`)]) host.receive(wire);
    expect(host.replies()).toBe("<ACK><EOT><ACK><EOT>");
    expect(host.timer()).toBe(RECEIVE_TIMEOUT_MS);
    host.receive("<EOT>");
    expect(host.replies()).toBe("<ACK><EOT><ACK><EOT><ENQ>");
    expect(host.deliveries).toEqual([complete(H, L)]);
  });

  test("an interrupted agent does not interrupt", () => {
    const host = sending(1, { interrupts: true });
    host.receive("<EOT>");
    host.receive("<ENQ>");
    host.receive(frame(1, `${H}<CR>`));
    expect(host.replies().endsWith("<EOT><ACK><ACK>")).toBe(true);
  });
});

describe("refused bytes", () => {
  test("a reply that could not be stored does not count", () => {
    const host = sending(0);
    host.refuse("<ACK>");
    expect(host.replies()).toBe(`<ENQ>${FRAMES[0]}`);
    expect(host.said().warnings).toEqual(["cannot store: reply ignored"]);
    expect(host.timer()).toBe(REPLY_TIMEOUT_MS);
    host.gap();
    host.receive("<ACK>");
    expect(host.replies()).toBe(`<ENQ>${FRAMES[0]}${FRAMES[1]}`);
  });

  test("a session is refused while a message waits", () => {
    const host = station();
    host.send(MESSAGE);
    host.receive("<NAK>");
    host.refuse("<ENQ>");
    expect([host.replies(), host.timer()]).toEqual(["<ENQ><NAK>", BUSY_MS]);
  });
});

test("the given message is neither copied nor changed", () => {
  const message = bytes(MESSAGE);
  const host = station();
  host.link.send(message);
  for (let replies = 0; replies < 4; replies++) host.receive("<ACK>");
  expect(message).toEqual(bytes(MESSAGE));
});

test("an empty message is ENQ and EOT", () => {
  const host = station();
  host.send("");
  host.receive("<ACK>");
  expect([host.replies(), host.outcomes]).toEqual(["<ENQ><EOT>", ["sent"]]);
});
