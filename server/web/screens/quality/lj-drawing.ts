import type uPlot from "uplot";
import type { SeriesBody, ShownPoint } from "../../../dashboard/types/quality.ts";
import { circle, colour, setMarkFont } from "../../ui/chart/canvas.ts";
import { zoneOf } from "./words/numbers.ts";
import { toldRules } from "./words/words.ts";

// Draws a Levey-Jennings chart: lines at the mean and 1, 2 and 3 SD, a line at each change of the device, and the runs. A shape
// says where a value lies, so that no state is shown by colour alone.

/** The SDs that the chart shows on each side. Values beyond are drawn at the edge. */
export const SHOWN_SDS = 4.5;

export function secondsOf({ at }: { readonly at: string }): number {
  return Date.parse(at) / 1000;
}

/** Draws the lines of the limits, and a numbered line at each change. */
export function drawLines(chart: uPlot, { target, events }: Pick<SeriesBody, "target" | "events">): void {
  const { ctx, bbox } = chart;
  const size = devicePixelRatio;
  ctx.save();
  if (target !== null) {
    for (const sds of [-3, -2, -1, 0, 1, 2, 3]) {
      const y = Math.round(chart.valToPos(target.mean + sds * target.sd, "y", true));
      ctx.strokeStyle = colour(LINES[Math.abs(sds)] ?? "line");
      ctx.lineWidth = (sds === 0 ? 1.5 : 1) * size;
      ctx.setLineDash(sds === 0 ? [] : [4 * size, 4 * size]);
      line(ctx, { x: bbox.left, y }, { x: bbox.left + bbox.width, y });
    }
  }
  setMarkFont(chart);
  ctx.textAlign = "left";
  ctx.setLineDash([2 * size, 2 * size]);
  ctx.strokeStyle = colour("accent");
  ctx.fillStyle = colour("accent-ink");
  for (const [index, event] of events.entries()) {
    const x = Math.round(chart.valToPos(secondsOf(event), "x", true));
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    line(ctx, { x, y: bbox.top }, { x, y: bbox.top + bbox.height });
    ctx.fillText(String(index + 1), x + 3 * size, bbox.top + 11 * size);
  }
  ctx.restore();
}

/** Tokens of the lines by their distance from the mean in SD. */
const LINES: Readonly<Record<number, string>> = { 0: "quiet", 1: "line-strong", 2: "warn", 3: "critical" };

/** Draws the runs, those of the lots before and after, and a ring around the chosen one. */
export function drawRuns(
  chart: uPlot,
  { target, points, neighbours }: Pick<SeriesBody, "target" | "points" | "neighbours">,
  chosen: number,
): void {
  const { ctx } = chart;
  const size = devicePixelRatio;
  ctx.save();
  setMarkFont(chart);
  ctx.textAlign = "center";
  ctx.lineWidth = 1.5 * size;
  ctx.setLineDash([]);
  if (target !== null) {
    ctx.strokeStyle = colour("quiet");
    for (const { at, z } of neighbours.flatMap((lot) => lot.points)) {
      if (z === null) continue;
      const x = chart.valToPos(secondsOf({ at }), "x", true);
      polygon(ctx, placeOf(chart, x, target.mean + z * target.sd), DIAMOND, 3.5 * size);
      ctx.stroke();
    }
  }
  ctx.lineWidth = 2 * size;
  for (const [index, point] of points.entries()) drawRun(chart, point, index === chosen);
  ctx.restore();
}

function drawRun(chart: uPlot, point: ShownPoint, isChosen: boolean): void {
  const { ctx, bbox } = chart;
  const size = devicePixelRatio;
  const place = placeOf(chart, chart.valToPos(secondsOf(point), "x", true), point.value, point.text);
  const zone = point.z === null ? "inside" : zoneOf(point.z);
  const own = colour({ inside: "text", off: "high", far: "critical" }[zone]);
  ctx.strokeStyle = own;
  ctx.fillStyle = point.excluded === null ? own : colour("surface");
  if (zone === "inside") circle(ctx, place.x, place.y, 4 * size);
  else polygon(ctx, place, zone === "off" ? SQUARE : TRIANGLE, 5.5 * size);
  ctx.fill();
  ctx.stroke();
  if (isChosen) {
    ctx.strokeStyle = colour("accent");
    circle(ctx, place.x, place.y, 9 * size);
    ctx.stroke();
  }
  const label = point.value === null ? point.text : point.verdict === "reject" ? toldRules(point.rules).join(" ") : "";
  if (label === "") return;
  ctx.fillStyle = colour("text");
  const isAtTop = place.y - 14 * size < bbox.top;
  ctx.fillText(label, place.x, isAtTop ? place.y + 20 * size : place.y - 11 * size);
}

interface Place {
  readonly x: number;
  readonly y: number;
}

/** Keeps a value within the chart. Without a number it is at the edge: `<` at the bottom, another text at the top. */
function placeOf(chart: uPlot, x: number, value: number | null, text = ""): Place {
  const { top, height } = chart.bbox;
  const bottom = top + height;
  const y = value !== null ? chart.valToPos(value, "y", true) : text.trim().startsWith("<") ? bottom : top;
  return { x, y: Math.min(bottom, Math.max(top, y)) };
}

const SQUARE = [
  [-1, -1],
  [1, -1],
  [1, 1],
  [-1, 1],
] as const;
const TRIANGLE = [
  [0, -1.2],
  [1.2, 1],
  [-1.2, 1],
] as const;
const DIAMOND = [
  [0, -1.3],
  [1.3, 0],
  [0, 1.3],
  [-1.3, 0],
] as const;

function polygon(
  ctx: CanvasRenderingContext2D,
  { x, y }: Place,
  corners: readonly (readonly [x: number, y: number])[],
  size: number,
): void {
  ctx.beginPath();
  for (const [dx, dy] of corners) ctx.lineTo(x + dx * size, y + dy * size);
  ctx.closePath();
}

function line(ctx: CanvasRenderingContext2D, from: Place, to: Place): void {
  ctx.beginPath();
  ctx.moveTo(from.x, from.y);
  ctx.lineTo(to.x, to.y);
  ctx.stroke();
}
