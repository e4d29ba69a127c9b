import type { StudyRow } from "../types/results/results.ts";
import { place } from "../types/results/range-place.ts";
import type { PdfNode, PdfShape } from "./pdf.ts";

// The marks of a value on paper: its flag with arrows, and its place in the interval.

/** The colours of the pages in their light theme. */
export const COLOURS = {
  accent: "#0b6e69",
  bar: "#dbe3e1",
  interval: "#a5d3cd",
  normal: "#15211f",
  low: "#1d4ed8",
  high: "#a63c08",
  critical: "#b0211a",
  criticalFill: "#b3261e",
  criticalGround: "#fdeceb",
  onCritical: "#ffffff",
  remarkGround: "#f3f6f5",
  headGround: "#f3f6f5",
  ring: "#4a5956",
  pen: "#aab6b3",
} as const;

export const BAR_WIDTH = 54;

/** Draws the position of a value in its interval, which is the middle half of the bar; a value far outside is an arrowhead. */
export function rangeBar({ low, high, flag }: StudyRow, value: number, before: number | null): PdfShape[] {
  const { at, from, to, end } = place(value, low, high);
  const x = (part: number) => (part * BAR_WIDTH) / 100;
  const color = COLOURS[flag ?? "normal"];
  const tip = end === "low" ? 0 : BAR_WIDTH;
  const back = end === "low" ? 6 : BAR_WIDTH - 6;
  const points = [
    { x: back, y: 1 },
    { x: tip, y: 5.5 },
    { x: back, y: 10 },
  ];
  const ring = { r1: 2, r2: 2, color: "#ffffff", lineColor: COLOURS.ring, lineWidth: 0.8 };
  return [
    { type: "rect", x: 0, y: 4.75, w: BAR_WIDTH, h: 1.5, r: 0.5, color: COLOURS.bar },
    { type: "rect", x: x(from), y: 2.5, w: x(to - from), h: 6, r: 1, color: COLOURS.interval },
    ...(before === null
      ? []
      : [{ type: "ellipse", x: x(place(before, low, high).at), y: 5.5, ...ring } satisfies PdfShape]),
    end === null
      ? { type: "rect", x: x(at) - 1.5, y: 0.5, w: 3, h: 10, r: 1.5, color }
      : { type: "polyline", points, closePath: true, color },
  ];
}

const ARROW_WIDTH = 5;

/** A flag as word, arrows and colour. The font has no arrows, so that they are drawn. A critical value alone is filled. */
export function flagMark({ flag, side }: StudyRow, text: string): PdfNode {
  const color = flag === null || flag === "normal" ? COLOURS.high : COLOURS[flag];
  const direction = flag === "low" || flag === "high" ? flag : flag === "critical" ? side : null;
  const arrows = direction === null ? 0 : flag === "critical" ? 2 : 1;
  const isFilled = flag === "critical";
  const word: PdfNode = isFilled
    ? { text: `\u00a0${text}\u00a0`, style: "outside", color: COLOURS.onCritical, background: COLOURS.criticalFill }
    : { text, style: "outside", color };
  if (arrows === 0) return word;
  const canvas = Array.from({ length: arrows }, (_, index) => arrow(direction === "low", index * ARROW_WIDTH, color));
  return { columns: [{ canvas: canvas.flat(), width: arrows * ARROW_WIDTH + 2 }, word] };
}

/** A small arrow down or up, with its left edge at `left`. */
function arrow(isDown: boolean, left: number, color: string): PdfShape[] {
  const y = (down: number) => (isDown ? down : 11 - down);
  const points = [
    { x: left, y: y(6) },
    { x: left + 4, y: y(6) },
    { x: left + 2, y: y(9.5) },
  ];
  return [
    { type: "rect", x: left + 1.5, y: isDown ? 2 : 5, w: 1, h: 4, r: 0, color },
    { type: "polyline", points, closePath: true, color },
  ];
}
