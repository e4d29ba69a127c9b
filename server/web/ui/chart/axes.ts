import type uPlot from "uplot";
import { locale, timeZone } from "../../text.ts";
import { colour } from "./canvas.ts";

// Axes of charts in the page's language, and in the clinic's time zone.

const MONTH_S = 28 * 86_400;
const DAY_S = 86_400;

/** Seconds since 1970. */
export type Span = readonly [from: number, to: number];

/** Adds a margin to a span of time. A span without length gets one of a day. */
export function widened([from, to]: Span): [number, number] {
  const margin = (to - from || DAY_S) * 0.04;
  return [from - margin, to + margin];
}

export const axis: uPlot.Axis = {
  stroke: () => colour("quiet"),
  grid: { stroke: () => colour("line"), width: 1 },
  ticks: { stroke: () => colour("line") },
};

/** Prints months, days or times. */
export function timeLabels(_: uPlot, seconds: number[], _axis: number, _space: number, step: number): string[] {
  const zone = timeZone.value === undefined ? {} : { timeZone: timeZone.value };
  const format = new Intl.DateTimeFormat(locale(), { ...styleOf(step), ...zone });
  return seconds.map((each) => format.format(new Date(each * 1000)));
}

function styleOf(step: number): Intl.DateTimeFormatOptions {
  if (step >= MONTH_S) return { month: "short", year: "numeric" };
  return step >= DAY_S ? { day: "numeric", month: "short" } : { hour: "2-digit", minute: "2-digit" };
}

/** Prints the numbers of the axis like values of results: the same in each language. */
export function numberLabels(_: uPlot, numbers: number[]): string[] {
  // Sums of steps such as 0.1 have faults in the last digits.
  return numbers.map((each) => String(Number(each.toPrecision(12))));
}
