import { useState } from "preact/hooks";
import type { ClinicRange } from "../../../../../shared/clinical/clinic-ranges.ts";
import { animalWord } from "../../../../../shared/clinical/passport/animal-words.ts";
import { unitText } from "../../../../../shared/clinical/units/unit-text.ts";
import type { TypedAnalyte } from "../../../../dashboard/types/results/manual-study.ts";
import type { ImportBody, RangePreview, RangesInUse } from "../../../../dashboard/types/settings/ranges.ts";
import { call } from "../../../api.ts";
import { useResource } from "../../../resource.tsx";
import { clinicPath } from "../../../session.ts";
import { language } from "../../../text.ts";
import { FormDialog } from "../../../ui/form-dialog/form-dialog.tsx";
import { Field } from "../../../ui/form/field.tsx";
import { Faults } from "./import-form.tsx";
import { t } from "./texts.ts";

/** The row that is edited or removed; null for a new one. */
export interface OpenRow {
  readonly row: ClinicRange | null;
  readonly isRemoval: boolean;
}

interface RowFormProps {
  readonly of: OpenRow;
  readonly inUse: RangesInUse;
  readonly reload: () => Promise<void>;
  readonly close: () => void;
}

/** Adds, changes or removes one interval: the server takes all rows with this change, and checks them as those of a file. */
export function RowForm({ of: { row, isRemoval }, inUse: shown, reload, close }: RowFormProps) {
  // The rows that were in use when the form opened: the server refuses to replace others.
  const [inUse] = useState(shown);
  const [faults, setFaults] = useState<Extract<RangePreview, { state: "faulty" }> | null>(null);
  const [isReversed, setReversed] = useState(false);
  const store = async (rows: readonly ClinicRange[]) => {
    const text = rows.map((each) => JSON.stringify(each)).join("\n");
    const preview = await call<RangePreview>("POST", `${clinicPath()}/ranges/preview`, { text });
    setFaults(preview.state === "faulty" ? preview : null);
    if (preview.state === "faulty") return;
    const body: ImportBody = { text, low_quality: inUse.low_quality, replaces: inUse.version };
    await call("PUT", `${clinicPath()}/ranges`, body);
    close();
    await reload();
  };
  const others = inUse.rows.filter(({ id }) => id !== row?.id);
  if (row !== null && isRemoval) {
    return (
      <FormDialog
        title={t("removeRow")}
        button={t("remove")}
        isDangerous
        close={close}
        act={() => store(others)}
        staysOpen
      >
        <p>{t("removeWhy", { row: row.id, analyte: row.analyte })}</p>
        {faults !== null && <Faults of={faults} />}
      </FormDialog>
    );
  }
  const save = async (fields: Record<string, string>) => {
    const changed = rowOf(fields, row, others);
    setReversed(Number(changed.low) >= Number(changed.high));
    if (Number(changed.low) >= Number(changed.high)) return;
    await store(row === null ? [...others, changed] : inUse.rows.map((each) => (each.id === row.id ? changed : each)));
  };
  return (
    <FormDialog title={t(row === null ? "newRow" : "editRow")} button={t("save")} close={close} act={save} staysOpen>
      <RowFields row={row} animals={inUse.animals} fault={isReversed ? t("reversed") : null} />
      {faults !== null && <Faults of={faults} />}
    </FormDialog>
  );
}

interface RowFieldsProps {
  readonly row: ClinicRange | null;
  readonly animals: RangesInUse["animals"];
  readonly fault: string | null;
}

function RowFields({ row, animals, fault }: RowFieldsProps) {
  const catalogue = useResource<TypedAnalyte[]>("/manual-study/analytes", clinicPath(), false);
  const numeric = (catalogue.data ?? []).filter(({ value_type: type }) => type === "numeric");
  const [code, setCode] = useState(row?.analyte ?? "ALT");
  const [species, setSpecies] = useState<string>(row?.species ?? "dog");
  const animal = animals.find((each) => each.species === species);
  const units = numeric.find((each) => each.code === code)?.units ?? [];
  return (
    <div class="range-fields">
      <Field label={t("analyte")}>
        <select name="analyte" value={code} onChange={({ currentTarget }) => setCode(currentTarget.value)}>
          {(numeric.length === 0 ? [code] : numeric.map((each) => each.code).toSorted()).map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
      </Field>
      <Field label={t("unit")}>
        <select name="unit" key={code}>
          {[...new Set([...(row?.analyte === code ? [row.unit] : []), ...units])].map((each) => (
            <option key={each} value={each} selected={row?.analyte === code && row.unit === each}>
              {unitText(each)}
            </option>
          ))}
        </select>
      </Field>
      <Field label={t("species")}>
        <select name="species" value={species} onChange={({ currentTarget }) => setSpecies(currentTarget.value)}>
          {animals.map((each) => (
            <option key={each.species} value={each.species}>
              {animalWord(each.species, language.value)}
            </option>
          ))}
        </select>
      </Field>
      <Field label={t("subgroup")}>
        <select name="subgroup" key={species} required={animal?.needs_subgroup === true}>
          <option value="">{t(animal?.needs_subgroup === true ? "chooseSubgroup" : "everySubgroup")}</option>
          {animal?.subgroups.map((each) => (
            <option key={each} value={each} selected={row?.species === species && row.subgroup === each}>
              {animalWord(each, language.value)}
            </option>
          ))}
        </select>
      </Field>
      <Text name="low" label={t("low")} value={row?.low} fault={fault} isNumber isRequired />
      <Text name="high" label={t("high")} value={row?.high} isNumber isRequired />
      <Text name="critical_low" label={t("criticalLow")} value={row?.critical_low} isNumber />
      <Text name="critical_high" label={t("criticalHigh")} value={row?.critical_high} isNumber />
      <Text name="age_min_days" label={t("ageFrom")} value={row?.age_min_days} isNumber />
      <Text name="age_max_days" label={t("ageTo")} value={row?.age_max_days} isNumber />
      <SexAndStart row={row} />
      <Text name="source" label={t("source")} hint={t("sourceHint")} value={row?.source} />
    </div>
  );
}

function SexAndStart({ row }: { row: ClinicRange | null }) {
  const [today] = useState(() => new Date().toISOString());
  return (
    <>
      <Field label={t("sex")}>
        <select name="sex">
          <option value="">{t("bothSexes")}</option>
          <option value="F" selected={row?.sex === "F"}>
            {t("F")}
          </option>
          <option value="M" selected={row?.sex === "M"}>
            {t("M")}
          </option>
        </select>
      </Field>
      <Field label={t("from")}>
        <input name="effective_from" type="date" required defaultValue={(row?.effective_from ?? today).slice(0, 10)} />
      </Field>
    </>
  );
}

interface TextProps {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly value: string | number | undefined;
  readonly fault?: string | null;
  readonly isNumber?: boolean;
  readonly isRequired?: boolean;
}

function Text({ name, label, hint, value, fault = null, isNumber = false, isRequired = false }: TextProps) {
  return (
    <Field label={label} fault={fault} {...(hint !== undefined && { hint })}>
      <input
        name={name}
        type="text"
        autocomplete="off"
        required={isRequired}
        defaultValue={value === undefined ? "" : String(value)}
        {...(isNumber ? { inputMode: "decimal" as const, pattern: "-?\\d+([.,]\\d+)?" } : { maxLength: 500 })}
      />
    </Field>
  );
}

/** Reads the fields. What the form does not show, such as a device, stays as it is. */
function rowOf(
  fields: Readonly<Record<string, string>>,
  row: ClinicRange | null,
  others: readonly ClinicRange[],
): ClinicRange {
  const text = (name: string) => fields[name]?.trim() || undefined;
  const number = (name: string) => text(name)?.replace(",", ".");
  const { analyte = "", species = "", unit = "" } = fields;
  const from = text("effective_from") ?? "";
  const facts = {
    ...{
      analyte,
      species,
      unit,
      low: number("low"),
      high: number("high"),
      sex: text("sex"),
      subgroup: text("subgroup"),
    },
    ...{ critical_low: number("critical_low"), critical_high: number("critical_high"), source: text("source") },
    age_min_days: daysIn(number("age_min_days")),
    age_max_days: daysIn(number("age_max_days")),
    // A row of a file may start at a time of the day.
    effective_from: row?.effective_from.startsWith(from) === true ? row.effective_from : from,
  };
  const id = row?.id ?? newId([analyte, species, facts.subgroup].filter(Boolean).join("-").toLowerCase(), others);
  // JSON leaves out what is undefined. The server checks the row.
  return { ...row, ...facts, id } as ClinicRange;
}

function daysIn(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}

function newId(name: string, others: readonly ClinicRange[]): string {
  const isFree = (id: string) => others.every((each) => each.id !== id);
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? name : `${name}-${number}`;
    if (isFree(id)) return id;
  }
}
