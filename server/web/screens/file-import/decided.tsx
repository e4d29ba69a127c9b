import { fieldWord } from "../../../dashboard/types/file-faults.ts";
import {
  type FileChoices,
  type FileColumn,
  type FileReading,
  type ImportState,
  type Meaning,
  MEANINGS,
  WEIGHT_UNITS,
} from "../../../dashboard/types/file-import.ts";
import { call } from "../../api.ts";
import { clinicPath } from "../../session.ts";
import { language } from "../../text.ts";
import { Field } from "../../ui/form/field.tsx";
import { DataTable } from "../../ui/list/data-table.tsx";
import { t } from "./texts.ts";

// The server's decisions about the file. Each decision can be changed, and the file is read again.

export type Act = (work: () => Promise<unknown>) => void;

const SEPARATORS = { ",": "comma", ";": "semicolon", "\t": "tab", "|": "bar" } as const;
const ENCODINGS = {
  "utf-8": "Unicode (UTF-8)",
  "utf-16le": "Unicode (UTF-16)",
  "utf-16be": "Unicode (UTF-16BE)",
  "windows-1254": "Windows Türkçe (1254)",
  "windows-1252": "Windows Western (1252)",
} as const;
const ORDERS = ["dmy", "mdy"] as const;

interface Shown {
  readonly state: ImportState;
  readonly isDisabled: boolean;
  readonly act: Act;
}

function choose({ state, act }: Shown, changes: FileChoices): void {
  act(() => call("PUT", `${clinicPath()}/imports/${state.id}/choices`, { ...state.choices, ...changes }));
}

/** How the bytes are read. */
export function ReadAs(shown: Shown) {
  const { reading, fault } = shown.state;
  const { choices } = shown.state;
  if (reading?.format === "xlsx") {
    return (
      <>
        <p class="quiet">{t("excel", { sheet: reading.sheet ?? "" })}</p>
        <Questions {...shown} />
      </>
    );
  }
  const encoding = reading?.encoding ?? choices.encoding ?? "";
  const separator = reading?.separator ?? choices.separator ?? "";
  return (
    <details open={fault !== null || undefined}>
      <summary class="quiet">
        {t("readAs")}
        {": "}
        {reading === null
          ? "?"
          : [
              reading.separator == null ? null : t(SEPARATORS[reading.separator]),
              reading.encoding == null ? null : ENCODINGS[reading.encoding],
              t(reading.decimal_comma ? "decimalComma" : "decimalPoint"),
              reading.date_order == null ? null : t(reading.date_order),
            ]
              .filter((fact) => fact !== null)
              .join(", ")}
      </summary>
      <div class="choices">
        <Choice
          label={t("encoding")}
          value={encoding}
          options={Object.entries(ENCODINGS)}
          isDisabled={shown.isDisabled}
          chosen={(value) => choose(shown, { encoding: value as keyof typeof ENCODINGS })}
        />
        <Choice
          label={t("separator")}
          value={separator}
          options={Object.entries(SEPARATORS).map(([mark, name]) => [mark, t(name)] as const)}
          isDisabled={shown.isDisabled}
          chosen={(value) => choose(shown, { separator: value as keyof typeof SEPARATORS })}
        />
        {reading !== null && <DateOrder {...shown} reading={reading} />}
      </div>
    </details>
  );
}

function DateOrder({ reading, ...shown }: Shown & { reading: FileReading }) {
  return (
    <Choice
      label={t("dateOrder")}
      value={reading.date_order ?? ""}
      options={ORDERS.map((order) => [order, t(order)] as const)}
      isDisabled={shown.isDisabled}
      chosen={(value) => choose(shown, { date_order: value as (typeof ORDERS)[number] })}
    />
  );
}

/** The questions that the content leaves open. */
function Questions(shown: Shown) {
  const { reading } = shown.state;
  if (reading === null) return null;
  const { questions, missing } = reading;
  return (
    <>
      {questions.includes("columns") && (
        <p class="note note-bad">
          {t("columnsQuestion", { missing: missing.map((name) => fieldWord(name, language.value)).join(", ") })}
        </p>
      )}
      {questions.includes("date_order") && (
        <div class="note">
          <p>{t("dateQuestion")}</p>
          <DateOrder {...shown} reading={reading} />
        </div>
      )}
      {questions.includes("weight_unit") && (
        <div class="note">
          <p>{t("weightQuestion")}</p>
          <Choice
            label={t("weightUnit")}
            value=""
            options={WEIGHT_UNITS.map((unit) => [unit, unit] as const)}
            isDisabled={shown.isDisabled}
            chosen={(value) => choose(shown, { weight_unit: value as (typeof WEIGHT_UNITS)[number] })}
          />
        </div>
      )}
    </>
  );
}

function Choice({
  label,
  value,
  options,
  isDisabled,
  chosen,
}: {
  label: string;
  value: string;
  options: readonly (readonly [value: string, text: string])[];
  isDisabled: boolean;
  chosen: (value: string) => void;
}) {
  return (
    <Field label={label}>
      <select
        value={value}
        disabled={isDisabled}
        onChange={({ currentTarget }: { currentTarget: HTMLSelectElement }) => chosen(currentTarget.value)}
      >
        {value === "" && <option value="">{t("unchosen")}</option>}
        {options.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </Field>
  );
}

const KNOWN_BY = {
  animals: { number: "knownByNumber", name: "knownByName" },
  owners: { number: "ownersByNumber", name: "ownersByName" },
  stock: { number: "stockByNumber", name: "stockByName" },
} as const;

/** The meaning of each column. */
export function Columns({ reading, ...shown }: Shown & { reading: FileReading }) {
  const { columns, kind, key } = reading;
  const known = columns.filter(({ meaning }) => meaning !== null).length;
  const change = (index: number, meaning: Meaning | null) => {
    // A meaning belongs to one column: the other one loses it.
    const next = columns.map((column, at) =>
      at === index ? meaning : column.meaning === meaning ? null : column.meaning,
    );
    choose(shown, { columns: next });
  };
  return (
    <>
      <p class="quiet">{t(KNOWN_BY[kind][key])}</p>
      {reading.format === "csv" && <Questions {...shown} />}
      <details open={reading.questions.includes("columns") || undefined}>
        <summary class="quiet">{t("columnsKnown", { known, all: columns.length })}</summary>
        <DataTable label={t("columns")} class="cards" columns={[t("inFile"), t("firstValues"), t("becomes")]}>
          {columns.map((column, index) => (
            <tr key={index}>
              <th scope="row">
                {column.header || t("unnamed")}
                {column.note !== null && <small class="quiet">{t(column.note)}</small>}
              </th>
              <td class="quiet">{column.samples.join(", ")}</td>
              <td>
                <MeaningOf column={column} isDisabled={shown.isDisabled} chosen={(meaning) => change(index, meaning)} />
              </td>
            </tr>
          ))}
        </DataTable>
      </details>
    </>
  );
}

function MeaningOf({
  column,
  isDisabled,
  chosen,
}: {
  column: FileColumn;
  isDisabled: boolean;
  chosen: (meaning: Meaning | null) => void;
}) {
  return (
    <select
      aria-label={t("becomesOf", { header: column.header || t("unnamed") })}
      value={column.meaning ?? ""}
      disabled={isDisabled}
      onChange={({ currentTarget }) => chosen(MEANINGS.find((each) => each === currentTarget.value) ?? null)}
    >
      <option value="">{t("notImported")}</option>
      {MEANINGS.map((meaning) => (
        <option key={meaning} value={meaning}>
          {fieldWord(meaning, language.value)}
        </option>
      ))}
    </select>
  );
}
