import { unitText } from "../../../../shared/clinical/units/unit-text.ts";
import { useState } from "preact/hooks";
import type { PreviewRow, TypedAnalyte, TypedRow } from "../../../dashboard/types/results/manual-study.ts";
import { Field } from "../../ui/form/field.tsx";
import { studyWord } from "../../ui/words/study-word.ts";
import { ResultRow, ResultTable } from "../../ui/result-row/result-row.tsx";
import "../../ui/list/list-bar.css";
import { rememberUnit } from "./draft.ts";
import { folded } from "../../ui/words/folded.ts";
import { t } from "./texts.ts";
import type { Preview } from "./use-preview.ts";

const GRADES = ["neg", "trace", "1+", "2+", "3+", "4+"];
/** The usual words of rapid tests, as they are stored. */
const WORDS = ["Negative", "Positive"] as const;
/** Max analytes of other kinds that a search lists. */
const OTHERS_MAX = 8;

/** The analytes of a kind of lab study with their values, units, ranges and flags. */
export function LabRows({
  rows,
  catalogue,
  preview,
  change,
  wanted,
  setWanted,
  goTo,
}: {
  rows: readonly TypedRow[];
  catalogue: readonly TypedAnalyte[];
  preview: Preview;
  change: (row: TypedRow) => void;
  /** The words that the user searches in the analytes of all kinds. */
  wanted: string;
  setWanted: (wanted: string) => void;
  /** Changes to the kind of study of an analyte. */
  goTo: (analyte: TypedAnalyte) => void;
}) {
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
  const isOther = ({ code }: TypedAnalyte) => rows.every(({ analyte }) => analyte !== code);
  const others = wanted.trim() === "" ? [] : catalogue.filter((each) => isOther(each) && fits(each, wanted));
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
      {others.length > 0 && (
        <section aria-labelledby="other-kinds">
          <h2 id="other-kinds">{t("otherKinds")}</h2>
          <ul class="plain-list choices">
            {others.slice(0, OTHERS_MAX).map((analyte) => (
              <li key={analyte.code}>
                <button type="button" onClick={() => goTo(analyte)}>
                  <strong>{analyte.name}</strong> <span class="quiet">{studyWord(analyte.modality)}</span>
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
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
  const input = {
    "data-value": true,
    "data-analyte": row.analyte,
    "aria-label": t("valueOf", { analyte: analyte.name }),
    onKeyDown: toNextValue,
    ...described("value"),
  };
  const set = (value: string) => change({ ...row, value });
  const field = (
    <>
      {analyte.value_type === "word" ? (
        <WordField value={row.value} set={set} input={input} />
      ) : (
        <input
          class="typed-value"
          autocomplete="off"
          maxLength={200}
          list={analyte.value_type === "ordinal" ? "grades" : undefined}
          value={row.value}
          onInput={({ currentTarget }) => set(currentTarget.value)}
          {...input}
        />
      )}
      {fault !== null && (
        <p class="fault" id={faultId} role="alert">
          {t(fault.kind)}
        </p>
      )}
    </>
  );
  const unit = analyte.units.length > 0 && (
    <UnitField row={row} analyte={analyte} change={change} input={described("unit")} />
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

function UnitField({
  row,
  analyte,
  change,
  input,
}: {
  row: TypedRow;
  analyte: TypedAnalyte;
  change: (row: TypedRow) => void;
  /** Attributes of the field. */
  input: { readonly "aria-invalid"?: boolean; readonly "aria-describedby"?: string };
}) {
  return (
    <select
      aria-label={t("unitOf", { analyte: analyte.name })}
      value={row.unit ?? ""}
      onChange={({ currentTarget }) => {
        rememberUnit(row.analyte, currentTarget.value);
        change({ ...row, unit: currentTarget.value });
      }}
      {...input}
    >
      {analyte.units.map((each) => (
        <option key={each} value={each}>
          {unitText(each)}
        </option>
      ))}
    </select>
  );
}

/** The usual words of a rapid test to choose from, or other words to type. */
function WordField({
  value,
  set,
  input,
}: {
  value: string;
  set: (value: string) => void;
  /** Attributes of the field. */
  input: { readonly "aria-label": string; readonly onKeyDown: (event: KeyboardEvent) => void };
}) {
  const isUsual = value === "" || WORDS.some((word) => word === value);
  const [isTyping, setTyping] = useState(!isUsual);
  if (isTyping) {
    return (
      <input
        class="typed-value"
        autocomplete="off"
        maxLength={200}
        value={value}
        autofocus={isUsual}
        onInput={({ currentTarget }) => set(currentTarget.value)}
        {...input}
      />
    );
  }
  return (
    <select
      class="typed-value"
      value={value}
      onChange={({ currentTarget }) => {
        setTyping(currentTarget.value === OTHER);
        set(currentTarget.value === OTHER ? "" : currentTarget.value);
      }}
      {...input}
    >
      <option value="">–</option>
      {WORDS.map((word) => (
        <option key={word} value={word}>
          {t(word)}
        </option>
      ))}
      <option value={OTHER}>{t("otherWords")}</option>
    </select>
  );
}

const OTHER = "other";

/** Common values of strip pads. */
function Suggestions() {
  return (
    <datalist id="grades">
      {GRADES.map((grade) => (
        <option key={grade}>{grade}</option>
      ))}
    </datalist>
  );
}

function fits({ code, api_code, name }: TypedAnalyte, wanted: string): boolean {
  return folded(`${code} ${api_code} ${name}`).includes(folded(wanted));
}

/** Enter moves to the next value, as in a spreadsheet. */
function toNextValue(event: KeyboardEvent): void {
  const field = event.currentTarget;
  if (event.key !== "Enter" || !(field instanceof HTMLElement)) return;
  event.preventDefault();
  const fields = [...(field.closest("table")?.querySelectorAll<HTMLElement>("[data-value]") ?? [])];
  fields[fields.indexOf(field) + 1]?.focus();
}
