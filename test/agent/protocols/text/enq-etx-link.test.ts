import { describe, expect, test } from "vitest";
import {
  ANSWER_AGAIN_MS,
  BODY_BYTES_MAX,
  BODY_TIMEOUT_MS,
  EnqEtxLink,
} from "../../../../agent/protocols/text/enq-etx-link.ts";
import { NOISE_TIMEOUT_MS } from "../../../../agent/protocols/noise.ts";
import { gapCounterexample, play, segmentationCounterexample } from "../astm/observed-actions.ts";

// Method: a complete body is `A` and four digits.

const problemOf = (body: Uint8Array) =>
  /^A\d{4}$/.test(Buffer.from(body).toString("latin1")) ? null : `a body of ${body.length} characters, expected 5`;
const link = () => new EnqEtxLink(problemOf);
const whole = (message: string) => ({ message, incomplete: null });

test("ENQ and the body's ETX are acknowledged, and EOT is not", () => {
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
  expect(device.isIdle).toBe(true);
});

test("the delivery comes before the ACK of its body", () => {
  const device = link();
  play(device, "<ENQ>A1234<EOT>");
  expect(device.receive(Uint8Array.of(3)).map((action) => action.do)).toEqual(["deliver", "reply", "timer"]);
});

test("bytes without ENQ get no reply and are reported", () => {
  const device = link();
  const said = { replies: "", deliveries: [] };
  expect(play(device, "A1234<EOT><ETX><STX>noise<ACK><CR><LF>")).toEqual({
    ...said,
    warnings: [],
    timer: NOISE_TIMEOUT_MS,
  });
  expect(device.isIdle).toBe(false);
  const warnings = ["11 bytes outside a body: ignored"];
  expect(play(device, "timeout()")).toEqual({ ...said, warnings, timer: null });
  expect(device.isIdle).toBe(true);
  expect(play(link(), "A1234<EOT><STX>noise", "<ENQ>").warnings).toEqual(warnings);
});

test("bytes after an accepted body are reported, and do not extend the timer", () => {
  const device = link();
  expect(play(device, "<ENQ>A1234<EOT><ETX>", "xyz")).toMatchObject({ warnings: [], timer: ANSWER_AGAIN_MS });
  expect(play(device, "timeout()").warnings).toEqual(["3 bytes outside a body: ignored"]);
});

describe("a damaged body", () => {
  test("a damaged body gets NAK, and its resend is delivered once", () => {
    expect(play(link(), "<ENQ>A124<EOT><ETX>A1234<EOT><ETX>")).toMatchObject({
      replies: "<ACK><NAK><ACK>",
      deliveries: [whole("A1234")],
      warnings: ["a body of 4 characters, expected 5"],
    });
  });

  test("a second damaged try gets a second NAK", () => {
    expect(play(link(), "<ENQ>A124<EOT><ETX>A14<EOT><ETX>A1234<EOT><ETX>").replies).toBe("<ACK><NAK><NAK><ACK>");
  });

  test("an abandoned body is delivered as incomplete", () => {
    const expected = [{ message: "A124", incomplete: "a body of 4 characters, expected 5" }];
    for (const end of ["timeout()", "close()", "<ENQ>"] as const) {
      expect(play(link(), "<ENQ>A124<EOT><ETX>", end).deliveries).toEqual(expected);
    }
  });

  test("an ETX of noise does not split a body", () => {
    expect(play(link(), "<ENQ>A12<ETX>34<EOT><ETX>A1234<EOT><ETX>")).toMatchObject({
      replies: "<ACK><NAK><NAK><ACK>",
      deliveries: [whole("A1234")],
    });
  });

  test("a body beyond the limit gets NAK at its end", () => {
    const { replies, deliveries } = play(link(), `<ENQ>A${"1".repeat(BODY_BYTES_MAX + 10)}<EOT><ETX>A1234<EOT><ETX>`);
    expect([replies, deliveries]).toEqual(["<ACK><NAK><ACK>", [whole("A1234")]]);
  });
});

test("a repeated ETX gets the last reply again without a delivery", () => {
  expect(play(link(), "<ENQ>A1234<EOT><ETX><ETX><ETX>")).toMatchObject({
    replies: "<ACK><ACK><ACK><ACK>",
    deliveries: [whole("A1234")],
  });
  expect(play(link(), "<ENQ>A124<EOT><ETX><ETX>").replies).toBe("<ACK><NAK><NAK>");
});

test("a repeated ENQ before the body is acknowledged again", () => {
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
  test("refused bytes with ENQ get NAK", () => {
    expect(play(link(), { refused: "<ENQ>" })).toEqual({
      replies: "<NAK>",
      deliveries: [],
      warnings: ["cannot store: ENQ refused"],
      timer: null,
    });
  });

  test("a body with missing bytes gets NAK, and its resend is accepted", () => {
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

  test("an acknowledged body stays delivered", () => {
    expect(play(link(), "<ENQ>A1234<EOT><ETX>", { refused: "<ETX>" }).replies).toBe("<ACK><ACK><ACK>");
  });
});

const PIECES = ["<ENQ>", "<EOT>", "<ETX>", "A1234", "A12", "34", "<EOT><ETX>", "<ENQ>A1234<EOT><ETX>", "<STX>", " "];

test("any segmentation of the stream gives the same actions", () => {
  expect(segmentationCounterexample(link, PIECES)).toBeNull();
});

test("a replay with gaps delivers the same as the live link", () => {
  expect(gapCounterexample(link, PIECES)).toBeNull();
});
