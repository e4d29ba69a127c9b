import { unitText } from "../../../../../shared/clinical/units/unit-text.ts";
import type { ClinicRange } from "../../../../../shared/clinical/clinic-ranges.ts";
import type { ShownRange } from "../../../../dashboard/types/settings/ranges.ts";
import type { ComponentChildren } from "preact";
import { animalWord } from "../../../../../shared/clinical/passport/animal-words.ts";
import { language } from "../../../text.ts";
import { DataTable } from "../../../ui/list/data-table.tsx";
import { t } from "./texts.ts";

interface RangeTableProps {
  readonly rows: readonly ClinicRange[];
  readonly label: string;
  /** The bounds of rows in other units than theirs. */
  readonly shown?: Readonly<Record<string, ShownRange>>;
  /** Returns the buttons of a row. */
  readonly actions?: ((row: ClinicRange) => ComponentChildren) | undefined;
}

/** Shows intervals with the digits of the imported file, or in the reader's units and with those of the file on hover. */
export function RangeTable({ rows, label, shown = {}, actions }: RangeTableProps) {
  return (
    <DataTable
      label={label}
      class="cards"
      columns={[
        t("analyte"),
        [t("interval"), "number"],
        t("unit"),
        [t("critical"), "number labelled"],
        t("animals"),
        [t("inForce"), "labelled"],
        t("row"),
        actions !== undefined && t("change"),
      ]}
    >
      {rows.map((row) => (
        <tr key={row.id}>
          <th scope="row">{row.analyte}</th>
          <td class="number" title={shown[row.id] && `${row.low}-${row.high} ${unitText(row.unit)}`}>
            {shown[row.id]?.interval ?? `${row.low}-${row.high}`}
          </td>
          <td>{shown[row.id]?.unit ?? unitText(row.unit)}</td>
          <td class="number" title={shown[row.id] && `${criticalText(row)} ${unitText(row.unit)}`}>
            {criticalText(row, shown[row.id])}
          </td>
          <td>{animalsOf(row)}</td>
          <td>
            {row.effective_from}
            {row.effective_until !== undefined && ` – ${row.effective_until}`}
          </td>
          <td>
            <code>{row.id}</code>
            {originOf(row).map((text) => (
              <div key={text} class="quiet">
                {text}
              </div>
            ))}
          </td>
          {actions !== undefined && <td class="actions">{actions(row)}</td>}
        </tr>
      ))}
    </DataTable>
  );
}

function criticalText({ critical_low: low, critical_high: high }: ClinicRange, shown?: ShownRange): string {
  const parts =
    shown === undefined ? [low && `< ${low}`, high && `> ${high}`] : [shown.critical_low, shown.critical_high];
  return parts.filter(Boolean).join(", ");
}

/** How the numbers came about, and the note of the row. */
function originOf({ source, n, method, accepted_by, note }: ClinicRange): string[] {
  return [
    source,
    method,
    n !== undefined && t("animalCount", { n }),
    accepted_by !== undefined && t("acceptedBy", { name: accepted_by }),
    note,
  ].filter((text) => text !== undefined && text !== false);
}

/** The animals and the device to which a row applies, such as `dog, Whippet, adults, neutered`. */
function animalsOf(row: ClinicRange): string {
  return [
    animalWord(row.species, language.value),
    row.subgroup !== undefined && animalWord(row.subgroup, language.value),
    row.life_stage !== undefined && t(row.life_stage),
    agesOf(row),
    row.sex !== undefined && t(row.sex),
    row.neutered !== undefined && t(row.neutered ? "neutered" : "intact"),
    row.device !== undefined && t("device", { name: row.device }),
  ]
    .filter(Boolean)
    .join(", ");
}

/** Writes the ages of the animals; "" for any age. */
function agesOf({ age_min_days: from, age_max_days: to }: ClinicRange): string {
  if (from !== undefined && to !== undefined) return t("ages", { from, to });
  if (from !== undefined) return t("agesFrom", { from });
  return to === undefined ? "" : t("agesTo", { to });
}

export function rangeWords(row: ClinicRange): string {
  return [row.id, row.analyte, row.unit, row.species, row.subgroup, animalsOf(row), ...originOf(row)].join(" ");
}
