import type { ComponentChildren } from "preact";
import type { Reason } from "../../../../shared/api/reason.ts";
import type { Flag as FlagValue } from "../../../../shared/api/study.ts";
import type { Side } from "../../../dashboard/types/results/results.ts";
import { doubtText } from "../../../../shared/clinical/device-words/device-words.ts";
import { language, translations } from "../../text.ts";
import { DataTable } from "../list/data-table.tsx";
import { flagReason } from "../words/reasons.ts";
import { Flag } from "./flag.tsx";
import { RangeBar } from "./range-bar.tsx";
import "./result-row.css";

interface ResultTableProps {
  readonly label: string;
  readonly class?: string;
  /** Heading of an additional last column. */
  readonly more?: string;
  /** Heading of the column with the result before. */
  readonly before?: string | undefined;
  /** `ResultRow`s. */
  readonly children: ComponentChildren;
}

/** The values of a study, each with its flag and its position in the interval. */
export function ResultTable({ label, class: ofTable = "", more, before, children }: ResultTableProps) {
  return (
    <DataTable
      label={label}
      class={`results-table cards ${ofTable}`.trimEnd()}
      columns={[
        t("analyte"),
        [t("value"), "value"],
        t("flag"),
        t("range"),
        before === undefined ? false : [before, "labelled"],
        more ?? false,
      ]}
    >
      {children}
    </DataTable>
  );
}

interface Result {
  readonly analyte: string;
  /** Null or absent if the code is enough. */
  readonly name?: string | null;
  /** The value, or its input. */
  readonly value: ComponentChildren;
  readonly unit: ComponentChildren;
  /** Null if no interval applies; undefined while it is not loaded. */
  readonly reference_range: string | null | undefined;
  readonly number?: number | null | undefined;
  readonly low?: number | null | undefined;
  readonly high?: number | null | undefined;
  readonly flag: FlagValue | null;
  readonly side?: Side | null | undefined;
  readonly abnormal?: boolean | undefined;
  /** Whether words are the expected ones. */
  readonly expected?: boolean | undefined;
  /** Reason for a missing interval or flag. */
  readonly reason?: Reason | null;
}

interface ResultRowProps {
  readonly of: Result;
  /** The value that was sent, if it was in another unit. */
  readonly sentAs?: string | undefined;
  /** Shown after the name. */
  readonly about?: ComponentChildren;
  /** Shown after the interval. */
  readonly source?: ComponentChildren;
  /** The device's reason to doubt the value. */
  readonly doubt?: string | null;
  /** Additional remarks on the value. */
  readonly notes?: readonly (string | null)[];
  /** The cell of the last column. */
  readonly more?: ComponentChildren;
  /** The cell of the result before. */
  readonly before?: ComponentChildren;
  /** The value before in the same unit, as a ring on the bar. */
  readonly numberBefore?: number | null;
}

/** One value, in reading order: name, value with unit, flag, position in the interval. A doubt is in words below. */
export function ResultRow(props: ResultRowProps) {
  const { of, sentAs, about, source, doubt = null, notes = [], more, before, numberBefore = null } = props;
  const { analyte, name, value, unit, flag, abnormal = false } = of;
  const shown = notes.filter((note) => note !== null);
  const hasNotes = doubt !== null || shown.length > 0;
  const kind = flag === "critical" ? "critical" : "";
  const mark = [
    abnormal ? "flag-abnormal" : flag === null || flag === "normal" ? "" : `flag-${flag}`,
    doubt === null ? "" : "doubted",
  ];
  return (
    <>
      <tr class={`${kind} ${hasNotes ? "has-notes" : ""}`.trim()}>
        <th scope="row" class="analyte">
          <strong>{analyte}</strong> {name != null && <span class="quiet">{name}</span>} {about}
        </th>
        <td class="value" title={sentAs}>
          {typeof value === "string" ? <strong class={mark.join(" ").trim()}>{value}</strong> : value}{" "}
          <span class="unit">{unit}</span>
          {sentAs !== undefined && <span class="visually-hidden">, {sentAs}</span>}
        </td>
        <td class="flag-cell">
          <Flag flag={flag} side={of.side} abnormal={abnormal} />
          {of.expected === true && <span class="flag flag-normal">{t("asExpected")}</span>}
          {flag === null && !abnormal && of.reference_range != null && of.reason != null && (
            <span class="quiet">{flagReason(of.reason)}</span>
          )}
        </td>
        <td>
          <Place of={of} source={source} before={numberBefore} />
        </td>
        {before !== undefined && <td class="before-cell">{before}</td>}
        {more !== undefined && <td class="more-cell">{more}</td>}
      </tr>
      {hasNotes && (
        <tr class={`note-row ${kind}`.trimEnd()}>
          <td colSpan={4 + (more === undefined ? 0 : 1) + (before === undefined ? 0 : 1)}>
            {doubt !== null && (
              <span class="doubt">
                <b aria-hidden="true">?</b> {t("inDoubt", { comment: doubtText(doubt, language.value) })}
              </span>
            )}
            {shown.map((note) => (
              <span key={note}>{note}</span>
            ))}
          </td>
        </tr>
      )}
    </>
  );
}

function Place({ of, source, before }: { of: Result; source: ComponentChildren; before: number | null }) {
  const { reference_range, number = null, low = null, high = null, flag, reason } = of;
  if (reference_range === undefined) return null;
  if (reference_range === null)
    return <span class="in-interval">{reason == null ? t("noRange") : flagReason(reason)}</span>;
  return (
    <span class="in-interval">
      {number !== null && <RangeBar value={number} low={low} high={high} flag={flag} before={before} />}
      <span>
        {reference_range}
        {source}
      </span>
    </span>
  );
}

const t = translations({
  analyte: ["Analyte", "Analit"],
  value: ["Value", "Değer"],
  flag: ["Flag", "İşaret"],
  range: ["Reference interval", "Referans aralığı"],
  asExpected: ["as expected", "beklendiği gibi"],
  noRange: ["no interval", "aralık yok"],
  inDoubt: ["in doubt: {comment}", "şüpheli: {comment}"],
});
