import { expect, test } from "vitest";
import { htiMicrocc20 } from "../../../../agent/devices/text/hti-microcc-20.ts";
import { read } from "../../../../agent/study/read.ts";
import { context, reportsOf } from "../../records.ts";

/** Makes a record R with its sum. */
function record(number: string, value: string): string {
  const text = `R,${number},2026-11-21,14:15:00,,,, ,,,,,WBC,${value},10^9/L,`;
  return `${text}${Buffer.from(text).reduce((sum, byte) => sum + byte, 0) % 65_536},\r\n`;
}

const END = "M,,165,TRANSFER FINISH";

function readingOf(text: string): unknown {
  const reading = read(Buffer.from(text, "latin1"), htiMicrocc20, context);
  if (reading.is !== "reports") return reading.reason;
  return reportsOf(reading).map(({ sampleIds, rows }) => [...(sampleIds ?? []), ...rows.map(({ value }) => value)]);
}

test.each(["", "\0", "\xff\x11", "R", "x R\r\n"])("noise of the line before a run does not lose it: %j", (noise) => {
  expect(readingOf(`${noise}${record("12", "9.8")}${END}`)).toEqual([["12", 9.8]]);
});

test("two runs whose first lost its end are not read, since one of them would be lost", () => {
  expect(readingOf(record("12", "9.8") + record("13", "7.1") + END)).toContain("several records R");
  const cut = record("12", "9.8").slice(0, 14);
  expect(readingOf(cut + record("13", "7.1") + END)).toContain("does not begin with a record R");
});

test("a changed digit of the result is seen by the sum", () => {
  expect(readingOf(`${record("12", "9.8").replace("9.8", "9.3")}${END}`)).toContain("the sum of the record R");
});
