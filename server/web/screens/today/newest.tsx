import { useRef } from "preact/hooks";
import type { NewResult } from "../../../dashboard/types/results/today.ts";
import { Empty } from "../../resource.tsx";
import { DataTable } from "../../ui/list/data-table.tsx";
import { Flag, flagWord } from "../../ui/result-row/flag.tsx";
import { OutsideValues } from "../../ui/result-row/outside-values.tsx";
import { shortTime } from "../../ui/words/words.ts";
import { studyWord } from "../../ui/words/study-word.ts";
import { Badge } from "../../ui/status/badge.tsx";
import { linkOf, nameOf } from "./needs.tsx";
import { t } from "./texts.ts";

/** The newest results. New rows are marked, and announced to screen readers. */
export function Newest({ results }: { results: readonly NewResult[] }) {
  const arrived = useArrived(results);
  return (
    <>
      <div class="between newest-head">
        <h2>{t("newest")}</h2>
        <a href="/dashboard/results">{t("allResults")}</a>
      </div>
      <p class="visually-hidden" role="status" aria-live="polite">
        {arrived.latest.map(announcement).join(" ")}
      </p>
      {results.length === 0 ? (
        <Empty title={t("noResults")}>{t("noResultsNext")}</Empty>
      ) : (
        <DataTable
          label={t("newest")}
          class="cards newest"
          columns={[t("patient"), t("study"), t("outside"), [t("arrived"), "number"]]}
        >
          {results.map((result) => (
            <Row key={keyOf(result)} result={result} isNew={arrived.keys.has(keyOf(result))} />
          ))}
        </DataTable>
      )}
    </>
  );
}

function Row({ result, isNew }: { result: NewResult; isNew: boolean }) {
  const { device_name, modality, received_at, worst_flag, outside, outside_total, patient } = result;
  return (
    <tr class={isNew ? "new-row" : undefined}>
      <th scope="row">
        <a href={linkOf(result)}>{nameOf(result)}</a> {isNew && <Badge tone="new">{t("new")}</Badge>}{" "}
        <span class="quiet">{patient === null ? t("unmatched") : studyWord(patient.species)}</span>
      </th>
      <td>
        {studyWord(modality)} <span class="quiet">{device_name}</span>
      </td>
      <td>
        {outside_total > 0 ? (
          <OutsideValues outside={outside} outside_total={outside_total} />
        ) : worst_flag === null ? (
          <span class="quiet">{t("noFlag")}</span>
        ) : (
          <Flag flag={worst_flag} />
        )}
      </td>
      <td class="number quiet">{shortTime(received_at)}</td>
    </tr>
  );
}

function announcement(result: NewResult): string {
  const words = [result.worst_flag, result.abnormal === true ? "abnormal" : null] as const;
  const flag = words.flatMap((word) => (word === null ? [] : flagWord(word))).join(", ") || t("noFlag");
  return t("announced", { name: nameOf(result), device: result.device_name, flag });
}

function keyOf({ fp, revision }: NewResult): string {
  return `${fp} ${revision}`;
}

/** Compares the rows with the first ones shown. Returns all rows added since, and those of the last change. */
function useArrived(results: readonly NewResult[]): { keys: ReadonlySet<string>; latest: readonly NewResult[] } {
  const known = useRef<Set<string> | null>(null);
  const shown = useRef<readonly NewResult[] | null>(null);
  const arrived = useRef({ keys: new Set<string>(), latest: [] as readonly NewResult[] });
  if (shown.current !== results) {
    const before = known.current ?? new Set(results.map(keyOf));
    const latest = results.filter((result) => !before.has(keyOf(result)));
    for (const result of latest) arrived.current.keys.add(keyOf(result));
    // Keeps the last announcement: an empty list would remove it while it is read.
    if (latest.length > 0) arrived.current.latest = latest;
    known.current = new Set([...before, ...latest.map(keyOf)]);
    shown.current = results;
  }
  return arrived.current;
}
