import { useState } from "preact/hooks";
import type { PreviewRow, TypedAnalyte, TypedRow } from "../../../dashboard/types/results/manual-study.ts";
import { Field } from "../../ui/form/field.tsx";
import { ResultRow, ResultTable } from "../../ui/result-row/result-row.tsx";
import "../../ui/list/list-bar.css";
import { rememberUnit } from "./draft.ts";
import { t } from "./texts.ts";
import type { Preview } from "./use-preview.ts";

const GRADES = ["neg", "trace", "1+", "2+", "3+", "4+"];
const WORDS = ["Negative", "Positive"];

/** The analytes of a kind of lab study with their values, units, ranges and flags. */
export function LabRows({
  rows,
  catalogue,
  preview,
  change,
}: {
  rows: readonly TypedRow[];
  catalogue: readonly TypedAnalyte[];
  preview: Preview;
  change: (row: TypedRow) => void;
}) {
  const [wanted, setWanted] = useState("");
  const [onlyFilled, setOnlyFilled] = useState(false);
  const analyteOf = new Map(catalogue.map((analyte) => [analyte.code, analyte]));
  const shown = rows.flatMap((row, index) => {
    const analyte = analyteOf.get(row.analyte);
    if (analyte === undefined) return [];
    // Invalid rows stay visible, because they prevent saving.
    const said = preview.of(row, index);
    const isFaulty = said?.fault != null;
    return isFaulty || (fits(analyte, wanted) && (!onlyFilled || row.value.trim() !== ""))
      ? [{ row, analyte, said }]
      : [];
  });
  return (
    <>
      <div class="list-bar">
        <Field label={t("findAnalyte")}>
          <input type="search" value={wanted} onInput={({ currentTarget }) => setWanted(currentTarget.value)} />
        </Field>
        <label class="check">
          <input
            type="checkbox"
            checked={onlyFilled}
            onChange={({ currentTarget }) => setOnlyFilled(currentTarget.checked)}
          />
          {t("onlyFilled")}
        </label>
      </div>
      <p class="hint">{t("enterHint")}</p>
      <Suggestions />
      <ResultTable label={t("values")} class="typed-rows">
        {shown.map(({ row, analyte, said }) => (
          <LabRow key={row.analyte} row={row} analyte={analyte} preview={said} change={change} />
        ))}
      </ResultTable>
      {shown.length === 0 && <p class="quiet no-rows">{t("noAnalyte")}</p>}
    </>
  );
}

function LabRow({
  row,
  analyte,
  preview,
  change,
}: {
  row: TypedRow;
  analyte: TypedAnalyte;
  preview: PreviewRow | undefined;
  change: (row: TypedRow) => void;
}) {
  const fault = preview?.fault ?? null;
  const faultId = `fault-${row.analyte}`;
  const described = (field: "value" | "unit") =>
    fault !== null && (fault.field === field || fault.field === "analyte")
      ? { "aria-invalid": true, "aria-describedby": faultId }
      : {};
  const field = (
    <>
      <input
        class="typed-value"
        data-value
        autocomplete="off"
        maxLength={200}
        list={analyte.value_type === "numeric" ? undefined : analyte.value_type === "ordinal" ? "grades" : "words"}
        aria-label={t("valueOf", { analyte: analyte.name })}
        value={row.value}
        onInput={({ currentTarget }) => change({ ...row, value: currentTarget.value })}
        onKeyDown={toNextValue}
        {...described("value")}
      />
      {fault !== null && (
        <p class="fault" id={faultId} role="alert">
          {t(fault.kind)}
        </p>
      )}
    </>
  );
  const unit = analyte.units.length > 0 && (
    <select
      aria-label={t("unitOf", { analyte: analyte.name })}
      value={row.unit ?? ""}
      onChange={({ currentTarget }) => {
        rememberUnit(row.analyte, currentTarget.value);
        change({ ...row, unit: currentTarget.value });
      }}
      {...described("unit")}
    >
      {analyte.units.map((each) => (
        <option key={each} value={each}>
          {each}
        </option>
      ))}
    </select>
  );
  const { flag = null, reference_range, number, low, high, side, abnormal, source } = preview ?? {};
  const judged = { flag, reference_range, number, low, high, side, abnormal };
  return (
    <ResultRow
      of={{ analyte: analyte.api_code, name: analyte.name, value: field, unit, ...judged }}
      source={source === "clinic" && ` ${t("ownRange")}`}
    />
  );
}

/** Common values of strip pads and rapid tests. */
function Suggestions() {
  return (
    <>
      <datalist id="grades">
        {GRADES.map((grade) => (
          <option key={grade}>{grade}</option>
        ))}
      </datalist>
      <datalist id="words">
        {WORDS.map((word) => (
          <option key={word}>{word}</option>
        ))}
      </datalist>
    </>
  );
}

function fits({ code, api_code, name }: TypedAnalyte, wanted: string): boolean {
  const words = `${code} ${api_code} ${name}`.toLowerCase();
  return words.includes(wanted.trim().toLowerCase());
}

/** Enter moves to the next value, as in a spreadsheet. */
function toNextValue(event: KeyboardEvent): void {
  const field = event.currentTarget;
  if (event.key !== "Enter" || !(field instanceof HTMLInputElement)) return;
  event.preventDefault();
  const fields = [...(field.closest("table")?.querySelectorAll<HTMLInputElement>("[data-value]") ?? [])];
  fields[fields.indexOf(field) + 1]?.focus();
}
