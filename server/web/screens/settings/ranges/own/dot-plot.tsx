import type { FoundInterval, IntervalNow } from "../../../../../dashboard/types/settings/own-intervals.ts";
import { t } from "./texts.ts";

interface DotPlotProps {
  readonly values: readonly number[];
  readonly leftOut: readonly number[];
  readonly interval: FoundInterval;
  readonly now: IntervalNow | null;
  /** Writes a value in the reader's unit. */
  readonly written: (value: number) => string;
}

const [WIDTH, HEIGHT, MARGIN, BASE] = [320, 110, 8, 92] as const;
const COLUMNS = 60;

type Mark = "value" | "suspected" | "left";

/** Draws each value as a dot over its place, equal ones above each other, with the limits and the interval in force. */
export function DotPlot({ values, leftOut, interval, now, written }: DotPlotProps) {
  const { low, high, outliers } = interval;
  const suspected = new Set(outliers.map(({ index }) => index));
  const marked = [
    ...values.map((value, index) => ({ value, mark: (suspected.has(index) ? "suspected" : "value") as Mark })),
    ...leftOut.map((value) => ({ value, mark: "left" as const })),
  ];
  const shown = [...marked.map(({ value }) => value), low.from, low.to, high.from, high.to];
  const [least, most] = extent(now === null ? shown : [...shown, now.low, now.high]);
  const x = (value: number) => MARGIN + ((value - least) / (most - least || 1)) * (WIDTH - 2 * MARGIN);
  const dots = stacked(marked.map(({ value, mark }) => ({ at: x(value), mark })));
  const step = Math.min(5, (BASE - 12) / Math.max(...dots.map(({ level }) => level + 1)));
  const [first, last] = extent(marked.map(({ value }) => value));
  const label = t("plot", {
    ...{ count: values.length, least: written(first), most: written(last) },
    ...{ low: written(low.value), high: written(high.value), suspected: suspected.size, left: leftOut.length },
  });
  return (
    <figure class="own-plot">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
        {[low, high].map(({ value, from, to }) => (
          <g key={value}>
            <rect class="own-confidence" x={x(from)} y="4" width={Math.max(x(to) - x(from), 0.5)} height={BASE - 2} />
            <line class="own-limit" x1={x(value)} x2={x(value)} y1="4" y2={BASE + 2} />
          </g>
        ))}
        <line class="own-axis" x1={MARGIN} x2={WIDTH - MARGIN} y1={BASE + 2} y2={BASE + 2} />
        {now !== null && (
          <rect class="own-now" x={x(now.low)} y={BASE + 7} width={x(now.high) - x(now.low)} height="5" rx="1.5" />
        )}
        {dots.map(({ at, level, mark }, index) => (
          <Dot key={index} x={at} y={BASE - 2 - level * step} mark={mark} />
        ))}
      </svg>
      <figcaption class="quiet">
        <Key mark="value" text={t("plotValue")} />
        {suspected.size > 0 && <Key mark="suspected" text={t("plotSuspected")} />}
        {leftOut.length > 0 && <Key mark="left" text={t("plotLeft")} />}
        <span>
          <svg class="own-key" viewBox="0 0 10 10" aria-hidden="true">
            <rect class="own-confidence" x="1" y="0" width="8" height="10" />
            <line class="own-limit" x1="5" x2="5" y1="0" y2="10" />
          </svg>
          {t("plotLimits")}
        </span>
        {now !== null && (
          <span>
            <svg class="own-key" viewBox="0 0 10 10" aria-hidden="true">
              <rect class="own-now" x="0" y="3" width="10" height="5" rx="1.5" />
            </svg>
            {t("plotNow")}
          </span>
        )}
      </figcaption>
    </figure>
  );
}

function Key({ mark, text }: { mark: Mark; text: string }) {
  return (
    <span>
      <svg class="own-key" viewBox="0 0 10 10" aria-hidden="true">
        <Dot x={5} y={5} mark={mark} />
      </svg>
      {text}
    </span>
  );
}

function Dot({ x, y, mark }: { x: number; y: number; mark: Mark }) {
  if (mark === "value") return <circle class="own-dot" cx={x} cy={y} r="2" />;
  const r = 3;
  if (mark === "suspected")
    return <path class="own-suspected" d={`M${x} ${y - r} l${r} ${r} l-${r} ${r} l-${r} -${r} Z`} />;
  return <path class="own-left" d={`M${x - r} ${y - r} l6 6 m0 -6 l-6 6`} />;
}

function stacked(dots: readonly { at: number; mark: Mark }[]): { at: number; level: number; mark: Mark }[] {
  const levels = new Map<number, number>();
  const column = (WIDTH - 2 * MARGIN) / COLUMNS;
  return dots.map(({ at, mark }) => {
    const place = Math.round((at - MARGIN) / column);
    const level = levels.get(place) ?? 0;
    levels.set(place, level + 1);
    return { at: MARGIN + place * column, level, mark };
  });
}

function extent(values: readonly number[]): [number, number] {
  return [Math.min(...values), Math.max(...values)];
}
