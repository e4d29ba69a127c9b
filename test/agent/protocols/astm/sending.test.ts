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
/** What goes out for MESSAGE once ENQ is acknowledged. */
const FRAMES = [frame(1, `${H}<CR>`), frame(2, `${O}<CR>`), frame(3, `${L}<CR>`)] as const;

/** A host in the middle of sending: its ENQ and that many frames are acknowledged. */
function sending(acknowledged: number, options: Parameters<typeof station>[0] = {}) {
  const host = station(options);
  host.send(MESSAGE);
  for (let count = 0; count <= acknowledged; count++) host.receive("<ACK>");
  return host;
}

describe("a message is sent", () => {
  test("ENQ first, then frame by frame as each is acknowledged, then EOT", () => {
    const host = station();
    host.send(MESSAGE);
    expect(host.replies()).toBe("<ENQ>");
    expect(host.timer()).toBe(REPLY_TIMEOUT_MS);
    for (const [index, sent] of FRAMES.entries()) {
      host.receive("<ACK>");
      expect(host.replies()).toBe(`<ENQ>${FRAMES.slice(0, index).join("")}${sent}`);
      expect(host.timer()).toBe(REPLY_TIMEOUT_MS);
      expect(host.outcomes).toEqual([]);
      expect(host.link.atRest).toBe(false);
    }
    host.receive("<ACK>");
    expect(host.replies()).toBe(`<ENQ>${FRAMES.join("")}<EOT>`);
    expect(host.outcomes).toEqual(["sent"]);
    expect(host.timer()).toBe(null);
    expect(host.link.atRest).toBe(true);
  });

  test("frame numbers go from 7 to 0, and begin again at 1 with the next message", () => {
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

  test("a frame has 240 bytes of text if nothing else is said, and up to 63 993 where that is said", () => {
    const record = "x".repeat(100_000);
    for (const frameBytes of [240, 63_993]) {
      const host = station(frameBytes === 240 ? {} : { frameBytes });
      host.send(`${record}<CR>`);
      host.receive("<ACK>");
      expect(host.replies()).toBe(`<ENQ>${frame(1, "x".repeat(frameBytes), "ETB")}`);
    }
  });

  test("while one message is on its way another is our own mistake", () => {
    expect(() => sending(1).send(MESSAGE)).toThrow("a message is offered before the last one is sent or unsent");
  });
});

describe("no reply, or not the right one", () => {
  test("15 s without a reply to ENQ: EOT, and the message is given back", () => {
    const host = station();
    host.send(MESSAGE);
    host.wait(REPLY_TIMEOUT_MS - 1);
    expect(host.outcomes).toEqual([]);
    host.wait(1);
    expect(host.replies()).toBe("<ENQ><EOT>");
    expect(host.outcomes).toEqual(["no reply to ENQ within 15 s"]);
    expect(host.link.atRest).toBe(true);
    expect(host.timer()).toBe(null);
  });

  test("15 s without a reply to a frame: EOT, and the message is given back", () => {
    const host = sending(1);
    host.wait(REPLY_TIMEOUT_MS);
    expect(host.replies()).toBe(`<ENQ>${FRAMES[0]}${FRAMES[1]}<EOT>`);
    expect(host.outcomes).toEqual(["no reply to frame 2 within 15 s"]);
    expect(host.link.atRest).toBe(true);
  });

  test("NAK: the same frame again under the same number", () => {
    const host = sending(1);
    host.receive("<NAK>");
    host.receive("<ACK>");
    expect(host.replies()).toBe(`<ENQ>${FRAMES[0]}${FRAMES[1]}${FRAMES[1]}${FRAMES[2]}`);
    expect(host.said().warnings).toEqual(["frame 2 got NAK"]);
  });

  test("six times NAK: EOT, and the message is given back; another frame has its own six", () => {
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
    expect(host.link.atRest).toBe(true);
  });

  test.each(["x", "<ENQ>", "<STX>", "<LF>", "<NUL>"])(
    "%j for a reply counts as NAK once the real reply had its time",
    (noise) => {
      const host = sending(1);
      host.receive(noise);
      expect(host.timer()).toBe(GARBLED_MS);
      host.receive(noise);
      expect(host.timer()).toBe(GARBLED_MS);
      host.wait(GARBLED_MS);
      expect(host.replies()).toBe(`<ENQ>${FRAMES[0]}${FRAMES[1]}${FRAMES[1]}`);
      expect(host.timer()).toBe(REPLY_TIMEOUT_MS);
    },
  );

  test("noise before a reply does not send the frame twice, so no reply is taken for the next frame's", () => {
    for (const [noise, reply] of [["x~", "<ACK>"] as const, ["x~<ACK>", ""] as const]) {
      const host = sending(1);
      host.receive(noise);
      host.receive(reply);
      expect(host.replies()).toBe(`<ENQ>${FRAMES.join("")}`);
    }
  });

  test("what stands behind a reply in the same chunk is no reply to what is sent then", () => {
    for (const replies of ["<ACK><ACK><ACK>", "<NAK><ACK>"]) {
      const host = sending(0);
      host.receive(replies);
      expect(host.replies()).toBe(`<ENQ>${FRAMES[0]}${replies.startsWith("<ACK>") ? FRAMES[1] : FRAMES[0]}`);
    }
  });

  test("a closed connection gives the message back, wherever it was", () => {
    for (const acknowledged of [-1, 0, 2]) {
      const host = sending(acknowledged);
      host.close();
      host.close();
      expect(host.outcomes).toEqual(["the connection closed"]);
      expect(host.link.atRest).toBe(true);
      expect(host.timer()).toBe(null);
    }
  });
});

describe("the other side is busy", () => {
  test("NAK to ENQ: ENQ again after 10 s", () => {
    const host = station();
    host.send(MESSAGE);
    host.receive("<NAK>");
    expect([host.timer(), host.link.atRest]).toEqual([BUSY_MS, false]);
    host.wait(BUSY_MS);
    expect(host.replies()).toBe("<ENQ><ENQ>");
  });

  test("after six ENQs the message is given back, not before the last 10 s are over", () => {
    const host = station();
    host.send(MESSAGE);
    for (let enquiry = 1; enquiry <= ENQUIRIES_MAX; enquiry++) {
      host.receive("<NAK>");
      expect(host.outcomes).toEqual([]);
      host.wait(BUSY_MS);
    }
    expect(host.replies()).toBe("<ENQ>".repeat(ENQUIRIES_MAX));
    expect(host.outcomes).toEqual(["no transfer after 6 ENQs: the other side was busy or wanted to send"]);
    expect(host.link.atRest).toBe(true);
    host.send(MESSAGE);
    expect(host.replies()).toBe("<ENQ>".repeat(ENQUIRIES_MAX + 1));
  });

  test("its session may come meanwhile; 10 s after it ENQ is said again", () => {
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

describe("both say ENQ", () => {
  test("the host does not answer that ENQ, and the next it acknowledges; afterwards it sends", () => {
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

  test("the host says ENQ again when none has come for 20 s", () => {
    const host = station();
    host.send(MESSAGE);
    host.receive("<ENQ>");
    host.wait(HOST_CONTENTION_MS);
    expect(host.replies()).toBe("<ENQ><ENQ>");
  });

  test("the instrument says ENQ again after 1 s", () => {
    const instrument = station({ role: "instrument" });
    instrument.send(MESSAGE);
    instrument.receive("<ENQ>");
    expect([instrument.replies(), instrument.timer()]).toEqual(["<ENQ>", INSTRUMENT_CONTENTION_MS]);
    instrument.wait(INSTRUMENT_CONTENTION_MS);
    expect(instrument.replies()).toBe("<ENQ><ENQ>");
  });

  test("an ENQ that came doubled is one", () => {
    const host = station();
    host.send(MESSAGE);
    host.receive("<ENQ><ENQ>");
    expect([host.replies(), host.timer()]).toEqual(["<ENQ>", HOST_CONTENTION_MS]);
  });
});

describe("the line is not free", () => {
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

  test("a device that says EOT and ENQ in one breath has the line again", () => {
    const host = station();
    host.receive("<ENQ>");
    host.send(MESSAGE);
    host.receive("<EOT><ENQ>");
    expect(host.replies()).toBe("<ACK><ACK>");
    host.receive("<EOT>");
    expect(host.replies()).toBe("<ACK><ACK><ENQ>");
  });

  test("30 s of silence free it too", () => {
    const host = station();
    host.receive("<ENQ>");
    host.send(MESSAGE);
    host.wait(RECEIVE_TIMEOUT_MS);
    expect(host.replies()).toBe("<ACK><ENQ>");
    expect(host.timer()).toBe(REPLY_TIMEOUT_MS);
  });
});

describe("a receiver that wants to send", () => {
  test("answers EOT in place of ACK: the frame is accepted, we stop for 15 s and begin again from the first frame", () => {
    const host = sending(1);
    host.receive("<EOT>");
    expect(host.replies()).toBe(`<ENQ>${FRAMES[0]}${FRAMES[1]}<EOT>`);
    expect([host.timer(), host.outcomes, host.link.atRest]).toEqual([INTERRUPT_MS, [], false]);
    host.wait(INTERRUPT_MS);
    host.receive("<ACK>");
    expect(host.replies()).toBe(`<ENQ>${FRAMES[0]}${FRAMES[1]}<EOT><ENQ>${FRAMES[0]}`);
  });

  test("has sent and ended: we say ENQ at once", () => {
    const host = sending(1);
    host.receive("<EOT>");
    host.receive(sessionOf(H, L));
    expect(host.deliveries).toEqual([complete(H, L)]);
    expect(host.replies().endsWith("<EOT><ACK><ACK><ACK><ENQ>")).toBe(true);
  });

  test("asks with the last frame: the message is sent, the line stays free for 15 s all the same", () => {
    const host = sending(2);
    host.receive("<EOT>");
    expect([host.outcomes, host.timer(), host.link.atRest]).toEqual([["sent"], INTERRUPT_MS, false]);
    host.send(MESSAGE);
    expect(host.replies()).toBe(`<ENQ>${FRAMES.join("")}<EOT>`);
    host.wait(INTERRUPT_MS);
    expect(host.replies()).toBe(`<ENQ>${FRAMES.join("")}<EOT><ENQ>`);
  });

  test("is not us, unless the profile says so", () => {
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

  test("is us: ENQ and a repeated frame are acknowledged, for a device may know no EOT here; a new frame asks again", () => {
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

  test("is not us while we wait for whom we gave way: two that both ask would never get anywhere", () => {
    const host = sending(1, { interrupts: true });
    host.receive("<EOT>");
    host.receive("<ENQ>");
    host.receive(frame(1, `${H}<CR>`));
    expect(host.replies().endsWith("<EOT><ACK><ACK>")).toBe(true);
  });
});

describe("what the disk refuses", () => {
  test("a reply that is not on disk has not come", () => {
    const host = sending(0);
    host.refuse("<ACK>");
    expect(host.replies()).toBe(`<ENQ>${FRAMES[0]}`);
    expect(host.said().warnings).toEqual(["cannot store: reply ignored"]);
    expect(host.timer()).toBe(REPLY_TIMEOUT_MS);
    host.gap();
    host.receive("<ACK>");
    expect(host.replies()).toBe(`<ENQ>${FRAMES[0]}${FRAMES[1]}`);
  });

  test("a session is refused while a message waits, and the wait goes on", () => {
    const host = station();
    host.send(MESSAGE);
    host.receive("<NAK>");
    host.refuse("<ENQ>");
    expect([host.replies(), host.timer()]).toEqual(["<ENQ><NAK>", BUSY_MS]);
  });
});

test("the message given is not copied and not changed", () => {
  const message = bytes(MESSAGE);
  const host = station();
  host.link.send(message);
  for (let replies = 0; replies < 4; replies++) host.receive("<ACK>");
  expect(message).toEqual(bytes(MESSAGE));
});

test("a message without a byte is ENQ and EOT", () => {
  const host = station();
  host.send("");
  host.receive("<ACK>");
  expect([host.replies(), host.outcomes]).toEqual(["<ENQ><EOT>", ["sent"]]);
});
