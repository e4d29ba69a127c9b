import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NOISE_TIMEOUT_MS } from "../../../../agent/protocols/noise.ts";
import { BCC_MS, BccLink, encodeBccText } from "../../../../agent/protocols/text/bcc-link.ts";
import { SILENCE_MS, TEXT_BYTES_MAX } from "../../../../agent/protocols/text/one-way-link.ts";
import { gapCounterexample, play, segmentationCounterexample } from "../astm/observed-actions.ts";
import { bytes, show } from "../astm/wire.ts";

const link = () =>
  new BccLink({
    hasBcc: (text) => !text.startsWith("NORMAL "),
    trouble: (text) => (text.startsWith("E,") ? `trouble ${text.slice(2)}` : null),
  });
const whole = (message: string) => ({ message, incomplete: null });

/** Returns the frame of a text in the notation of bytes(). */
function framed(text: string): string {
  return show(encodeBccText(bytes(text)));
}

/** Returns a text whose BCC is this byte. */
function textWithBcc(bcc: number): string {
  const body = "R,1";
  const last = encodeBccText(bytes(body)).at(-1)! ^ bcc;
  // Two printable characters whose XOR is `last`.
  const first = Array.from({ length: 94 }, (_, index) => 0x21 + index).find((one) => {
    const other = one ^ last;
    return other > 0x20 && other < 0x7f;
  });
  return first === undefined ? "" : `${body}${String.fromCharCode(first, first ^ last)}`;
}

test("a text with the right BCC is delivered without a reply", () => {
  expect(play(link(), `<CR><LF>${framed("R,1")}<CR><LF>${framed("R,2")}`)).toEqual({
    replies: "",
    deliveries: [whole("R,1"), whole("R,2")],
    warnings: [],
    timer: null,
  });
});

test("a BCC of any value belongs to its text, and the next byte does not", () => {
  for (let bcc = 0; bcc < 128; bcc++) {
    const text = textWithBcc(bcc);
    if (text === "") continue;
    expect(encodeBccText(bytes(text)).at(-1)).toBe(bcc);
    const stream = Buffer.concat([encodeBccText(bytes(text)), encodeBccText(bytes("R,2"))]);
    const messages = link()
      .receive(stream)
      .flatMap((action) => (action.do === "deliver" ? [show(action.message), action.incomplete] : []));
    expect(messages).toEqual([text, null, "R,2", null]);
  }
  expect(textWithBcc(0x02)).not.toBe("");
  expect(textWithBcc(0x03)).not.toBe("");
});

describe("a wrong BCC", () => {
  test("makes its text incomplete, and the next text is complete", () => {
    const right = encodeBccText(bytes("R,1")).at(-1)!;
    const wrong = String.fromCharCode(right ^ 1);
    const hex = [right ^ 1, right].map((byte) => byte.toString(16).toUpperCase());
    expect(play(link(), `<STX>R,1<ETX>${wrong}${framed("R,2")}`)).toMatchObject({
      deliveries: [
        { message: "R,1", incomplete: `BCC ${hex[0]}, computed ${hex[1]}: bytes of it are wrong or missing` },
        whole("R,2"),
      ],
      warnings: [`BCC ${hex[0]}, computed ${hex[1]}`],
    });
  });

  test("starts the next text if it is STX", () => {
    expect(play(link(), `<STX>R,1<ETX>${framed("R,2")}`).deliveries).toEqual([
      { message: "R,1", incomplete: expect.stringMatching(/^BCC 02, computed/) as string },
      whole("R,2"),
    ]);
    // The byte was a wrong BCC of the value 02, and the next text starts with an STX of its own.
    expect(play(link(), `<STX>R,1<ETX><STX>${framed("R,2")}`).deliveries).toHaveLength(2);
  });

  test("no text with one changed byte is complete", () => {
    const original = encodeBccText(bytes("R,4.53     mmol/l"));
    const changes = Array.from({ length: 255 }, (_, index) => index + 1);
    const undetected = [...original.keys()].flatMap((at) =>
      changes.filter((change) => {
        const damaged = original.map((byte, index) => (index === at ? byte ^ change : byte));
        const device = link();
        const actions = [damaged, encodeBccText(bytes("R,2"))].flatMap((chunk) => device.receive(chunk));
        return actions.some(
          (action) => action.do === "deliver" && action.incomplete === null && action.message.length > 3,
        );
      }),
    );
    expect(undetected).toEqual([]);
  });
});

describe("a text without BCC", () => {
  test("is delivered at its ETX if the device sends none", () => {
    expect(play(link(), "<STX>NORMAL 1<ETX><STX>NORMAL 2<ETX>")).toMatchObject({
      deliveries: [whole("NORMAL 1"), whole("NORMAL 2")],
      warnings: [],
      timer: null,
    });
  });

  test.each(["timeout()", "close()"])("is delivered with a warning after %s", (end) => {
    const device = link();
    expect(play(device, "<STX>R,1<ETX>")).toMatchObject({ deliveries: [], timer: BCC_MS });
    expect(play(device, end)).toEqual({
      replies: "",
      deliveries: [whole("R,1")],
      warnings: ["a text without BCC behind its ETX"],
      timer: null,
    });
    expect(device.isIdle).toBe(true);
  });
});

test("trouble that the device reports is a warning, and its text is delivered", () => {
  expect(play(link(), framed("E,4102"))).toMatchObject({ deliveries: [whole("E,4102")], warnings: ["trouble 4102"] });
  expect(play(link(), "<STX>E,4102", "close()").warnings).toEqual([]);
});

describe("a text without its end is incomplete", () => {
  test("a new text makes the last one incomplete", () => {
    expect(play(link(), `<STX>R,<STX>${framed("R,2")}`).deliveries).toEqual([
      { message: "R,", incomplete: "a new text began before its end" },
      whole("R,2"),
    ]);
  });

  test("silence or a closed connection makes a text incomplete", () => {
    const silent = link();
    expect(play(silent, "<STX>R,1").timer).toBe(SILENCE_MS);
    expect(play(silent, "timeout()")).toMatchObject({
      deliveries: [{ message: "R,1", incomplete: "the device fell silent before the end of its text" }],
      timer: null,
    });
    expect(play(link(), "<STX>R,1", "close()").deliveries).toEqual([
      { message: "R,1", incomplete: "the connection closed before the end of the text" },
    ]);
  });

  test("a text beyond the limit is incomplete", () => {
    const { deliveries } = play(link(), `<STX>${",".repeat(TEXT_BYTES_MAX + 1)}y<ETX>${framed("R,2")}`);
    expect(deliveries.map(({ incomplete }) => incomplete)).toEqual([
      `a text of more than ${TEXT_BYTES_MAX} bytes`,
      null,
    ]);
  });
});

test("other bytes are reported before the next text, or after silence", () => {
  const device = link();
  expect(play(device, `noise<CR>${framed("R,1")}h`)).toMatchObject({
    deliveries: [whole("R,1")],
    warnings: ["5 bytes outside a text: ignored"],
    timer: NOISE_TIMEOUT_MS,
  });
  expect(play(device, "timeout()")).toMatchObject({ warnings: ["1 byte outside a text: ignored"], timer: null });
});

test("a text with unstored bytes is incomplete, and the next one is complete", () => {
  const right = framed("R,12").slice(-1);
  for (const stream of [
    ["<STX>R,", { refused: "1" }, `2<ETX>${right}`],
    ["<STX>R,12<ETX>", { refused: right }],
    ["<STX>R,12<ETX>", "gap()"],
  ]) {
    expect(play(link(), ...stream, framed("R,2")).deliveries.map(({ incomplete }) => incomplete)).toEqual([
      "bytes of it could not be stored",
      null,
    ]);
  }
});

describe("a message of the agent", () => {
  const outcomes = (device: BccLink, message: string) =>
    device.send(bytes(message)).map((action) => (action.do === "reply" ? show(action.bytes) : action.do));

  test("leaves immediately between two texts", () => {
    expect(outcomes(link(), "W,1,00")).toEqual([framed("W,1,00"), "sent", "timer"]);
  });

  test("leaves after the text that the device is sending", () => {
    const device = link();
    device.receive(bytes("<STX>R,1<ETX>"));
    expect(outcomes(device, "W,1,00")).toEqual(["timer"]);
    expect(device.isIdle).toBe(false);
    expect(play(device, framed("R,1").slice(-1))).toMatchObject({
      replies: framed("W,1,00"),
      deliveries: [whole("R,1")],
    });
    expect(device.isIdle).toBe(true);
  });

  test("is unsent if the connection closes before", () => {
    const device = link();
    device.receive(bytes("<STX>R,1"));
    device.send(bytes("W,1,00"));
    expect(device.close().map((action) => action.do)).toEqual(["unsent", "deliver", "timer"]);
    expect(device.isIdle).toBe(true);
  });
});

const PIECES = [
  "<STX>",
  "<ETX>",
  "<ETB>",
  "<LF>",
  ",",
  "12",
  framed("R,1"),
  framed("E,9"),
  "<STX>R,2",
  "<STX>NORMAL <ETX>",
];

test("any segmentation of the stream gives the same actions", () => {
  expect(segmentationCounterexample(link, PIECES)).toBeNull();
});

test("a replay with gaps delivers the same as the live link", () => {
  expect(gapCounterexample(link, PIECES)).toBeNull();
});

test("any bytes leave the link at rest once it is closed, and it delivers each at most once", () => {
  const alphabet = fc.constantFrom(0x02, 0x03, 0x17, 0x2c, 0x52, 0x31, 0x00, 0xff);
  const property = fc.property(fc.array(fc.array(alphabet, { maxLength: 20 }), { maxLength: 10 }), (chunks) => {
    const device = link();
    const actions = chunks.flatMap((chunk) => device.receive(Uint8Array.from(chunk)));
    actions.push(...device.close());
    const delivered = actions.reduce((sum, action) => sum + (action.do === "deliver" ? action.message.length : 0), 0);
    return device.isIdle && delivered <= chunks.flat().length;
  });
  expect(fc.check(property, { numRuns: 1000 }).counterexample).toBeNull();
});
