import { useRoute } from "preact-iso";
import type { PatientResults } from "../../../dashboard/types/patients.ts";
import { type ResultRow, resultRows } from "../../../dashboard/types/results/result-rows.ts";
import { sideOf } from "../../../dashboard/types/results/result-value.ts";
import { Empty, Loaded, useResource } from "../../resource.tsx";
import { dateTime, translations } from "../../text.ts";
import { DataTable } from "../../ui/list/data-table.tsx";
import { Flag } from "../../ui/result-row/flag.tsx";
import { convertedFrom } from "../../ui/result-row/sent-text.ts";
import { studyWord } from "../../ui/words/study-word.ts";
import { Chart } from "./chart.tsx";
import "./patients.css";

/** One analyte of a patient over time. Values that do not convert into each other, and devices' own codes, have a chart each. */
export function AnalyteTrend() {
  const { fp = "", analyte = "" } = useRoute().params;
  const patient = `/patients/${encodeURIComponent(fp)}`;
  const results = useResource<PatientResults>(`${patient}/results?analyte=${encodeURIComponent(analyte)}`);
  const name = results.data?.patient_name;
  return (
    <div class="patients-screen">
      <p class="no-print">
        <a href={`/dashboard${patient}`}>{name === undefined || name === "" ? t("back") : name}</a>
      </p>
      <h1>{name === undefined ? analyte : t("title", { analyte, name })}</h1>
      <Loaded of={results}>
        {(data) => {
          const rows = resultRows(data);
          if (rows.length === 0) return <Empty title={t("none", { analyte })} />;
          return rows.map((row) => <Series key={row.key} row={row} />);
        }}
      </Loaded>
    </div>
  );
}

function Series({ row }: { row: ResultRow }) {
  const { analyte, name, unit, device, modality, values } = row;
  const title = [name ?? analyte, unit].filter((part) => part !== null).join(", ");
  const numbers = values.filter(({ value }) => value !== null).toReversed();
  return (
    <section class="card">
      <h2>{title}</h2>
      <p class="quiet">
        {studyWord(modality)}
        {device !== null && `, ${t("ownCode", { device })}`}
      </p>
      {numbers.length >= 2 && <Chart label={t("chart", { title, count: numbers.length })} values={numbers} />}
      {numbers.length === 1 && <p class="quiet">{t("onlyOne")}</p>}
      <ValueTable title={title} row={row} />
    </section>
  );
}

function ValueTable({ title, row: { values } }: { title: string; row: ResultRow }) {
  return (
    <DataTable
      label={t("table", { title })}
      class="trend-values cards"
      columns={[t("date"), [t("value"), "number"], [t("interval"), "number labelled"], t("flag"), t("study")]}
    >
      {values.map((value, index) => (
        <tr key={index}>
          <th scope="row">{dateTime(value.study.acquired_at)}</th>
          <td class="number">
            {value.text} {value.sent !== undefined && <span class="quiet sent-value">{convertedFrom(value)}</span>}
          </td>
          <td class="number">{value.reference_range ?? t("noInterval")}</td>
          <td>
            <Flag flag={value.flag} side={sideOf(value)} abnormal={value.abnormal} />
            {value.flag === null &&
              value.abnormal !== true &&
              (value.comment === undefined ? "–" : t("inDoubt", { comment: value.comment }))}
          </td>
          <td>
            <a href={`/dashboard/results/${value.study.fp}`}>{value.study.device_name}</a>
          </td>
        </tr>
      ))}
    </DataTable>
  );
}

const t = translations({
  back: ["The patient", "Hasta"],
  title: ["{analyte} of {name}", "{name}: {analyte}"],
  none: ["This patient has no value of {analyte}", "Bu hastanın {analyte} değeri yok"],
  ownCode: ["own code of {device}", "{device} cihazının kendi kodu"],
  chart: [
    "Line of {count} values of {title}. The table below lists them.",
    "{title} için {count} değerin çizgisi. Aşağıdaki tabloda listelenir.",
  ],
  onlyOne: ["One value makes no line.", "Tek değerle çizgi olmaz."],
  table: ["Values of {title}", "{title} değerleri"],
  date: ["Date", "Tarih"],
  value: ["Value", "Değer"],
  interval: ["Interval in force", "Geçerli aralık"],
  noInterval: ["none", "yok"],
  flag: ["Flag", "İşaret"],
  inDoubt: ["in doubt: {comment}", "şüpheli: {comment}"],
  study: ["Study", "Tetkik"],
});
