import { useState } from "preact/hooks";
import type { PreviewRow, TypedAnalyte, TypedRow } from "../../../dashboard/types/results/manual-study.ts";
import { Field } from "../../ui/field.tsx";
import { Flag } from "../../ui/flag.tsx";
import { RangeBar } from "../../ui/range-bar.tsx";
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
    // A faulty row is never hidden, because saving waits for it.
    const said = preview.of(row, index);
    const isFaulty = said?.fault != null;
    return isFaulty || (fits(analyte, wanted) && (!onlyFilled || row.value.trim() !== ""))
      ? [{ row, analyte, said }]
      : [];
  });
  return (
    <>
      <div class="rows-filter">
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
      <div class="table-frame" tabIndex={0} role="region" aria-label={t("values")}>
        <table class="typed-rows">
          <thead>
            <tr>
              <th scope="col">{t("analyte")}</th>
              <th scope="col" class="value-head">
                {t("value")}
              </th>
              <th scope="col">{t("unit")}</th>
              <th scope="col">{t("range")}</th>
              <th scope="col">{t("flag")}</th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ row, analyte, said }) => (
              <LabRow key={row.analyte} row={row} analyte={analyte} preview={said} change={change} />
            ))}
          </tbody>
        </table>
        {shown.length === 0 && <p class="quiet no-rows">{t("noAnalyte")}</p>}
      </div>
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
  return (
    <tr>
      <th scope="row">
        {analyte.api_code} <span class="quiet typed-name">{analyte.name}</span>
      </th>
      <td>
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
      </td>
      <td>
        {analyte.units.length > 0 && (
          <select
            aria-label={t("unitOf", { analyte: analyte.name })}
            value={row.unit ?? ""}
            onChange={({ currentTarget }) => {
              rememberUnit(row.analyte, currentTarget.value);
              change({ ...row, unit: currentTarget.value });
            }}
            {...described("unit")}
          >
            {analyte.units.map((unit) => (
              <option key={unit} value={unit}>
                {unit}
              </option>
            ))}
          </select>
        )}
      </td>
      <Range preview={preview} />
      <FlagCell preview={preview} />
    </tr>
  );
}

function Range({ preview }: { preview: PreviewRow | undefined }) {
  const { reference_range = null, number = null, low = null, high = null, source = null } = preview ?? {};
  return (
    <td class="typed-range">
      {reference_range === null ? <span class="quiet">{preview === undefined ? "" : "-"}</span> : reference_range}
      {source === "clinic" && <span class="quiet"> {t("ownRange")}</span>}
      {number !== null && <RangeBar value={number} low={low} high={high} />}
    </td>
  );
}

function FlagCell({ preview }: { preview: PreviewRow | undefined }) {
  if (preview?.abnormal === true) return <td>{<Flag flag={null} abnormal />}</td>;
  if (preview === undefined || preview.value === null) return <td>{""}</td>;
  const { flag, side } = preview;
  return <td>{flag === null ? <span class="quiet">{t("noFlag")}</span> : <Flag flag={flag} side={side} />}</td>;
}

/** Usual values of pads and of rapid tests. */
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

/** Enter goes to the next value, as in a spreadsheet. */
function toNextValue(event: KeyboardEvent): void {
  const field = event.currentTarget;
  if (event.key !== "Enter" || !(field instanceof HTMLInputElement)) return;
  event.preventDefault();
  const fields = [...(field.closest("table")?.querySelectorAll<HTMLInputElement>("[data-value]") ?? [])];
  fields[fields.indexOf(field) + 1]?.focus();
}
