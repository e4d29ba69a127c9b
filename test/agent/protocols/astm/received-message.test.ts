import { describe, expect, test } from "vitest";
import { ActionQueue } from "../../../../agent/protocols/action-queue.ts";
import { ReceivedFrame } from "../../../../agent/protocols/astm/received-frame.ts";
import { MESSAGE_BYTES_MAX, ReceivedMessage } from "../../../../agent/protocols/astm/received-message.ts";
import { bytes, show } from "./wire.ts";

function frameOf(text: string): ReceivedFrame {
  const frame = new ReceivedFrame();
  frame.begin(0x31);
  frame.readText(bytes(text), 0);
  return frame;
}

/** Appends frames. @returns the deliveries, and the message */
function append(texts: readonly string[], digitBeforeRecords = false) {
  const actions = new ActionQueue();
  const message = new ReceivedMessage(digitBeforeRecords, actions);
  for (const text of texts) message.append(frameOf(text));
  const deliveries = () =>
    actions
      .drain()
      .map((action) => (action.do === "deliver" ? [show(action.message), action.incomplete] : [action.do, null]));
  return { message, deliveries };
}

describe("a message", () => {
  test("ends with its L record, for any division into frames", () => {
    const whole = [["H|\\^&<CR>L|1|N<CR>", null]];
    expect(append(["H|\\^&<CR><ETX>", "L|1|N<CR><ETX>"]).deliveries()).toEqual(whole);
    expect(append(["H|\\^&<CR>L|1|N<CR><ETX>"]).deliveries()).toEqual(whole);
    expect(append(["H|\\<ETB>", "^&<CR>L|<ETB>", "1|N<CR><ETX>"]).deliveries()).toEqual(whole);
  });

  test("ends with an L record without CR only at ETX", () => {
    expect(append(["H|\\^&<CR>L|1|N<ETX>"]).deliveries()).toEqual([["H|\\^&<CR>L|1|N", null]]);
    expect(append(["H|\\^&<CR>L|1|N<ETB>"]).deliveries()).toEqual([]);
  });

  test("ends its records with LF, or with the frame that starts the next record", () => {
    const whole = [["H|\\^&<CR>R|1|GLU|5<CR>L|1|N<CR>", null]];
    expect(append(["H|\\^&<LF>R|1|GLU|5<LF>L|1|N<LF><ETX>"]).deliveries()).toEqual(whole);
    expect(append(["H|\\^&<LF>", "R|1|GLU|5<LF>L|1|N<LF>"].map((text) => `${text}<ETX>`)).deliveries()).toEqual(whole);
    const withoutEnds = [["H|\\^&<CR>R|1|GLU|5<CR>L|1|N", null]];
    expect(append(["H|\\^&<ETX>", "R|1|GLU|5<ETX>", "L|1|N<ETX>"]).deliveries()).toEqual(withoutEnds);
  });

  test("continues a record after ETX too, unless the next frame starts another", () => {
    const whole = [["H|\\^&<CR>O|1|S||A|R||2026<CR>L|1|N<CR>", null]];
    for (const end of ["ETX", "ETB"]) {
      expect(append([`H|\\^&<CR>O|1|S||A|<${end}>`, "R||2026<CR><ETX>", "L|1|N<CR><ETX>"]).deliveries()).toEqual(whole);
    }
    expect(append(["H|\\^&<CR>C|1|<ETB>", "R|12|x<CR>L|1|N<CR><ETX>"]).deliveries()).toEqual([
      ["H|\\^&<CR>C|1|R|12|x<CR>L|1|N<CR>", null],
    ]);
  });

  test("is cut short by the next H record", () => {
    const incomplete = "a new H record came before the L record";
    expect(append(["H|\\^&<CR>P|1<CR><ETX>", "H|\\^&<CR><ETX>"]).deliveries()).toEqual([
      ["H|\\^&<CR>P|1<CR>", incomplete],
    ]);
  });

  test("ends with L, whatever ends its records", () => {
    const session = ["LF", "LF><CR", "CR><LF"].map((end) => `H|\\^&<${end}>R|1|GLU|5<${end}>L|1|N<${end}><ETX>`);
    const whole = ["H|\\^&<CR>R|1|GLU|5<CR>L|1|N<CR>", null];
    expect(append(session).deliveries()).toEqual([whole, whole, whole]);
  });

  test("has the same records for any division into two frames", () => {
    for (const end of ["\r", "\n", "\r\n", "\n\r"]) {
      const text = ["H|\\^&", "P|1", "O|1|S", "R|1|GLU|5", "C|1|I|x", "L|1|N", ""].join(end);
      for (let at = 1; at < text.length; at += 1) {
        const frames = [`${text.slice(0, at)}<ETB>`, `${text.slice(at)}<ETX>`].map((frame) =>
          frame.replaceAll("\r", "<CR>").replaceAll("\n", "<LF>"),
        );
        expect(append(frames).deliveries(), `${JSON.stringify(end)} at ${at}`).toEqual([
          ["H|\\^&<CR>P|1<CR>O|1|S<CR>R|1|GLU|5<CR>C|1|I|x<CR>L|1|N<CR>", null],
        ]);
      }
    }
  });

  test("keeps an LF in the text of a record", () => {
    for (const line of ["Repeat", "See the film", "A fresh sample", "2 of 3"]) {
      expect(append([`H|\\^&<CR>C|1|I|Clotted<LF>${line}<CR>L|1|N<CR><ETX>`]).deliveries()).toEqual([
        [`H|\\^&<CR>C|1|I|Clotted<LF>${line}<CR>L|1|N<CR>`, null],
      ]);
    }
  });

  test("keeps no LF and no digit before its records", () => {
    expect(append(["1H|\\^&<CR><LF>2L|1|N<CR><ETX>"], true).deliveries()).toEqual([["H|\\^&<CR>L|1|N<CR>", null]]);
  });

  test("is delivered as incomplete on request, and is empty afterwards", () => {
    const { message, deliveries } = append(["H|\\^&<CR><ETX>"]);
    message.deliver("the session ended");
    message.deliver("the session ended");
    expect(deliveries()).toEqual([["H|\\^&<CR>", "the session ended"]]);
  });

  test("has no room for a frame beyond its limit", () => {
    const frame = frameOf(`${"x".repeat(1024 * 1024 - 16)}<ETB>`);
    const message = new ReceivedMessage(false, new ActionQueue());
    for (let length = frame.length; length <= MESSAGE_BYTES_MAX; length += frame.length) {
      expect(message.hasRoomFor(frame)).toBe(true);
      message.append(frame);
    }
    expect(message.hasRoomFor(frame)).toBe(false);
  });
});
