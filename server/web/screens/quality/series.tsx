import { useState } from "preact/hooks";
import type { SeriesBody } from "../../../dashboard/types/quality.ts";
import { clinicPath, may } from "../../session.ts";
import { Facts } from "../../ui/status/facts.tsx";
import { AddEvent } from "./dialogs/event.tsx";
import { LeveyJennings } from "./lj-chart.tsx";
import { inDigitsOf, targetText } from "./words/numbers.ts";
import { RunTable } from "./run-table.tsx";
import { t } from "./words/texts.ts";
import { Violations } from "./violations.tsx";
import { analyteTitle, basisText, type Names } from "./words/words.ts";

interface SeriesProps {
  readonly of: SeriesBody;
  /** The shown time, as parameters of a request. */
  readonly time: Readonly<Record<string, string>>;
  readonly names: Names;
  /** Whether nothing else on the page needs a person first. */
  readonly isFirst: boolean;
  readonly reload: () => Promise<void>;
}

/** A series: its chart, what broke a rule, its numbers, and its runs as a table. */
export function Series({ of: body, time, names, isFirst, reload }: SeriesProps) {
  const { series, target, points } = body;
  const title = t("seriesTitle", { analyte: analyteTitle(series.analyte, names), level: series.level });
  const unit = series.unit ?? "";
  const csv = `/clinic/v1${clinicPath()}/quality/runs.csv?${new URLSearchParams({ device: series.device_id, ...time })}`;
  return (
    <div>
      <figure class="card quality-chart">
        <figcaption class="between">
          <h2>
            {title} <span class="quiet">{unit}</span>
          </h2>
          {target !== null && (
            <p class="quiet">
              {t("target", { target: targetText(target), unit })} · {basisText(target)}
            </p>
          )}
        </figcaption>
        {target === null && <p class="note">{t("noTarget")}</p>}
        {points.length > 0 && <LeveyJennings of={body} title={title} />}
        <Events of={body} reload={reload} />
      </figure>
      <Violations of={body} isFirst={isFirst} reload={reload} />
      <Statistics of={body} />
      <details class="card" open={points.length > 0 && target === null}>
        <summary>{t("openTable")}</summary>
        <RunTable of={body} title={title} reload={reload} />
      </details>
      <p class="no-print">
        <a href={csv} download>
          {t("csv")}
        </a>
      </p>
    </div>
  );
}

function Statistics({ of: { statistics, target, allowable_error, series } }: Pick<SeriesProps, "of">) {
  if (statistics === null) return null;
  const { runs, mean, sd, cv, bias, sigma } = statistics;
  const unit = series.unit ?? "";
  const digitsOf = target?.sd ?? sd;
  return (
    <section class="card" aria-labelledby="numbers">
      <h2 id="numbers">{t("statistics")}</h2>
      <Facts
        of={[
          [t("runs"), runs],
          [t("mean"), `${inDigitsOf(mean, digitsOf)} ${unit}`],
          [t("sd"), `${inDigitsOf(sd, digitsOf)} ${unit}`],
          [t("cv"), percentText(cv)],
          [t("bias"), percentText(bias)],
          [t("sigma"), sigma === null ? null : sigma.toFixed(1)],
          [
            t("allowed"),
            allowable_error && t("allowedOf", { percent: allowable_error.percent, source: allowable_error.source }),
          ],
        ]}
      />
    </section>
  );
}

function percentText(value: number | null): string | null {
  return value === null ? null : `${value < 0 ? "−" : ""}${t("percent", { value: Math.abs(value).toFixed(1) })}`;
}

/** Changes of the device are lines in the chart. A device that does not send them needs a person to add them. */
function Events({ of: { series, events }, reload }: Pick<SeriesProps, "of" | "reload">) {
  const [isOpen, setOpen] = useState(false);
  if (!may("staff")) return null;
  return (
    <p class="actions no-print">
      <button type="button" onClick={() => setOpen(true)}>
        {t("addEvent")}
      </button>
      {events.length === 0 && <span class="quiet">{t("noEvents")}</span>}
      {isOpen && <AddEvent device={series.device_id} close={() => setOpen(false)} reload={reload} />}
    </p>
  );
}
