import { useEffect } from "preact/hooks";
import type { PatientResults } from "../../../../dashboard/types/patients.ts";
import {
  deviceTitle,
  type ResultRow,
  resultRows,
  type RowValue,
} from "../../../../dashboard/types/results/result-rows.ts";
import { sideOf } from "../../../../dashboard/types/results/result-value.ts";
import { Empty, Loaded, useResource } from "../../../resource.tsx";
import { doubtText } from "../../../../../shared/clinical/device-words/device-words.ts";
import { dateTime, language, translations } from "../../../text.ts";
import { DataTable } from "../../../ui/list/data-table.tsx";
import { Flag, flagWord } from "../../../ui/result-row/flag.tsx";
import { ControlMark, controlFailed } from "../../../ui/result-row/control-mark.tsx";
import { convertedFrom } from "../../../ui/result-row/sent-text.ts";
import { differenceWord, notComparable } from "../../../ui/words/change-words.ts";
import { studyWord } from "../../../ui/words/study-word.ts";
import { analyteName, dayOf, plainDate } from "../../../ui/words/words.ts";
import { ChangeMark } from "../change-mark.tsx";
import { Chart, type Span } from "./chart.tsx";
import { secondsOf } from "./chart-drawing.ts";

interface CurvesProps {
  readonly fp: string;
  readonly analyte: string;
  /** Whether the page has no other analyte: then the table of the values is open. */
  readonly isAlone: boolean;
  /** The time of all charts; null until one is loaded. */
  readonly span: Span | null;
  readonly loaded: (results: PatientResults, span: Span) => void;
}

/** One analyte over time. Values in different units, or of different devices' own codes, have a chart each. */
export function AnalyteCurves({ fp, analyte, isAlone, span, loaded }: CurvesProps) {
  const results = useResource<PatientResults>(
    `/patients/${encodeURIComponent(fp)}/results?analyte=${encodeURIComponent(analyte)}`,
  );
  const { data } = results;
  useEffect(() => {
    if (data === undefined) return;
    const times = data.studies.map(({ acquired_at }) => Date.parse(acquired_at) / 1000);
    if (times.length > 0) loaded(data, [Math.min(...times), Math.max(...times)]);
  }, [data]);
  return (
    <Loaded of={results}>
      {(shown) => {
        const rows = resultRows(shown);
        if (rows.length === 0) return <Empty title={t("none", { analyte })} />;
        return rows.map((row) => <Series key={row.key} row={row} span={span} isAlone={isAlone} />);
      }}
    </Loaded>
  );
}

function Series({ row, span, isAlone }: { row: ResultRow; span: Span | null; isAlone: boolean }) {
  const { analyte, unit, device, modality, values } = row;
  const title = [analyteName(row) ?? analyte, unit].filter((part) => part !== null).join(", ");
  const numbers = values.filter(({ value }) => value !== null).toReversed();
  const marks = marksOf(values);
  const markOf = (value: RowValue) => marks.get(groupOf(value))?.letter ?? "";
  return (
    <section class="card">
      <h2>{title}</h2>
      <p class="quiet">
        {studyWord(modality)}
        {device !== null && `, ${t("ownCode", { device })}`}
      </p>
      {numbers.length >= 2 && (
        <Chart
          label={t("chart", { title, count: numbers.length })}
          values={numbers}
          span={span ?? [secondsOf(numbers[0] as RowValue), secondsOf(numbers.at(-1) as RowValue)]}
          markOf={(value) => `${markOf(value)}${value.control_failed === true ? "!" : ""}`}
          tell={(value) => told(value, unit)}
        />
      )}
      {numbers.length >= 2 && numbers.some((value) => value.control_failed === true) && (
        <p class="quiet legend">{t("control", { words: controlFailed() })}</p>
      )}
      {numbers.length >= 2 && marks.size > 0 && (
        <p class="quiet legend">
          {t("hollow")} {[...marks.values()].map(({ words }) => words).join("; ")}.
        </p>
      )}
      {numbers.length === 1 && <p class="quiet">{t("onlyOne")}</p>}
      {isAlone ? (
        <ValueTable title={title} row={row} markOf={markOf} />
      ) : (
        <details>
          <summary>{t("table", { title })}</summary>
          <ValueTable title={title} row={row} markOf={markOf} />
        </details>
      )}
    </section>
  );
}

/** Gives each kind of value that does not compare with the newest a letter; a bound has its comparator in its place. */
function marksOf(values: readonly RowValue[]): Map<string, { letter: string; words: string }> {
  const studies = values.map(({ study }) => study);
  const marks = new Map<string, { letter: string; words: string }>();
  let letters = 0;
  for (const value of values) {
    const apart = value.curve?.apart ?? null;
    if (apart === null || marks.has(groupOf(value))) continue;
    const letter = apart === "comparator" ? "" : String.fromCodePoint(97 + (letters++ % 26));
    const word = apart === "device" ? deviceTitle(value.study, studies) : differenceWord(apart);
    marks.set(groupOf(value), { letter, words: `${letter === "" ? "<, >" : letter}: ${word}` });
  }
  return marks;
}

function groupOf({ curve, study }: RowValue): string {
  return curve == null || curve.apart === null
    ? ""
    : `${curve.apart} ${curve.apart === "device" ? study.device : curve.line}`;
}

/** One point in words, for the line below the chart and for screen readers. */
function told(value: RowValue, unit: string | null): string {
  const { flag, reference_range, study, curve } = value;
  return [
    `${plainDate(dayOf(study.acquired_at))}: ${[value.text, unit].filter(Boolean).join(" ")}`,
    flag === null ? null : flagWord(flag),
    t("judgedBy", { range: reference_range ?? t("noInterval") }),
    study.device_name,
    curve == null || curve.apart === null ? null : notComparable(curve.apart),
    value.control_failed === true ? controlFailed() : null,
  ]
    .filter((part) => part !== null)
    .join(" · ");
}

interface TableProps {
  readonly title: string;
  readonly row: ResultRow;
  readonly markOf: (value: RowValue) => string;
}

function ValueTable({ title, row: { values }, markOf }: TableProps) {
  const studies = values.map(({ study }) => study);
  return (
    <DataTable
      label={t("table", { title })}
      class="trend-values cards"
      columns={[
        t("date"),
        [t("value"), "number"],
        [t("change"), "number labelled"],
        [t("interval"), "number labelled"],
        t("flag"),
        t("study"),
      ]}
    >
      {values.map((value, index) => (
        <tr key={index}>
          <th scope="row">{dateTime(value.study.acquired_at)}</th>
          <td class="number">
            {value.text}
            {markOf(value) !== "" && <sup>{markOf(value)}</sup>}{" "}
            {value.sent !== undefined && (
              <small class="since">{convertedFrom({ ...value, otherName: value.curve?.other_name })}</small>
            )}
          </td>
          <td class="number">{value.change !== null && <ChangeMark of={value.change} />}</td>
          <td class="number">{value.reference_range ?? t("noInterval")}</td>
          <td>
            <Flag flag={value.flag} side={sideOf(value)} abnormal={value.abnormal} />
            {value.flag === null &&
              value.abnormal !== true &&
              (value.comment === undefined ? "–" : t("inDoubt", { comment: doubtText(value.comment, language.value) }))}
            {value.control_failed === true && <ControlMark />}
          </td>
          <td>
            <a href={`/dashboard/results/${value.study.fp}`}>{deviceTitle(value.study, studies)}</a>
          </td>
        </tr>
      ))}
    </DataTable>
  );
}

const t = translations({
  none: ["This patient has no value of {analyte}", "Bu hastanın {analyte} değeri yok"],
  ownCode: ["own code of {device}", "{device} cihazının kendi kodu"],
  chart: [
    "{count} values of {title} over time. The arrow keys tell each; the table lists them.",
    "{title} için zaman içinde {count} değer. Ok tuşları her birini söyler; tablo hepsini listeler.",
  ],
  hollow: [
    "A hollow point does not compare with the newest value.",
    "İçi boş nokta en yeni değerle karşılaştırılamaz.",
  ],
  control: ["!: {words} before or after it.", "!: öncesinde ya da sonrasında {words}."],
  onlyOne: ["One value makes no line.", "Tek değerle çizgi olmaz."],
  table: ["Values of {title}", "{title} değerleri"],
  date: ["Date", "Tarih"],
  value: ["Value", "Değer"],
  change: ["Change", "Değişim"],
  interval: ["Interval in force", "Geçerli aralık"],
  judgedBy: ["interval {range}", "aralık {range}"],
  noInterval: ["none", "yok"],
  flag: ["Flag", "İşaret"],
  inDoubt: ["in doubt: {comment}", "şüpheli: {comment}"],
  study: ["Study", "Tetkik"],
});
