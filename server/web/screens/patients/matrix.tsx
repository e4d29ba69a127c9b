import { Fragment } from "preact";
import type { PatientResults, PatientStudy } from "../../../dashboard/types/patients.ts";
import {
  deviceTitle,
  type MatrixRow,
  type ResultColumn,
  resultMatrix,
  type RowValue,
} from "../../../dashboard/types/results/result-rows.ts";
import { sideOf } from "../../../dashboard/types/results/result-value.ts";
import { doubtText } from "../../../../shared/clinical/device-words/device-words.ts";
import { language, translations } from "../../text.ts";
import { Flag } from "../../ui/result-row/flag.tsx";
import { controlFailed } from "../../ui/result-row/control-mark.tsx";
import { convertedFrom } from "../../ui/result-row/sent-text.ts";
import { studyWord } from "../../ui/words/study-word.ts";
import { ChangeMark } from "./change-mark.tsx";
import { analyteName, clockTime, dayOf, plainDate } from "../../ui/words/words.ts";

/** Analytes by days, the newest day first. Values of one row compare with each other. */
export function Matrix({ fp, results }: { fp: string; results: PatientResults }) {
  const { columns, groups } = resultMatrix(results, dayOf);
  if (columns.length === 0) return null;
  return (
    <>
      <div class="table-frame matrix-frame" tabIndex={0} role="region" aria-label={t("matrix")}>
        <table class="matrix">
          <thead>
            <tr>
              <th scope="col" class="analyte">
                {t("analyte")}
              </th>
              <th scope="col">{t("unit")}</th>
              {columns.map((column) => (
                <ColumnHead key={column.studies[0]?.fp} column={column} of={results.studies} />
              ))}
            </tr>
          </thead>
          {groups.map(({ modality, rows }) => (
            <tbody key={modality}>
              <tr class="group">
                <th scope="rowgroup" colSpan={columns.length + 2}>
                  <span>{studyWord(modality)}</span>
                </th>
              </tr>
              {rows.map((row) => (
                <Row key={row.key} fp={fp} row={row} />
              ))}
            </tbody>
          ))}
        </table>
      </div>
      <p class="quiet legend">{t("legend")}</p>
    </>
  );
}

function ColumnHead({ column: { day, studies }, of: all }: { column: ResultColumn; of: PatientStudy[] }) {
  return (
    <th scope="col" class="number">
      {plainDate(day)}
      {studies.map((study) => (
        <Fragment key={study.fp}>
          <a href={`/dashboard/results/${study.fp}`}>
            {clockTime(study.acquired_at)} {studyWord(study.modality)}
          </a>
          <small class="device">{deviceTitle(study, all)}</small>
        </Fragment>
      ))}
    </th>
  );
}

function Row({ fp, row }: { fp: string; row: MatrixRow }) {
  return (
    <tr>
      <th scope="row" class="analyte">
        <AnalyteName fp={fp} row={row} />
      </th>
      <td class="unit">{row.unit}</td>
      {row.cells.map((values, index) => (
        <td key={index} class="number">
          {values.map((value, place) => (
            <Fragment key={place}>
              {place > 0 && <br />}
              <Value value={value} />
              {value.change !== null && <ChangeMark of={value.change} />}
            </Fragment>
          ))}
        </td>
      ))}
    </tr>
  );
}

function AnalyteName({ fp, row }: { fp: string; row: MatrixRow }) {
  const { analyte, unit, device } = row;
  const name = analyteName(row);
  // A path cannot hold a code of dots alone.
  const hasPath = !/^\.+$/.test(analyte);
  return (
    <div class="analyte-name">
      <span>
        {analyte} {name !== null && name !== analyte && <small class="quiet">{name}</small>}
        {device !== null && <small class="own-code">{t("ownCode", { device })}</small>}
      </span>
      {hasPath && (
        <a
          class="no-print"
          href={`/dashboard/patients/${fp}/${encodeURIComponent(analyte)}`}
          aria-label={t("trendOf", { analyte: unit === null ? analyte : `${analyte} ${unit}` })}
        >
          {t("trend")}
        </a>
      )}
    </div>
  );
}

/** A value with its flag. Screen readers also hear what the missing mark of a normal value means. */
function Value({ value }: { value: RowValue }) {
  const { flag, abnormal = false } = value;
  const isMarked = abnormal || (flag !== null && flag !== "normal");
  const [mark, meaning] = markOf(value);
  const sentAs = convertedFrom(value);
  return (
    <span class="matrix-value" title={sentAs}>
      {isMarked && <Flag flag={flag} side={sideOf(value)} abnormal={abnormal} />}
      <span class={isMarked ? `flag-${flag ?? "abnormal"}` : undefined}>{value.text}</span>
      <span class="mark" aria-hidden="true" title={value.comment && doubtText(value.comment, language.value)}>
        {mark}
      </span>
      {value.control_failed === true && (
        <span class="mark" title={controlFailed()}>
          <span aria-hidden="true">!</span>
          <span class="visually-hidden"> {controlFailed()}</span>
        </span>
      )}
      {meaning !== "" && <span class="visually-hidden"> {meaning}</span>}
      {sentAs !== undefined && <span class="visually-hidden"> {sentAs}</span>}
    </span>
  );
}

/** The mark behind a value, and its meaning for screen readers. A value in words has no interval by its nature. */
function markOf({ flag, value, comment }: RowValue): [mark: string, meaning: string] {
  if (flag !== null) return ["", flag === "normal" ? t("normal") : ""];
  if (comment !== undefined) return ["?", t("inDoubt", { comment: doubtText(comment, language.value) })];
  return value === null ? ["", ""] : ["°", t("noInterval")];
}

const t = translations({
  matrix: ["Results by day", "Günlere göre sonuçlar"],
  analyte: ["Analyte", "Analit"],
  unit: ["Unit", "Birim"],
  trend: ["Trend", "Seyir"],
  trendOf: ["Trend of {analyte}", "Seyir: {analyte}"],
  ownCode: ["own code of {device}", "{device} cihazının kendi kodu"],
  normal: ["in range", "aralıkta"],
  noInterval: ["no interval", "aralık yok"],
  inDoubt: ["in doubt: {comment}", "şüpheli: {comment}"],
  legend: [
    "A value without a mark is within the interval of its day. ° no interval applies. ? the device doubts the value. ! a control failed before or after it. Below it: the change since the value before, bold if it is more than the published limit of chance; ≠ not comparable.",
    "İşaretsiz değer, o günkü aralığın içindedir. ° uygun aralık yok. ? cihaz değerden emin değil. ! öncesinde ya da sonrasında bir kontrol başarısız. Altında: önceki değerden bu yana değişim, yayımlanmış rastlantı sınırını aşarsa kalın; ≠ karşılaştırılamaz.",
  ],
});
