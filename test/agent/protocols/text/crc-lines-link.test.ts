import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { crc16Of } from "../../../../agent/protocols/bytes.ts";
import { NOISE_TIMEOUT_MS } from "../../../../agent/protocols/noise.ts";
import { CrcLinesLink, LINE_BYTES_MAX } from "../../../../agent/protocols/text/crc-lines-link.ts";
import { SILENCE_MS, TEXT_BYTES_MAX } from "../../../../agent/protocols/text/one-way-link.ts";
import { gapCounterexample, play, segmentationCounterexample } from "../astm/observed-actions.ts";
import { bytes } from "../astm/wire.ts";

const link = () => new CrcLinesLink();
const whole = (message: string) => ({ message, incomplete: null });

/** Returns a text with its END line. `change` makes the number wrong. */
function ended(text: string, end = "END_RESULT", change = 0): string {
  return `${text}${end};${crc16Of(bytes(text)) ^ change}<CR>`;
}

const HEADER = "MODEL 22;ADMIN<CR>";
const run = `${HEADER}RESULT<CR>WBC;6.9<CR>`;
const calibration = `${HEADER}CALIBRATION;1;21/11/2026;07:30:00; K-7 ;1<CR>WBC;9<CR>`;

test("the check number is the CRC-16 of Modbus", () => {
  expect(crc16Of(bytes("123456789"))).toBe(0x4b37);
  expect(crc16Of(bytes(""))).toBe(0xffff);
});

test("a dialogue gets a reply to each line, and the frame is delivered without its END line", () => {
  const device = link();
  expect(play(device, "CONNECT;250207;9<CR>")).toMatchObject({ replies: "ACK_CONNECT;9<CR>", deliveries: [] });
  expect(play(device, `${HEADER}RESULT_READY;612<CR>`).replies).toBe("ACK_RESULT_READY<CR>");
  expect(play(device, ended(run))).toEqual({
    replies: "ACK_RESULT;OK<CR>",
    deliveries: [whole(run)],
    warnings: [],
    timer: null,
  });
  expect(play(device, "DISCONNECT;250207<CR>")).toEqual({ replies: "", deliveries: [], warnings: [], timer: null });
  expect(device.isIdle).toBe(true);
});

describe("a header in the line that names the frame", () => {
  const inLine = "MODEL 1;;RESULT<CR>ID;RESULT<CR>COMMENT;x;RESULT<CR>WBC;6.9<CR>";

  test("starts the frame, and its check number counts from it", () => {
    const device = link();
    expect(play(device, "MODEL 1;;CONNECT;900100;9<CR>").replies).toBe("ACK_CONNECT;9<CR>");
    expect(play(device, "MODEL 1;;RESULT_READY;640<CR>").replies).toBe("ACK_RESULT_READY<CR>");
    expect(play(device, ended(inLine))).toEqual({
      replies: "ACK_RESULT;OK<CR>",
      deliveries: [whole(inLine)],
      warnings: [],
      timer: null,
    });
    expect(device.isIdle).toBe(true);
  });

  test.each(["ASK_FOLDER;S-1;4711;\xc5\x9eeker;DOG", "ANALYSE;S-1;4711;\xc5\x9eeker;DOG;12;0", "DISCONNECT;900100"])(
    "%s gets no reply and is not noise",
    (words) => {
      for (const header of ["MODEL 1;;", HEADER]) {
        expect(play(link(), `${header}${words}<CR>`)).toEqual({
          replies: "",
          deliveries: [],
          warnings: [],
          timer: null,
        });
      }
    },
  );

  test("of the same model ends a frame without its end, for any user", () => {
    const { deliveries } = play(link(), inLine, ended(inLine.replace(";;", ";vet;")));
    expect(deliveries).toEqual([
      { message: inLine, incomplete: "a new frame began before its end" },
      whole(inLine.replace(";;", ";vet;")),
    ]);
  });

  test("a calibration and a start-up check are delivered", () => {
    const startup = "MODEL 1;;STARTUP;21/11/2026;07:12:40;PASSED<CR>";
    const lot = "MODEL 1;;CALIBRATION;1;21/11/2026;07:30:00;K-7;1<CR>WBC;9<CR>";
    expect(play(link(), startup, ended(lot, "END_CALI"))).toMatchObject({
      replies: "ACK_CALI;K-7;OK<CR>",
      deliveries: [whole(startup), whole(lot)],
      warnings: [],
    });
  });
});

test("the delivery comes before its acknowledgement", () => {
  const device = link();
  const actions = device.receive(bytes(ended(run)));
  expect(actions.map((action) => action.do)).toEqual(["deliver", "reply", "timer"]);
});

test("a calibration is acknowledged with its lot, and a start-up check is not", () => {
  const startup = `${HEADER}STARTUP;21/11/2026;07:12:40;PASSED<CR>`;
  expect(play(link(), ended(calibration, "END_CALI"), startup)).toMatchObject({
    replies: "ACK_CALI;K-7;OK<CR>",
    deliveries: [whole(calibration), whole(startup)],
    warnings: [],
  });
});

describe("a frame with a wrong check number", () => {
  test.each([
    ["another number", ended(run, "END_RESULT", 1)],
    ["no number", `${run}END_RESULT<CR>`],
    ["the END line of another frame", ended(run, "END_CALI")],
  ])("%s: it is incomplete, and gets CRC_ERROR", (_, text) => {
    const { replies, deliveries, warnings } = play(link(), text);
    expect(replies).toMatch(/^ACK_(?:RESULT|CALI;);CRC_ERROR<CR>$/);
    expect(deliveries).toMatchObject([{ message: run, incomplete: expect.stringMatching(/check number/) as string }]);
    expect(warnings).toHaveLength(1);
  });

  test("its resend is complete", () => {
    expect(play(link(), ended(run, "END_RESULT", 1), ended(run))).toMatchObject({
      replies: "ACK_RESULT;CRC_ERROR<CR>ACK_RESULT;OK<CR>",
      deliveries: [{ message: run }, whole(run)],
    });
  });

  test("no frame with one changed byte is complete", () => {
    const original = bytes(ended(run));
    const undetected = [...original.keys()].flatMap((at) =>
      [0x01, 0x08, 0x20, 0x80, 0xff].filter((change) => {
        const damaged = original.map((byte, index) => (index === at ? byte ^ change : byte));
        return link()
          .receive(damaged)
          .some((action) => action.do === "deliver" && action.incomplete === null);
      }),
    );
    expect(undetected).toEqual([]);
  });

  test("an END line alone gets CRC_ERROR, and is noise", () => {
    expect(play(link(), "END_RESULT;7<CR>END_CALI;7<CR>", "timeout()")).toMatchObject({
      replies: "ACK_RESULT;CRC_ERROR<CR>ACK_CALI;;CRC_ERROR<CR>",
      deliveries: [],
      warnings: [
        "END_RESULT without the beginning of its frame",
        "END_CALI without the beginning of its frame",
        "22 bytes outside a frame: ignored",
      ],
    });
  });
});

describe("a frame without its end is incomplete", () => {
  test.each([
    ["another frame", ended(run)],
    ["a query for its end", `${HEADER}RESULT_READY;9<CR>`],
    ["a start-up check", `${HEADER}STARTUP;1;2;PASSED<CR>`],
  ])("%s ends it before the header", (_, next) => {
    expect(play(link(), run, next).deliveries[0]).toEqual({
      message: run,
      incomplete: "a new frame began before its end",
    });
  });

  test("silence or a closed connection ends it", () => {
    const silent = link();
    expect(play(silent, run)).toMatchObject({ deliveries: [], timer: SILENCE_MS });
    expect(play(silent, "timeout()")).toMatchObject({
      deliveries: [{ message: run, incomplete: "the device fell silent before the end of its frame" }],
      timer: null,
    });
    expect(play(link(), run, "close()").deliveries).toEqual([
      { message: run, incomplete: "the connection closed before the end of the frame" },
    ]);
  });

  test("the limit ends it, and the next frame is complete", () => {
    const long = `${run}${"PLT;9<CR>".repeat(TEXT_BYTES_MAX / 6)}`;
    expect(play(link(), long, ended(run)).deliveries.map(({ incomplete }) => incomplete)).toEqual([
      `a frame of more than ${TEXT_BYTES_MAX} bytes`,
      null,
    ]);
  });
});

describe("bytes outside a frame", () => {
  test("are reported once the next frame starts, without its header", () => {
    expect(play(link(), `<ENQ>~<CR>a;b<CR>${ended(run)}`)).toMatchObject({
      deliveries: [whole(run)],
      warnings: ["5 bytes outside a frame: ignored"],
    });
  });

  test("are reported after silence; a line that may be a header waits longer", () => {
    const device = link();
    expect(play(device, "hum<ENQ>").timer).toBe(NOISE_TIMEOUT_MS);
    expect(play(device, "MODEL 22;ADMIN").timer).toBe(SILENCE_MS);
    expect(play(device, "timeout()").warnings).toEqual(["18 bytes outside a frame: ignored"]);
    expect(device.isIdle).toBe(true);
  });

  test("are noise immediately if their line is too long for a header", () => {
    const device = link();
    expect(play(device, "x".repeat(LINE_BYTES_MAX)).timer).toBe(SILENCE_MS);
    expect(play(device, "x").timer).toBe(NOISE_TIMEOUT_MS);
    expect(play(device, "close()").warnings).toEqual([`${LINE_BYTES_MAX + 1} bytes outside a frame: ignored`]);
  });

  test("line ends and flow control are ignored without a warning", () => {
    expect(play(link(), `<CR><LF><NUL>${ended(run)}<LF>`)).toMatchObject({ deliveries: [whole(run)], warnings: [] });
  });
});

describe("when the disk refuses", () => {
  test("a frame with unstored bytes gets CRC_ERROR, also if its number is right", () => {
    expect(play(link(), run, { refused: "PLT;9<CR>" }, ended(run).slice(run.length))).toMatchObject({
      replies: "ACK_RESULT;CRC_ERROR<CR>",
      deliveries: [{ message: run, incomplete: "bytes of it could not be stored" }],
    });
  });

  test("a refused END line gets no reply, and the resend is complete", () => {
    const device = link();
    expect(play(device, run, { refused: ended(run).slice(run.length) }).replies).toBe("");
    expect(play(device, ended(run))).toMatchObject({ replies: "ACK_RESULT;OK<CR>", deliveries: [{}, whole(run)] });
  });
});

const PIECES = [
  HEADER,
  run,
  ended(run),
  ended(run, "END_RESULT", 1),
  ended(calibration, "END_CALI"),
  "RESULT<CR>",
  "RESULT_READY;9<CR>",
  "CONNECT;1;9<CR>",
  "STARTUP;1;2;PASSED<CR>",
  "END_RESULT;7<CR>",
  "WBC;6.9<CR>",
  "DISCONN",
  "<ENQ>",
  "<CR>",
  "<LF>",
  "~",
];

test("any segmentation of the stream gives the same actions", () => {
  expect(segmentationCounterexample(link, PIECES)).toBeNull();
});

test("a replay with gaps delivers the same as the live link", () => {
  expect(gapCounterexample(link, PIECES)).toBeNull();
});

test("every split of a dialogue into two chunks gives the same actions", () => {
  const stream = bytes(
    `CONNECT;1;9<CR>${HEADER}RESULT_READY;9<CR>~${ended(run)}hum<CR>${ended(calibration, "END_CALI")}`,
  );
  const said = (...chunks: readonly Uint8Array[]) => {
    const device = link();
    const actions = [...chunks.flatMap((chunk) => device.receive(chunk)), ...device.close()];
    return actions.filter((action) => action.do !== "timer");
  };
  const expected = said(stream);
  for (const at of stream.keys()) expect(said(stream.subarray(0, at), stream.subarray(at))).toEqual(expected);
});

test("any bytes leave the link at rest once it is closed, and it delivers each at most once", () => {
  const alphabet = fc.constantFrom(...bytes("RESULT<CR>"), ...bytes("END_RESULT;1<CR>"), 0x05, 0x0a, 0x00, 0xff);
  const chunk = fc.oneof(
    fc.array(alphabet, { maxLength: 20 }).map((some) => Uint8Array.from(some)),
    fc.constantFrom(...PIECES).map((piece) => new Uint8Array(bytes(piece))),
  );
  const property = fc.property(fc.array(chunk, { maxLength: 10 }), (chunks) => {
    const device = link();
    const actions = chunks.flatMap((each) => device.receive(each));
    actions.push(...device.close());
    const delivered = actions.reduce((sum, action) => sum + (action.do === "deliver" ? action.message.length : 0), 0);
    const received = chunks.reduce((sum, each) => sum + each.length, 0);
    return device.isIdle && delivered <= received;
  });
  expect(fc.check(property, { numRuns: 1000 }).counterexample).toBeNull();
});
