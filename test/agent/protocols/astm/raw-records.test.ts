import { describe, expect, test } from "vitest";
import {
  LAST_LINE_MS,
  MESSAGE_BYTES_MAX,
  RawRecordsLink,
  SILENCE_MS,
} from "../../../../agent/protocols/astm/raw-records.ts";
import { NOISE_TIMEOUT_MS } from "../../../../agent/protocols/noise.ts";
import { gapCounterexample, play, segmentationCounterexample } from "./observed-actions.ts";
import { complete } from "./wire.ts";

const link = () => new RawRecordsLink(false);
const H = "H|\\^&|||Analyzer";
const R = "R|1|^^^GLU|95";
const L = "L|1|N";

test.each(["<CR>", "<CR><LF>", "<LF>"])("lines that end with %s give a message from H to L without a reply", (end) => {
  expect(play(link(), `${[H, R, L].join(end)}${end}`)).toEqual({
    replies: "",
    deliveries: [complete(H, R, L)],
    warnings: [],
    timer: null,
  });
});

test("other lines between messages give one warning per run", () => {
  const noise = "HELLO<CR>H<CR>xH|\\^&<CR>L|1|N<CR><LF>R|1<CR>";
  const device = link();
  const warnings = ["20 bytes outside a message: ignored"];
  expect(play(device, `${noise}${H}<CR>${L}<CR>`, "<CR><LF>")).toEqual({
    replies: "",
    deliveries: [complete(H, L)],
    warnings,
    timer: null,
  });
  expect(play(device, noise)).toMatchObject({ warnings: [], timer: NOISE_TIMEOUT_MS });
  expect(device.isIdle).toBe(false);
  expect(play(device, "timeout()")).toEqual({ replies: "", deliveries: [], warnings, timer: null });
  expect(device.isIdle).toBe(true);
  expect(play(device, `${H}<CR>${R}<CR>${L}<CR>`).deliveries).toEqual([complete(H, R, L)]);
});

test("frame numbers before records are removed if the profile declares them", () => {
  const digits = [H, R, L].map((line, index) => `${index + 1}${line}<CR>`).join("");
  expect(play(new RawRecordsLink(true), digits).deliveries).toEqual([complete(H, R, L)]);
  expect(play(new RawRecordsLink(true), `${H}<CR>${R}<CR>${L}<CR>`).deliveries).toEqual([complete(H, R, L)]);
  expect(play(link(), digits, "close()").deliveries).toEqual([]);
});

describe("control characters of E1381 without frame numbers", () => {
  const frames = (end: string) => [H, R, L].map((record) => `<STX>${record}<CR><ETX>${end}`).join("");
  test.each([
    ["ENQ, STX, ETX and EOT around a message", `<ENQ><STX>${[H, R, L].join("<CR>")}<CR><ETX><CR><LF><EOT>`],
    ["ETX after the L record", `<STX>${[H, R, L].join("<CR>")}<ETX>`],
    ["EOT after the L record", `<ENQ>${[H, R, L].join("<CR>")}<EOT>`],
    ["a frame and a checksum for each record", `<ENQ>${frames("4F<CR><LF>")}<EOT>`],
    ["a frame for each record, and no line end after it", frames("")],
    ["a checksum and no line end after it", frames("c1")],
  ])("%s give a message without noise", (_, text) => {
    const device = link();
    for (let times = 0; times < 2; times++)
      expect(play(device, text, "timeout()")).toMatchObject({ deliveries: [complete(H, R, L)], warnings: [] });
    expect(device.isIdle).toBe(true);
  });

  test("they are noise unless a header follows", () => {
    const device = link();
    expect(play(device, "<ENQ>").timer).toBe(NOISE_TIMEOUT_MS);
    expect(play(device, "timeout()").warnings).toEqual(["1 byte outside a message: ignored"]);
    expect(play(device, "<ENQ><STX>R|1<CR>", "timeout()").warnings).toEqual(["5 bytes outside a message: ignored"]);
    expect(play(device, "<STX>1H|\\^&<CR>", "timeout()").warnings).toEqual(["7 bytes outside a message: ignored"]);
  });

  test("a comment after ETX is not a checksum", () => {
    const comment = "C|1|I|few cells";
    expect(play(link(), `${H}<CR><ETX>${comment}<CR>${L}<CR>`).deliveries).toEqual([complete(H, comment, L)]);
    expect(play(new RawRecordsLink(true), `1${H}<CR><ETX>2${comment}<CR>3${L}<CR>`).deliveries).toEqual([
      complete(H, comment, L),
    ]);
  });

  test("a record that ETX or ETB cuts gives no part of it as a value", () => {
    for (const cut of ["<ETX>", "<ETB>"]) {
      const [{ message } = { message: "" }] = play(
        link(),
        `${H}<CR>R|1|^^^GLU|9${cut}4F<CR><LF><STX>5|mg<CR>${L}<CR>`,
      ).deliveries;
      expect(message).toContain(`|9${cut}4F<CR>`);
    }
  });
});

test("record types in lower case are recognized", () => {
  expect(play(link(), "h|\\^&<CR>l|1|n<CR>").deliveries).toEqual([complete("h|\\^&", "l|1|n")]);
});

describe("last line without its end", () => {
  test("a short silence or a closed connection ends the message", () => {
    const device = link();
    expect(play(device, `${H}<CR>${R}<CR>${L}`).timer).toBe(LAST_LINE_MS);
    expect(play(device, "timeout()").deliveries).toEqual([complete(H, R, L)]);
    expect(play(link(), `${H}<CR>${R}<CR>${L}`, "close()").deliveries).toEqual([complete(H, R, L)]);
  });

  test.each(["L", "L|1", "L|1|"])("%s may lack the report of a failed sender", (last) => {
    expect(play(link(), `${H}<CR>${last}`, "close()").deliveries).toEqual([
      { message: `${H}<CR>${last}`, incomplete: "the connection closed before the L record" },
    ]);
  });
});

describe("a message without L is incomplete", () => {
  test("a new message makes the last one incomplete", () => {
    expect(play(link(), `${H}<CR>${R}<CR>${H}<CR>${L}<CR>`).deliveries).toEqual([
      { message: `${H}<CR>${R}<CR>`, incomplete: "a new H record came before the L record" },
      complete(H, L),
    ]);
  });

  test("silence makes a message incomplete", () => {
    const device = link();
    expect(play(device, `${H}<CR>R|1|^^^GL`).timer).toBe(SILENCE_MS);
    expect(play(device, "timeout()").deliveries).toEqual([
      { message: `${H}<CR>R|1|^^^GL`, incomplete: "the device fell silent before the L record" },
    ]);
    expect(device.isIdle).toBe(true);
  });

  test("a message beyond the limit is incomplete", () => {
    const { deliveries } = play(link(), `${H}<CR>${`${R}<CR>`.repeat(80_000)}${H}<CR>${L}<CR>`);
    expect(deliveries.map(({ incomplete }) => incomplete)).toEqual([
      `a message of more than ${MESSAGE_BYTES_MAX} bytes`,
      null,
    ]);
  });
});

test("a message with unstored bytes is incomplete; the next one is complete", () => {
  for (const lost of [{ refused: R }, "gap()"] as const) {
    const { deliveries } = play(link(), `${H}<CR>`, lost, `${L}<CR>${H}<CR>${L}<CR>`);
    expect(deliveries).toEqual([
      { message: `${H}<CR>${L}<CR>`, incomplete: "bytes of it could not be stored" },
      complete(H, L),
    ]);
  }
});

const PIECES = [
  "<ENQ>",
  "<STX>",
  "<ETX>",
  "<EOT>",
  "<ETX>4F<CR>",
  H,
  R,
  L,
  "<CR>",
  "<LF>",
  "<CR><LF>",
  "1",
  "x",
  "H",
  `${H}<CR>`,
  `<CR>${L}<CR>`,
  `3${R}<CR>`,
];

test("any segmentation of the stream gives the same actions", () => {
  expect(segmentationCounterexample(link, PIECES)).toBeNull();
  expect(segmentationCounterexample(() => new RawRecordsLink(true), PIECES)).toBeNull();
});

test("a replay with gaps delivers the same as the live link", () => {
  expect(gapCounterexample(link, PIECES)).toBeNull();
});
