import type { StudyPage, StudyRow } from "../../../dashboard/types/results/results.ts";
import { Empty } from "../../resource.tsx";
import { may } from "../../session.ts";
import { dateTime } from "../../text.ts";
import { DataTable } from "../../ui/data-table.tsx";
import { flagReason } from "../../ui/reasons.ts";
import { Flag } from "../../ui/flag.tsx";
import { RangeBar } from "../../ui/range-bar.tsx";
import { t } from "./study-texts.ts";

/** The results of a study with ours and the device's interval, and below it the sources of the intervals. */
export function StudyTable({ study }: { study: StudyPage }) {
  if (study.rows.length === 0) return <Empty title={t("noRows")} />;
  const sources = [...new Set(study.rows.flatMap((row) => sourceKey(row) ?? []))];
  return (
    <>
      <DataTable
        label={t("results")}
        class="study-table"
        columns={[t("analyte"), [t("value"), "number"], t("unit"), t("range"), t("flag"), t("deviceOwn")]}
      >
        {study.rows.map((row, index) => (
          <Row key={index} row={row} source={sources.indexOf(sourceKey(row) ?? "") + 1} />
        ))}
      </DataTable>
      <Sources study={study} sources={sources} />
    </>
  );
}

function Row({ row, source }: { row: StudyRow; source: number }) {
  const { value, number, flag, low, high } = row;
  return (
    <tr class={flag === "critical" ? "critical" : undefined}>
      <th scope="row">
        <Analyte row={row} />
      </th>
      <td class="number">
        <strong class={markClass(row)}>{value}</strong>
        {row.printed !== null && <span class="under">{t("printedAs", { text: row.printed })}</span>}
        {row.measured_at !== null && <span class="under">{dateTime(row.measured_at)}</span>}
      </td>
      <td class="unit">{row.unit}</td>
      <td class="range">
        {row.reference_range === null ? (
          <span class="quiet">{row.reason === null ? t("noRange") : flagReason(row.reason)}</span>
        ) : (
          <>
            <span class="range-text">
              {row.reference_range}
              {source > 0 && <sup>{source}</sup>}
            </span>
            {row.source?.text != null && <span class="under">{t("fromRange", { text: row.source.text })}</span>}
            {number !== null && <RangeBar value={number} low={low} high={high} flag={flag} />}
          </>
        )}
      </td>
      <td class="flag-cell">
        <Flag flag={flag} side={row.side} abnormal={row.abnormal} />
        {row.reference_range !== null && row.reason !== null && <span class="quiet">{flagReason(row.reason)}</span>}
      </td>
      <td class="device-own">
        {[row.device_range, row.device_flag].filter((text) => text !== null && text !== "").join(" ")}
        {row.device_species !== null && <span class="under">{t("forSpecies", { species: row.device_species })}</span>}
      </td>
    </tr>
  );
}

function markClass({ flag, abnormal }: StudyRow): string | undefined {
  if (abnormal === true) return "flag-abnormal";
  return flag === null || flag === "normal" ? undefined : `flag-${flag}`;
}

function Analyte({ row }: { row: StudyRow }) {
  const { analyte, name, code_source, device_code, comment } = row;
  return (
    <>
      <strong>{analyte}</strong> {name !== null && <span class="quiet">{name}</span>}
      {code_source === "device" && (
        <span class="under">
          <span class="tag">{t("ownCode")}</span>{" "}
          {may("staff") && (
            <a class="no-print" href="/dashboard/to-place/codes">
              {t("map")}
            </a>
          )}
        </span>
      )}
      {code_source === "clinic" && (
        <span class="under">
          <span class="tag">{device_code === null ? t("mapped") : t("mappedFrom", { code: device_code })}</span>
        </span>
      )}
      {comment !== null && <span class="under">{t("inDoubt", { comment })}</span>}
    </>
  );
}

/** Returns the source of an interval in words. Rows of one source share a number. */
function sourceKey({ source }: StudyRow): string | null {
  if (source === null) return null;
  switch (source.kind) {
    case "device":
      return t("ofDevice");
    case "clinic":
      return t("ofClinic");
    case "published":
      return source.title ?? source.id;
    case "unknown":
      return t("ofUnknown", { id: source.id });
  }
}

function Sources({ study: { sets }, sources }: { study: StudyPage; sources: readonly string[] }) {
  return (
    <section class="sources" aria-labelledby="sources">
      <h2 id="sources">{t("sources")}</h2>
      <ol>
        {sources.map((source) => (
          <li key={source}>{source}</li>
        ))}
      </ol>
      <p class="quiet">
        {sets === null
          ? t("noSets")
          : t("sets", { catalogue: sets.catalogue, clinic: sets.clinic ?? t("noClinicSet") })}
      </p>
    </section>
  );
}
