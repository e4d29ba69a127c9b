import { describe, expect, test } from "vitest";
import {
  ANSWER_AGAIN_MS,
  BODY_BYTES_MAX,
  BODY_TIMEOUT_MS,
  EnqEtxLink,
} from "../../../../agent/protocols/proprietary/enq-etx-link.ts";
import { NOISE_TIMEOUT_MS } from "../../../../agent/protocols/noise.ts";
import { gapCounterexample, play, segmentationCounterexample } from "../astm/said.ts";

// Method: a body is whole when it is `A` and four digits.

const problemOf = (body: Uint8Array) =>
  /^A\d{4}$/.test(Buffer.from(body).toString("latin1")) ? null : `a body of ${body.length} characters, expected 5`;
const link = () => new EnqEtxLink(problemOf);
const whole = (message: string) => ({ message, incomplete: null });

test("ENQ is acknowledged, and the body with its ETX; EOT asks for nothing", () => {
  const device = link();
  expect(play(device, "<ENQ>")).toMatchObject({ replies: "<ACK>", timer: BODY_TIMEOUT_MS });
  expect(play(device, "A1234<EOT>")).toMatchObject({ replies: "", deliveries: [] });
  expect(play(device, "<ETX>")).toEqual({
    replies: "<ACK>",
    deliveries: [whole("A1234")],
    warnings: [],
    timer: ANSWER_AGAIN_MS,
  });
  expect(play(device, "timeout()")).toEqual({ replies: "", deliveries: [], warnings: [], timer: null });
  expect(device.atRest).toBe(true);
});

test("the delivery comes before the ACK of its body", () => {
  const device = link();
  play(device, "<ENQ>A1234<EOT>");
  expect(device.receive(Uint8Array.of(3)).map((action) => action.do)).toEqual(["deliver", "reply", "timer"]);
});

test("without ENQ nothing is answered and nothing is read, and what came is reported", () => {
  const device = link();
  const said = { replies: "", deliveries: [] };
  expect(play(device, "A1234<EOT><ETX><STX>noise<ACK><CR><LF>")).toEqual({
    ...said,
    warnings: [],
    timer: NOISE_TIMEOUT_MS,
  });
  expect(device.atRest).toBe(false);
  const warnings = ["11 bytes outside a body: ignored"];
  expect(play(device, "timeout()")).toEqual({ ...said, warnings, timer: null });
  expect(device.atRest).toBe(true);
  expect(play(link(), "A1234<EOT><STX>noise", "<ENQ>").warnings).toEqual(warnings);
});

test("bytes behind an accepted body are reported, and do not put off the end of the waiting", () => {
  const device = link();
  expect(play(device, "<ENQ>A1234<EOT><ETX>", "xyz")).toMatchObject({ warnings: [], timer: ANSWER_AGAIN_MS });
  expect(play(device, "timeout()").warnings).toEqual(["3 bytes outside a body: ignored"]);
});

describe("a damaged body", () => {
  test("is answered NAK, and counted once when it comes again", () => {
    expect(play(link(), "<ENQ>A124<EOT><ETX>A1234<EOT><ETX>")).toMatchObject({
      replies: "<ACK><NAK><ACK>",
      deliveries: [whole("A1234")],
      warnings: ["a body of 4 characters, expected 5"],
    });
  });

  test("whose second try is damaged too gets a second NAK", () => {
    expect(play(link(), "<ENQ>A124<EOT><ETX>A14<EOT><ETX>A1234<EOT><ETX>").replies).toBe("<ACK><NAK><NAK><ACK>");
  });

  test("that the device gives up on is delivered as incomplete", () => {
    const expected = [{ message: "A124", incomplete: "a body of 4 characters, expected 5" }];
    for (const end of ["timeout()", "close()", "<ENQ>"] as const) {
      expect(play(link(), "<ENQ>A124<EOT><ETX>", end).deliveries).toEqual(expected);
    }
  });

  test("into which noise has put an ETX is not taken for two", () => {
    expect(play(link(), "<ENQ>A12<ETX>34<EOT><ETX>A1234<EOT><ETX>")).toMatchObject({
      replies: "<ACK><NAK><NAK><ACK>",
      deliveries: [whole("A1234")],
    });
  });

  test("that runs on and on is answered NAK at its end", () => {
    const { replies, deliveries } = play(link(), `<ENQ>A${"1".repeat(BODY_BYTES_MAX + 10)}<EOT><ETX>A1234<EOT><ETX>`);
    expect([replies, deliveries]).toEqual(["<ACK><NAK><ACK>", [whole("A1234")]]);
  });
});

test("ETX again means that our answer was lost: it is given again, and nothing is delivered twice", () => {
  expect(play(link(), "<ENQ>A1234<EOT><ETX><ETX><ETX>")).toMatchObject({
    replies: "<ACK><ACK><ACK><ACK>",
    deliveries: [whole("A1234")],
  });
  expect(play(link(), "<ENQ>A124<EOT><ETX><ETX>").replies).toBe("<ACK><NAK><NAK>");
});

test("ENQ again before the body means that our ACK was lost", () => {
  expect(play(link(), "<ENQ><ENQ>A1234<EOT><ETX>")).toMatchObject({
    replies: "<ACK><ACK><ACK>",
    deliveries: [whole("A1234")],
  });
});

test.each([
  ["timeout()", "the device fell silent before the end of the body", ["no ETX within 30 s"]],
  ["close()", "the connection closed before the end of the body", []],
  ["<ENQ>", "a new ENQ came before the end of the body", []],
] as const)("a body cut by %s is delivered as incomplete", (end, incomplete, warnings) => {
  expect(play(link(), "<ENQ>A12", end)).toMatchObject({ deliveries: [{ message: "A12", incomplete }], warnings });
});

describe("when the disk refuses", () => {
  test("ENQ is answered NAK", () => {
    expect(play(link(), { refused: "<ENQ>" })).toEqual({
      replies: "<NAK>",
      deliveries: [],
      warnings: ["cannot store: ENQ refused"],
      timer: null,
    });
  });

  test("a body of which bytes are missing is answered NAK, wherever they were, and its resend accepted", () => {
    const resend = "A1234<EOT><ETX>";
    for (const steps of [
      ["<ENQ>A1", { refused: "23" }, "4<EOT><ETX>"],
      ["<ENQ>", { refused: "A1234" }, "<EOT><ETX>"],
      ["<ENQ>A1234<EOT>", { refused: "<ETX>" }],
    ] as const) {
      expect(play(link(), ...steps, resend)).toMatchObject({
        replies: "<ACK><NAK><ACK>",
        deliveries: [whole("A1234")],
      });
    }
  });

  test("what was acknowledged stays so", () => {
    expect(play(link(), "<ENQ>A1234<EOT><ETX>", { refused: "<ETX>" }).replies).toBe("<ACK><ACK><ACK>");
  });
});

const PIECES = ["<ENQ>", "<EOT>", "<ETX>", "A1234", "A12", "34", "<EOT><ETX>", "<ENQ>A1234<EOT><ETX>", "<STX>", " "];

test("any stream says the same in every segmentation", () => {
  expect(segmentationCounterexample(link, PIECES)).toBeNull();
});

test("a replay with gaps delivers what the wire delivered", () => {
  expect(gapCounterexample(link, PIECES)).toBeNull();
});
