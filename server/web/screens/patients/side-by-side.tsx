import type { DeviceValue, SideBySide, SideBySideRow } from "../../../dashboard/types/patients.ts";
import { deviceTitle } from "../../../dashboard/types/results/result-rows.ts";
import { translations } from "../../text.ts";
import { DataTable } from "../../ui/list/data-table.tsx";
import { notComparable } from "../../ui/words/change-words.ts";
import { signed } from "../../ui/words/signed.ts";
import { analyteName, clockTime, dayOf, plainDate } from "../../ui/words/words.ts";

/** The same analytes by two devices within a day, with the difference where no publication refuses it. */
export function TwoDevices({ pairs }: { pairs: readonly SideBySide[] }) {
  if (pairs.length === 0) return null;
  return (
    <section class="two-devices" aria-labelledby="two-devices">
      <h3 id="two-devices">{t("title")}</h3>
      {pairs.map((pair) => (
        <Pair key={pair.studies.map(({ fp }) => fp).join()} pair={pair} />
      ))}
    </section>
  );
}

function Pair({ pair: { studies, rows } }: { pair: SideBySide }) {
  const [earlier, later] = studies;
  const day = plainDate(dayOf(later.acquired_at));
  const isOneDay = dayOf(earlier.acquired_at) === dayOf(later.acquired_at);
  const [one, other] = studies.map((study) => {
    const time = clockTime(study.acquired_at);
    return `${deviceTitle(study, studies)}, ${isOneDay ? time : `${plainDate(dayOf(study.acquired_at))} ${time}`}`;
  });
  const sources = new Set(rows.flatMap(({ difference }) => ("source" in difference ? [difference.source] : [])));
  return (
    <>
      <DataTable
        label={t("table", { day, one: one ?? "", other: other ?? "" })}
        columns={[day, [one ?? "", "number"], [other ?? "", "number"], [t("difference"), "number"]]}
      >
        {rows.map((row) => (
          <Row key={row.analyte} row={row} />
        ))}
      </DataTable>
      {sources.size > 0 && <p class="quiet legend">{t("sources", { sources: [...sources].join("; ") })}</p>}
    </>
  );
}

function Row({ row }: { row: SideBySideRow }) {
  const { analyte, values, difference } = row;
  const name = analyteName(row);
  const unit = values[1].unit ?? "";
  return (
    <tr>
      <th scope="row">
        {analyte} {name !== null && name !== analyte && <small class="quiet">{name}</small>}
      </th>
      {values.map((value, place) => (
        <td key={place} class="number">
          {textOf(value, analyte)}
        </td>
      ))}
      <td class="number">
        {"code" in difference ? notComparable(difference.code) : `${signed(difference.absolute)} ${unit}`.trimEnd()}
      </td>
    </tr>
  );
}

/** Prints a value, after the other name of the substance if it has one. */
function textOf(value: DeviceValue, analyte: string): string {
  return [value.analyte === analyte ? null : value.analyte, value.text, value.unit].filter(Boolean).join(" ");
}

const t = translations({
  title: ["On two devices", "İki cihazda"],
  table: ["{day}: {one} and {other}", "{day}: {one} ve {other}"],
  difference: ["Difference", "Fark"],
  sources: ["Two devices do not compare here: {sources}", "Burada iki cihaz karşılaştırılamaz: {sources}"],
});
