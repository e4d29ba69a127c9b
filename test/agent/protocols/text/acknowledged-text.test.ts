import { expect, test } from "vitest";
import { OneWayLink } from "../../../../agent/protocols/text/one-way-link.ts";
import { EOT, SOH } from "../../../../agent/protocols/bytes.ts";
import { gapCounterexample, play, segmentationCounterexample } from "../astm/observed-actions.ts";

const link = () => new OneWayLink({ start: SOH, end: EOT, isAcknowledged: true });
const whole = (message: string) => ({ message, incomplete: null });

test("each text from SOH to EOT is delivered and gets one ACK", () => {
  expect(play(link(), "<SOH>one<CR><EOT><SOH>two<CR><EOT>")).toMatchObject({
    replies: "<ACK><ACK>",
    deliveries: [whole("one<CR>"), whole("two<CR>")],
    warnings: [],
  });
});

test.each([
  ["an EOT without text", "<EOT>"],
  ["a text that is not ended", "<SOH>one"],
  ["a text that another one cuts short", "<SOH>one<SOH>two"],
])("%s gets no ACK", (_, wire) => {
  expect(play(link(), wire, "close()").replies).toBe("");
});

test("a text with a gap is delivered as incomplete, without ACK", () => {
  expect(play(link(), "<SOH>one", "gap()", "<EOT>")).toMatchObject({
    replies: "",
    deliveries: [{ message: "one", incomplete: "bytes of it could not be stored" }],
  });
});

test("a refused end gets no ACK, and the text ends with silence", () => {
  const device = link();
  expect(play(device, "<SOH>one", { refused: "<EOT>" })).toMatchObject({ replies: "", deliveries: [] });
  expect(play(device, "timeout()").deliveries).toEqual([
    { message: "one", incomplete: "bytes of it could not be stored" },
  ]);
  expect(device.isIdle).toBe(true);
});

const PIECES = ["<SOH>", "<EOT>", "<STX>", "<ACK>", "<CR>", "12", "one<EOT>", "<SOH>two"];

test("any segmentation of the stream gives the same actions", () => {
  expect(segmentationCounterexample(link, PIECES)).toBeNull();
});

test("a replay with gaps delivers the same as the live link", () => {
  expect(gapCounterexample(link, PIECES)).toBeNull();
});
