import { describe, expect, test } from "vitest";
import { OneWayLink, SILENCE_MS, TEXT_BYTES_MAX } from "../../../../agent/protocols/text/one-way-link.ts";
import { ETX, SUB } from "../../../../agent/protocols/bytes.ts";
import { NOISE_TIMEOUT_MS } from "../../../../agent/protocols/noise.ts";
import { gapCounterexample, play, segmentationCounterexample } from "../astm/observed-actions.ts";

const link = () => new OneWayLink({ end: ETX });
const whole = (message: string) => ({ message, incomplete: null });

test("text between STX and ETX is delivered without a reply", () => {
  expect(play(link(), "<CR><LF><STX>R,1<ETX><CR><LF><STX>R,2<ETX><NUL>")).toEqual({
    replies: "",
    deliveries: [whole("R,1"), whole("R,2")],
    warnings: [],
    timer: null,
  });
});

test("other bytes are reported before the next text, or after silence", () => {
  const device = link();
  expect(play(device, "noise<CR><LF><STX>R,1<ETX>h")).toEqual({
    replies: "",
    deliveries: [whole("R,1")],
    warnings: ["5 bytes outside a text: ignored"],
    timer: NOISE_TIMEOUT_MS,
  });
  expect(play(device, "timeout()")).toMatchObject({ warnings: ["1 byte outside a text: ignored"], timer: null });
  expect(device.isIdle).toBe(true);
});

test("a profile with SUB treats ETX as text", () => {
  expect(play(new OneWayLink({ end: SUB }), "<STX>A<ETX>1<SUB>").deliveries).toEqual([whole("A<ETX>1")]);
});

test.each(["<ETB>", "<ETB><CR><LF>", "<ETB><STX>", "<ETB><LF><STX>"])("a text continues after %s", (between) => {
  expect(play(link(), `<STX>one${between}two<ETX>`).deliveries).toEqual([
    whole(`one${between.replace("<STX>", "")}two`),
  ]);
});

describe("a text without its end is incomplete", () => {
  test("a new text makes the last one incomplete", () => {
    expect(play(link(), "<STX>one<STX>two<ETX>").deliveries).toEqual([
      { message: "one", incomplete: "a new text began before its end" },
      whole("two"),
    ]);
  });

  test("silence or a closed connection makes a text incomplete", () => {
    const silent = link();
    expect(play(silent, "<STX>one").timer).toBe(SILENCE_MS);
    expect(play(silent, "timeout()")).toMatchObject({
      deliveries: [{ message: "one", incomplete: "the device fell silent before the end of its text" }],
      timer: null,
    });
    expect(play(silent, "two<ETX>", "close()")).toMatchObject({
      deliveries: [],
      warnings: ["4 bytes outside a text: ignored"],
    });
    expect(play(link(), "<STX>one", "close()").deliveries).toEqual([
      { message: "one", incomplete: "the connection closed before the end of the text" },
    ]);
  });

  test("a text beyond the limit is incomplete", () => {
    const { deliveries } = play(link(), `<STX>${"x".repeat(TEXT_BYTES_MAX + 1)}y<ETX><STX>two<ETX>`);
    expect(deliveries.map(({ incomplete }) => incomplete)).toEqual([
      `a text of more than ${TEXT_BYTES_MAX} bytes`,
      null,
    ]);
    expect(deliveries[0]?.message).toHaveLength(TEXT_BYTES_MAX);
  });
});

test("a text with unstored bytes is incomplete; the next one is complete", () => {
  for (const lost of [{ refused: "4" }, "gap()"] as const) {
    expect(play(link(), "<STX>12", lost, "56<ETX><STX>two<ETX>").deliveries).toEqual([
      { message: "1256", incomplete: "bytes of it could not be stored" },
      whole("two"),
    ]);
  }
});

describe("a text until its last words", () => {
  const untilDone = () => new OneWayLink({ start: null, end: Buffer.from("DONE") });

  test("begins with any byte but a line end, and holds its last words", () => {
    expect(play(untilDone(), "<CR><LF>R,1,DONE<CR><LF><STX>2,DODONEx", "close()")).toMatchObject({
      deliveries: [
        whole("R,1,DONE"),
        whole("<STX>2,DODONE"),
        { message: "x", incomplete: "the connection closed before the end of the text" },
      ],
      warnings: [],
    });
  });

  test("any segmentation of the stream gives the same actions, and a replay with gaps the same deliveries", () => {
    const pieces = ["DO", "NE", "DONE", "<CR>", "<LF>", "R,1,"];
    expect(segmentationCounterexample(untilDone, pieces)).toBeNull();
    expect(gapCounterexample(untilDone, pieces)).toBeNull();
  });
});

const PIECES = ["<STX>", "<ETX>", "<ETB>", "<LF>", "<SUB>", "12", "one<ETX>", "<STX>two"];

test("any segmentation of the stream gives the same actions", () => {
  expect(segmentationCounterexample(link, PIECES)).toBeNull();
});

test("a replay with gaps delivers the same as the live link", () => {
  expect(gapCounterexample(link, PIECES)).toBeNull();
});
