import { useLocation } from "preact-iso";
import type { ListedStudy, ResultFilters } from "../../../dashboard/types/results/results.ts";
import { Empty, Loaded, Problem } from "../../resource.tsx";
import { clinicPath } from "../../session.ts";
import { dateTime } from "../../text.ts";
import { DataTable } from "../../ui/list/data-table.tsx";
import { ControlMark } from "../../ui/result-row/control-mark.tsx";
import { Flag } from "../../ui/result-row/flag.tsx";
import { LeftOut } from "../../ui/list/left-out.tsx";
import { studyWord } from "../../ui/words/study-word.ts";
import { Badge } from "../../ui/status/badge.tsx";
import { Filters } from "./filters.tsx";
import { type FilterName, filtersOf, queryText } from "./query.ts";
import type { ShownList } from "./shown-list.ts";
import { t } from "./texts.ts";
import { useResults, zoneName } from "./use-results.ts";
import "./results.css";

/** The clinic's results, newest first. New results are added while the page is open. */
export function Results() {
  const { query, route } = useLocation();
  const filters = filtersOf(query);
  const { list, page, isStale, arrived, more, moreError, isLoadingMore } = useResults(filters);
  const change = (name: FilterName, value: string) =>
    route(`/dashboard/results${queryText({ ...filters, [name]: value })}`, true);
  return (
    <>
      <div class="between">
        <h1>{t("results")}</h1>
        <p class="results-news" role="status">
          {arrived.size > 0 && t("arrived", { count: arrived.size })}
        </p>
        <a
          class="button no-print"
          href={`/clinic/v1${clinicPath()}/results.csv${queryText({ ...filters, zone: zoneName() })}`}
          download
        >
          {t("csv")}
        </a>
      </div>
      <Filters filters={filters} patientName={page?.patient?.name} change={change} />
      {page?.is_search_cut === true && <p class="note">{t("searchCut")}</p>}
      <Loaded of={list}>
        {(shown) => (
          <div aria-busy={isStale} class={isStale ? "stale" : undefined}>
            <LeftOut count={shown.left_out} />
            {shown.items.length === 0 ? (
              <NoResults filters={filters} />
            ) : (
              <ResultsTable shown={shown} arrived={arrived} />
            )}
            {moreError !== undefined && <Problem error={moreError} retry={more} />}
            {shown.next !== null && (
              <p class="more no-print">
                <button type="button" disabled={isLoadingMore} onClick={() => void more()}>
                  {t("more")}
                </button>
              </p>
            )}
          </div>
        )}
      </Loaded>
    </>
  );
}

function NoResults({ filters }: { filters: ResultFilters }) {
  if (Object.keys(filters).length === 0) return <Empty title={t("empty")}>{t("emptyNext")}</Empty>;
  return (
    <Empty title={t("noMatch")}>
      <a href="/dashboard/results">{t("clear")}</a>
    </Empty>
  );
}

function ResultsTable({ shown, arrived }: { shown: ShownList; arrived: ReadonlySet<string> }) {
  return (
    <DataTable
      label={t("results")}
      class="results cards"
      columns={[t("measured"), t("patient"), t("study"), t("outsideValues")]}
    >
      {shown.items.map((study) => (
        <ResultRow key={study.fp} study={study} isNew={arrived.has(study.fp)} />
      ))}
    </DataTable>
  );
}

function ResultRow({ study, isNew }: { study: ListedStudy; isNew: boolean }) {
  const { fp, patient, hint_name, sample_ids, revision } = study;
  return (
    <tr class={isNew ? "arrived" : undefined}>
      <th scope="row">
        <a href={`/dashboard/results/${fp}`}>
          <time dateTime={study.acquired_at}>{dateTime(study.acquired_at)}</time>
        </a>{" "}
        {isNew && <Badge tone="new">{t("new")}</Badge>} {revision > 1 && <Badge>{t("revised", { revision })}</Badge>}{" "}
        {study.control_failed === true && <ControlMark />}
      </th>
      <td>
        {patient === null ? (
          <a class="unplaced" href={`/dashboard/to-place/${fp}`}>
            {hint_name === null ? t("unplaced") : t("unplacedNamed", { name: hint_name })}
          </a>
        ) : (
          <>
            <a href={`/dashboard/patients/${patient.fp}`}>{patient.name}</a>{" "}
            <span class="quiet">{studyWord(patient.species)}</span>
          </>
        )}
      </td>
      <td>
        {studyWord(study.modality)} <span class="quiet">{study.device_name}</span>
        {sample_ids.length > 0 && <span class="quiet"> · {t("sample", { ids: sample_ids.join(", ") })}</span>}
      </td>
      <td>
        <Outside study={study} />
      </td>
    </tr>
  );
}

function Outside({ study: { outside, outside_total, results } }: { study: ListedStudy }) {
  if (results === 0) return <span class="quiet">{t("noValues")}</span>;
  if (outside_total === 0) return <span class="quiet">{t("noneOutside", { count: results })}</span>;
  return (
    <ul class="plain-list outside-values">
      {outside.map(({ analyte, text, flag, side }, index) => (
        <li key={index}>
          <strong>{analyte}</strong> {text} <Flag flag={flag} side={side} abnormal={flag === null} />
        </li>
      ))}
      {outside_total > outside.length && (
        <li class="quiet">{t("others", { count: outside_total - outside.length })}</li>
      )}
    </ul>
  );
}
