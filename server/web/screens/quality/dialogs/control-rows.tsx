import type { Target } from "../../../../dashboard/types/quality.ts";
import { unitText } from "../../../../../shared/clinical/units/unit-text.ts";
import { Field } from "../../../ui/form/field.tsx";
import { signed, targetText, typedNumber, zoneOf } from "../words/numbers.ts";
import { analyteTitle, type Names } from "../words/words.ts";
import { t } from "./texts.ts";

/** A value of a control as typed. */
export interface TypedValue {
  readonly analyte: string;
  readonly unit: string | null;
  /** The units to choose from; empty for a series, which has its unit. */
  readonly units: readonly string[];
  readonly target: Pick<Target, "mean" | "sd"> | null;
  readonly text: string;
}

/** The values of a control. Below each it says how far it lies from the target while a person types. */
export function ControlRows({
  rows,
  names,
  change,
}: {
  rows: readonly TypedValue[];
  names: Names;
  change: (row: TypedValue) => void;
}) {
  const isTyped = (code: string) => rows.some(({ analyte }) => analyte === code);
  const others = [...names.values()].filter(({ code, value_type }) => value_type === "numeric" && !isTyped(code));
  return (
    <>
      {rows.map((row) => (
        <ValueRow key={row.analyte} row={row} names={names} change={change} />
      ))}
      <Field label={t("addAnalyte")} hint={t("otherRules")}>
        <select
          value=""
          onChange={({ currentTarget }) => {
            const analyte = names.get(currentTarget.value);
            if (analyte === undefined) return;
            const { code, units } = analyte;
            change({ analyte: code, unit: units[0] ?? null, units, target: null, text: "" });
          }}
        >
          <option value="">{t("choose")}</option>
          {others.map(({ code }) => (
            <option key={code} value={code}>
              {analyteTitle(code, names)}
            </option>
          ))}
        </select>
      </Field>
    </>
  );
}

function ValueRow({ row, names, change }: { row: TypedValue; names: Names; change: (row: TypedValue) => void }) {
  const { analyte, unit, units, text } = row;
  const title = analyteTitle(analyte, names);
  return (
    <div class="control-pair">
      <Field label={unit === null ? title : t("valueOf", { analyte: title, unit: unitText(unit) })} {...noteOf(row)}>
        <input
          inputMode="decimal"
          maxLength={32}
          autocomplete="off"
          value={text}
          onInput={({ currentTarget }) => change({ ...row, text: currentTarget.value })}
        />
      </Field>
      {units.length > 1 && (
        <Field label={t("unit", { analyte })}>
          <select value={unit ?? ""} onChange={({ currentTarget }) => change({ ...row, unit: currentTarget.value })}>
            {units.map((each) => (
              <option key={each} value={each}>
                {unitText(each)}
              </option>
            ))}
          </select>
        </Field>
      )}
    </div>
  );
}

/** Returns where a typed value lies: a hint, or a warning beyond 2 SD. */
function noteOf({ text, target }: TypedValue): { hint?: string; warning?: string } {
  if (text.trim() === "") return target === null ? {} : { hint: t("rangeOf", { target: targetText(target) }) };
  const value = typedNumber(text);
  if (value === null) return { warning: t("notANumber") };
  if (target === null) return { hint: t("noTarget") };
  const z = (value - target.mean) / target.sd;
  const zone = zoneOf(z);
  const words = t(zone, { z: signed(z) });
  return zone === "inside" ? { hint: words } : { warning: words };
}
