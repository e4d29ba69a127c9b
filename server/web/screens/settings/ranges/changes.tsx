import type { ChangedRange, RangeChanges } from "../../../../dashboard/types/settings/ranges.ts";
import { animalWord } from "../../../../../shared/clinical/passport/animal-words.ts";
import { language } from "../../../text.ts";
import { DataTable } from "../../../ui/list/data-table.tsx";
import { RangeTable } from "./range-table.tsx";
import { t } from "./texts.ts";

/** Shows what an import would add, change and remove. */
export function Changes({ of: { added, removed, changed, unchanged, shown } }: { of: RangeChanges }) {
  const summary = { added: added.length, removed: removed.length, changed: changed.length, unchanged };
  return (
    <section aria-labelledby="range-changes">
      <h2 id="range-changes">{t("changes")}</h2>
      <p role="status">{t("summary", summary)}</p>
      {changed.length > 0 && (
        <>
          <h3>{t("changed")}</h3>
          <ChangedTable rows={changed} />
        </>
      )}
      {added.length > 0 && (
        <>
          <h3>{t("added")}</h3>
          <RangeTable rows={added} label={t("added")} shown={shown} />
        </>
      )}
      {removed.length > 0 && (
        <>
          <h3>{t("removed")}</h3>
          <RangeTable rows={removed} label={t("removed")} shown={shown} />
        </>
      )}
    </section>
  );
}

function ChangedTable({ rows }: { rows: readonly ChangedRange[] }) {
  return (
    <DataTable
      label={t("changed")}
      class="cards"
      columns={[t("row"), t("analyte"), t("field"), [t("before"), "number labelled"], [t("after"), "number labelled"]]}
    >
      {rows.flatMap(({ row, fields }) =>
        fields.map(({ field, from, to, shown }) => (
          <tr key={`${row.id} ${field}`}>
            <th scope="row">
              <code>{row.id}</code>
            </th>
            <td>
              {row.analyte} · {animalWord(row.species, language.value)}
            </td>
            <td>
              <code>{field}</code>
            </td>
            <td class="number" title={shown && (from ?? undefined)}>
              {(shown ?? { from }).from ?? "–"}
            </td>
            <td class="number" title={shown && (to ?? undefined)}>
              <strong>{(shown ?? { to }).to ?? "–"}</strong>
            </td>
          </tr>
        )),
      )}
    </DataTable>
  );
}
