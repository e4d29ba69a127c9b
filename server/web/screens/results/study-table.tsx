import { isFailure } from "../../../../shared/clinical/control/study-quality.ts";
import { unitText } from "../../../../shared/clinical/units/unit-text.ts";
import type { StudyPage, StudyRow } from "../../../dashboard/types/results/results.ts";
import { Empty } from "../../resource.tsx";
import { may } from "../../session.ts";
import { date, dateTime } from "../../text.ts";
import { Badge } from "../../ui/status/badge.tsx";
import { ControlMark } from "../../ui/result-row/control-mark.tsx";
import { ResultRow, ResultTable } from "../../ui/result-row/result-row.tsx";
import { convertedFrom } from "../../ui/result-row/sent-text.ts";
import { flagReason } from "../../ui/words/reasons.ts";
import { analyteName } from "../../ui/words/words.ts";
import { Before } from "./study-before.tsx";
import { t } from "./study-texts.ts";
import { WhyIntervals } from "./why/why-intervals.tsx";

/** The results of a study with our interval and the device's, followed by the sources of the intervals. */
export function StudyTable({ study }: { study: StudyPage }) {
  if (study.rows.length === 0) return <Empty title={t("noRows")} />;
  const sources = [...new Set(study.rows.flatMap((row) => sourceKey(row) ?? []))];
  const failed = new Set(study.quality?.marks.filter(isFailure).map(({ analyte }) => analyte));
  const hasBefore = study.rows.some(({ before }) => before !== undefined);
  return (
    <>
      <ResultTable
        label={t("results")}
        class="study-table"
        more={t("deviceOwn")}
        before={hasBefore ? t("previous") : undefined}
      >
        {study.rows.map((row, index) => (
          <Row
            key={index}
            row={row}
            hasBefore={hasBefore}
            source={sources.indexOf(sourceKey(row) ?? "") + 1}
            isControlFailed={failed.has(row.analyte)}
          />
        ))}
      </ResultTable>
      <Sources study={study} sources={sources} />
      <WhyIntervals study={study} sourceOf={(row) => sources.indexOf(sourceKey(row) ?? "") + 1} />
    </>
  );
}

interface RowProps {
  readonly row: StudyRow;
  readonly hasBefore: boolean;
  readonly source: number;
  readonly isControlFailed: boolean;
}

function Row({ row, hasBefore, source, isControlFailed }: RowProps) {
  const sentAs = convertedFrom(row);
  // The device's own range and text are in the unit that was sent.
  const inSent = (text: string | null) =>
    text !== null && sentAs !== undefined ? `${text} ${unitText(row.sent.unit ?? "")}` : text;
  const { printed, measured_at, reference_range, device_range, device_flag, device_species } = row;
  return (
    <ResultRow
      of={{ ...row, name: analyteName(row) }}
      sentAs={sentAs}
      about={
        <>
          <CodeSource row={row} /> {isControlFailed && <ControlMark />}
        </>
      }
      source={source > 0 && <sup>{source}</sup>}
      doubt={row.comment}
      {...(hasBefore && { before: row.before === undefined ? "" : <Before of={row.before} /> })}
      numberBefore={row.before?.number ?? null}
      notes={[
        printed && t("printedAs", { text: inSent(printed) ?? "" }),
        measured_at && dateTime(measured_at),
        row.reason?.code === "LIMIT.EXCEPTED" ? flagReason(row.reason) : null,
        row.limit === undefined ? null : t("byLimit", { ...row.limit, at: date(row.limit.at) }),
        reference_range !== null && row.source?.text != null ? t("fromRange", { text: row.source.text }) : null,
      ]}
      more={[inSent(device_range), device_flag, device_species && t("forSpecies", { species: device_species })]
        .filter(Boolean)
        .join(" ")}
    />
  );
}

/** Marks a code as the device's own or as mapped by the clinic. */
function CodeSource({ row: { code_source, device_code } }: { row: StudyRow }) {
  if (code_source === "clinic") {
    return <Badge>{device_code === null ? t("mapped") : t("mappedFrom", { code: device_code })}</Badge>;
  }
  if (code_source !== "device") return null;
  return (
    <>
      <Badge>{t("ownCode")}</Badge>{" "}
      {may("staff") && (
        <a class="no-print" href="/dashboard/to-place/codes">
          {t("map")}
        </a>
      )}
    </>
  );
}

/** Returns the source of an interval in words. Rows with the same source share a number. */
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
