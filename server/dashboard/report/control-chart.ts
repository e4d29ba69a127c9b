import { DateTime } from "luxon";
import type { Language } from "../../../shared/api/language.ts";
import type { ShownPoint, Target } from "../types/quality.ts";
import type { PdfNode, PdfShape } from "./pdf.ts";
import { COLOURS } from "./report-marks.ts";

// The Levey-Jennings chart of a series on paper: values in SDs from the target, over the days of a month.

const WIDTH = 470;
const HEIGHT = 84;
/** SDs above and below the target. A value beyond is drawn at the edge. */
const REACH = 4;

/** The names of the lines, each with the space above that sets it beside its line. */
const LABELS = [
  ["+3 s", 5],
  ["+2 s", 1],
  ["0", 12],
  ["−2 s", 12],
  ["−3 s", 1],
] as const;

/** The width of those names. */
const LABELS_WIDTH = 28;

/** The days of a chart, from the start of the first one, ms since 1970. */
interface Days {
  readonly from: number;
  readonly to: number;
  readonly zone: string;
  readonly language: Language;
}

/** Draws the values of a series on some days. What is neither judged nor left out is not drawn. */
export function controlChart(points: readonly ShownPoint[], target: Pick<Target, "mean" | "sd">, days: Days): PdfNode {
  const { from, to } = days;
  const x = (at: string) => ((Date.parse(at) - from) / (to - from)) * WIDTH;
  const judged = points.flatMap(({ at, z, verdict }) => (z === null ? [] : [{ x: x(at), y: y(z), verdict }]));
  // A value that a person left out keeps its place, though it has no z.
  const left = points.flatMap(({ at, value, excluded }) =>
    excluded === null || value === null ? [] : [{ x: x(at), y: y((value - target.mean) / target.sd) }],
  );
  const canvas: PdfShape[] = [
    ...[3, 2, 0, -2, -3].map(line),
    ...judged.slice(1).map((point, index): PdfShape => {
      const before = judged[index] ?? point;
      return {
        type: "line",
        x1: before.x,
        y1: before.y,
        x2: point.x,
        y2: point.y,
        lineColor: COLOURS.pen,
        lineWidth: 0.6,
      };
    }),
    ...judged.map(mark),
    ...left.map(ring),
  ];
  const labels = LABELS.map(([text, above]): PdfNode => ({ text, style: "quiet", margin: [0, above, 0, 0] }));
  const chart = {
    columns: [
      { stack: labels, width: LABELS_WIDTH },
      { canvas, width: "auto" as const },
    ],
  };
  return { stack: [chart, dates(days)], margin: [0, 4, 0, 4] };
}

/** The dates below the chart, one a week, each below the start of its day. */
function dates({ from, to, zone, language }: Days): PdfNode {
  const shown: PdfNode[] = [];
  let day = DateTime.fromMillis(from, { zone, locale: language });
  while (day.toMillis() < to) {
    const next = day.plus({ weeks: 1 });
    const width = ((Math.min(next.toMillis(), to) - day.toMillis()) / (to - from)) * WIDTH;
    shown.push({ text: day.toFormat("d LLL"), style: "quiet", noWrap: true, width });
    day = next;
  }
  return { columns: [{ text: "", width: LABELS_WIDTH }, ...shown] };
}

/** The line at a distance from the target in SDs. */
function line(z: number): PdfShape {
  return {
    ...{ type: "line", x1: 0, y1: y(z), x2: WIDTH, y2: y(z) },
    lineColor: z === 0 ? COLOURS.accent : Math.abs(z) === 2 ? COLOURS.pen : COLOURS.criticalFill,
    lineWidth: z === 0 ? 0.8 : 0.5,
  };
}

/** The height of a distance from the target in SDs. */
function y(z: number): number {
  return HEIGHT / 2 - (Math.max(-REACH, Math.min(REACH, z)) / REACH) * (HEIGHT / 2);
}

function mark({ x, y: top, verdict }: { x: number; y: number; verdict: ShownPoint["verdict"] }): PdfShape {
  if (verdict === "reject") {
    const points = [
      { x, y: top - 3.5 },
      { x: x + 3.2, y: top + 2.5 },
      { x: x - 3.2, y: top + 2.5 },
    ];
    return { type: "polyline", points, closePath: true, color: COLOURS.criticalFill };
  }
  if (verdict === "warn") return { type: "rect", x: x - 2.4, y: top - 2.4, w: 4.8, h: 4.8, r: 0, color: COLOURS.high };
  const color = COLOURS.accent;
  return { type: "ellipse", x, y: top, r1: 2.2, r2: 2.2, color, lineColor: color, lineWidth: 0.5 };
}

/** A value that a person left out. */
function ring({ x, y: top }: { x: number; y: number }): PdfShape {
  return { type: "ellipse", x, y: top, r1: 2.6, r2: 2.6, color: "#ffffff", lineColor: COLOURS.ring, lineWidth: 0.8 };
}
