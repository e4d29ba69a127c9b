import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import {
  beginTrace,
  continueTrace,
  currentTrace,
  inTrace,
  traceFields,
  traceparentOf,
} from "../../../shared/network/trace.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const parentId = "00f067aa0ba902b7";

test("a valid traceparent is continued by a step of its own", () => {
  const trace = continueTrace(`00-${traceId}-${parentId}-01`);
  expect(trace).toEqual({ traceId, spanId: trace.spanId, parentId, isSampled: true });
  expect(trace.spanId).toMatch(/^(?!0{16})[\da-f]{16}$/);
  expect(trace.spanId).not.toBe(parentId);
  expect(traceparentOf(trace)).toBe(`00-${traceId}-${trace.spanId}-01`);
});

test("of the flags the first bit alone counts, and is passed on", () => {
  const flagsOf = (flags: string) => traceparentOf(continueTrace(`00-${traceId}-${parentId}-${flags}`)).slice(-2);
  expect(["00", "01", "02", "03", "fe", "ff"].map(flagsOf)).toEqual(["00", "01", "00", "01", "00", "01"]);
});

test("a later version is read by its first four fields", () => {
  for (const header of [`01-${traceId}-${parentId}-01`, `cc-${traceId}-${parentId}-01-what-comes`])
    expect(continueTrace(header)).toMatchObject({ traceId, parentId });
});

test.each([
  ["none", undefined],
  ["an empty one", ""],
  ["two headers", `00-${traceId}-${parentId}-01, 00-${traceId}-${parentId}-01`],
  ["version ff", `ff-${traceId}-${parentId}-01`],
  ["a trace id of zeros", `00-${"0".repeat(32)}-${parentId}-01`],
  ["a parent id of zeros", `00-${traceId}-${"0".repeat(16)}-01`],
  ["upper case", `00-${traceId.toUpperCase()}-${parentId}-01`],
  ["a short trace id", `00-${traceId.slice(1)}-${parentId}-01`],
  ["a letter that is not hexadecimal", `00-${traceId.slice(1)}g-${parentId}-01`],
  ["fields after those of version 00", `00-${traceId}-${parentId}-01-more`],
  ["a later version without a separator", `01-${traceId}-${parentId}-01more`],
  ["flags of one digit", `00-${traceId}-${parentId}-1`],
  ["no flags", `00-${traceId}-${parentId}`],
])("%s begins a new trace", (_name, header) => {
  const trace = continueTrace(header);
  expect(trace).toEqual({ traceId: trace.traceId, spanId: trace.spanId, parentId: null, isSampled: true });
  expect(trace.traceId).toMatch(/^(?!0{32})[\da-f]{32}$/);
  expect(trace.traceId).not.toBe(traceId);
});

test("a name gives a trace always the same id", () => {
  const [first, repeated, other] = [beginTrace("a 1"), beginTrace("a 1"), beginTrace("a 2")];
  expect(repeated.traceId).toBe(first.traceId);
  expect(repeated.spanId).not.toBe(first.spanId);
  expect(other.traceId).not.toBe(first.traceId);
});

test("what a step awaits is in its trace, and nothing else is", async () => {
  const traces = [beginTrace(), beginTrace()];
  const seen = await Promise.all(
    traces.map((trace) =>
      inTrace(trace, async () => {
        await sleep(1);
        return [currentTrace(), traceFields()];
      }),
    ),
  );
  expect(seen).toEqual(traces.map((trace) => [trace, { trace_id: trace.traceId, span_id: trace.spanId }]));
  expect([currentTrace(), traceFields()]).toEqual([undefined, {}]);
});
