import { unitText } from "../../../../../shared/clinical/units/unit-text.ts";
import type { ClinicRange } from "../../../../../shared/clinical/clinic-ranges.ts";
import { animalWord } from "../../../../../shared/clinical/passport/animal-words.ts";
import { language } from "../../../text.ts";
import { DataTable } from "../../../ui/list/data-table.tsx";
import { t } from "./texts.ts";

/** Shows intervals with the digits of the imported file. */
export function RangeTable({ rows, label }: { rows: readonly ClinicRange[]; label: string }) {
  return (
    <DataTable
      label={label}
      columns={[
        t("analyte"),
        [t("interval"), "number"],
        t("unit"),
        [t("critical"), "number"],
        t("animals"),
        t("inForce"),
        t("row"),
      ]}
    >
      {rows.map((row) => (
        <tr key={row.id}>
          <th scope="row">{row.analyte}</th>
          <td class="number">
            {row.low}-{row.high}
          </td>
          <td>{unitText(row.unit)}</td>
          <td class="number">{criticalText(row)}</td>
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
        </tr>
      ))}
    </DataTable>
  );
}

function criticalText({ critical_low, critical_high }: ClinicRange): string {
  const parts = [critical_low && `< ${critical_low}`, critical_high && `> ${critical_high}`];
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
  const { age_min_days: from, age_max_days: to } = row;
  return [
    animalWord(row.species, language.value),
    row.subgroup !== undefined && animalWord(row.subgroup, language.value),
    row.life_stage !== undefined && t(row.life_stage),
    from !== undefined && to !== undefined
      ? t("ages", { from, to })
      : from !== undefined
        ? t("agesFrom", { from })
        : to !== undefined && t("agesTo", { to }),
    row.sex !== undefined && t(row.sex),
    row.neutered !== undefined && t(row.neutered ? "neutered" : "intact"),
    row.device !== undefined && t("device", { name: row.device }),
  ]
    .filter(Boolean)
    .join(", ");
}

export function rangeWords(row: ClinicRange): string {
  return [row.id, row.analyte, row.unit, row.species, row.subgroup, animalsOf(row), ...originOf(row)].join(" ");
}
