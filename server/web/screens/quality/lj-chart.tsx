import type uPlot from "uplot";
import type { SeriesBody } from "../../../dashboard/types/quality.ts";
import { dateTime } from "../../text.ts";
import { numberLabels } from "../../ui/chart/axes.ts";
import { colour } from "../../ui/chart/canvas.ts";
import { TimeChart } from "../../ui/chart/time-chart.tsx";
import { drawLines, drawRuns, secondsOf, SHOWN_SDS } from "./lj-drawing.ts";
import { inDigitsOf } from "./words/numbers.ts";
import { t } from "./words/texts.ts";
import { eventText, pointText } from "./words/words.ts";

/** Width of the axis of the SDs, in CSS pixels. */
const SDS_WIDTH = 44;

/** The Levey-Jennings chart of a series. It has at least one run. */
export function LeveyJennings({ of: body, title }: { of: SeriesBody; title: string }) {
  const { series, target, points, neighbours, events } = body;
  const times = points.map(secondsOf);
  const span = [times[0] ?? 0, times.at(-1) ?? 0] as const;
  const isShown = (at: string) => Date.parse(at) / 1000 >= span[0] && Date.parse(at) / 1000 <= span[1];
  const drawn = {
    ...{ target, points, events },
    neighbours: neighbours.map((lot) => ({ ...lot, points: lot.points.filter(({ at }) => isShown(at)) })),
  };
  return (
    <>
      <TimeChart
        label={t("chart", { title, count: points.length })}
        times={times}
        content={JSON.stringify(drawn)}
        span={span}
        rows={[points.map(({ value, excluded }) => (excluded === null ? value : null))]}
        lines={[{ stroke: () => colour("text"), width: 1.25, points: { show: false }, spanGaps: true }]}
        range={() => rangeOf(body)}
        axes={axesOf(body)}
        drawBehind={(chart) => drawLines(chart, drawn)}
        drawPoints={(chart, chosen) => drawRuns(chart, drawn, chosen)}
        tell={(index) => {
          const point = points[index];
          return point === undefined ? "" : pointText(point, series.unit);
        }}
      />
      <p class="quiet legend">
        {t("legend")}{" "}
        {drawn.neighbours
          .filter((lot) => lot.points.length > 0)
          .map(({ lot }) => t("neighbour", { lot }))
          .join(" ")}
      </p>
      {events.length > 0 && (
        <div class="quiet legend">
          {t("linesWithNumber")}
          <ol>
            {events.map((event) => (
              <li key={event.id}>
                <time dateTime={event.at}>{dateTime(event.at)}</time> · {eventText(event)}
              </li>
            ))}
          </ol>
        </div>
      )}
    </>
  );
}

/** With a target the lines and a margin; without one all values. */
function rangeOf({ target, points }: SeriesBody): [number, number] {
  if (target !== null) return [target.mean - SHOWN_SDS * target.sd, target.mean + SHOWN_SDS * target.sd];
  const numbers = points.flatMap(({ value }) => value ?? []);
  if (numbers.length === 0) return [0, 1];
  const [from, to] = [Math.min(...numbers), Math.max(...numbers)];
  const margin = (to - from || Math.abs(to) || 1) * 0.2;
  return [from - margin, to + margin];
}

/** The values on the left, the SDs on the right. */
function axesOf({ target }: SeriesBody): uPlot.Axis[] {
  if (target === null) return [{ values: numberLabels }];
  const { mean, sd } = target;
  const splits = () => [-3, -2, -1, 0, 1, 2, 3].map((sds) => mean + sds * sd);
  const grid = { show: false };
  return [
    { grid, splits, values: (_, values) => values.map((value) => inDigitsOf(value, sd)), size: 60 },
    { grid, splits, values: () => SDS, side: 1, size: SDS_WIDTH, scale: "y" },
  ];
}

const SDS = ["−3", "−2", "−1", "0", "+1", "+2", "+3"];
