import { useState } from "preact/hooks";
import { faultWords, fieldWord } from "../../../dashboard/types/file-faults.ts";
import {
  type FileLine,
  type FileReading,
  type FileResult,
  type ImportState,
  LINE_OUTCOMES,
  type LineOutcome,
} from "../../../dashboard/types/file-import.ts";
import { call } from "../../api.ts";
import { clinicPath } from "../../session.ts";
import { language } from "../../text.ts";
import { Icon } from "../../ui/status/icon.tsx";
import { DataTable } from "../../ui/list/data-table.tsx";
import type { Act } from "./decided.tsx";
import { t } from "./texts.ts";

const IMPORT = { animals: "importAnimals", owners: "importOwners", stock: "importStock" } as const;
const SUBJECT = { animals: "animal", owners: "owner", stock: "item" } as const;

/** The changes that the file would make: first the button, then the progress, then the counts with the first lines. */
export function Preview({
  state,
  reading,
  isDisabled,
  act,
  discard,
}: {
  state: ImportState;
  reading: FileReading;
  isDisabled: boolean;
  act: Act;
  discard: () => void;
}) {
  const post = (step: string) => act(() => call("POST", `${clinicPath()}/imports/${state.id}/${step}`, {}));
  const { rows, kind } = reading;
  if (state.phase === "previewing") {
    return <Progress done={state.done} rows={rows} words={t("previewing", { done: state.done, rows })} />;
  }
  if (state.phase !== "previewed" || state.result === null) {
    const isOpen = reading.questions.length > 0;
    return (
      <p class="actions">
        <button type="button" class="primary" disabled={isDisabled || isOpen} onClick={() => post("preview")}>
          {t("lookNow")}
        </button>
      </p>
    );
  }
  const count = state.result.counts.new + state.result.counts.changed;
  return (
    <>
      <Result of={state.result} kind={kind} id={state.id} />
      {count === 0 && <p>{t("nothing")}</p>}
      <p class="actions">
        {count > 0 && (
          <button type="button" class="primary" disabled={isDisabled} onClick={() => post("start")}>
            {t(IMPORT[kind], { count })}
          </button>
        )}
        <button type="button" disabled={isDisabled} onClick={discard}>
          {t("cancel")}
        </button>
      </p>
    </>
  );
}

export function Progress({ done, rows, words }: { done: number; rows: number; words: string }) {
  return (
    <div class="card" role="status">
      <p>
        <strong>{words}</strong>
      </p>
      <progress max={rows} value={done} aria-label={t("progress")} />
    </div>
  );
}

/** The counts, and the first lines of one outcome. */
export function Result({ of, kind, id }: { of: FileResult; kind: FileReading["kind"]; id: string }) {
  const { counts, lines } = of;
  const [chosen, choose] = useState<LineOutcome>(counts.refused > 0 ? "refused" : "new");
  const [shown, total] = [lines[chosen], counts[chosen]];
  return (
    <>
      <dl class="counts">
        {LINE_OUTCOMES.map((outcome) => (
          <div key={outcome} class="card">
            <dt>{t(outcome)}</dt>
            <dd>{counts[outcome]}</dd>
          </div>
        ))}
      </dl>
      <div class="card flush">
        <div class="card-head">
          <div class="actions" role="group" aria-label={t("show")}>
            {LINE_OUTCOMES.map((outcome) => (
              <button
                key={outcome}
                type="button"
                class="chip"
                aria-pressed={outcome === chosen}
                onClick={() => choose(outcome)}
              >
                {`${t(outcome)} ${counts[outcome]}`}
              </button>
            ))}
          </div>
          {counts.refused > 0 && (
            <a
              class="button refused-lines"
              href={`/clinic/v1${clinicPath()}/imports/${id}/refused?language=${language.value}`}
              download
            >
              <Icon of="file" /> {t("refusedCsv")}
            </a>
          )}
        </div>
        {total === 0 ? <p class="quiet no-lines">{t("none")}</p> : <Lines outcome={chosen} lines={shown} kind={kind} />}
        {total > shown.length && <p class="card-foot">{t("firstLines", { count: shown.length, total })}</p>}
      </div>
    </>
  );
}

function Lines({
  outcome,
  lines,
  kind,
}: {
  outcome: LineOutcome;
  lines: readonly FileLine[];
  kind: FileReading["kind"];
}) {
  const subject = t(SUBJECT[kind]);
  const more = outcome === "refused" ? [t("why"), t("todo")] : outcome === "changed" ? [t("changes")] : [];
  return (
    <DataTable label={t(outcome)} class="cards" columns={[t("lineHead"), subject, ...more]}>
      {lines.map(({ line, name, changes, faults }) => {
        const words = faults.map((fault) => ({ ...faultWords(fault, language.value), field: fault.field }));
        return (
          <tr key={line}>
            <td class="quiet">{t("line", { line })}</td>
            <th scope="row">{name === "" ? "—" : name}</th>
            {outcome === "refused" && (
              <>
                <td>
                  {words.map(({ field, what }) => `${fieldWord(field, language.value)} ${what}`.trim()).join("; ")}
                </td>
                <td class="quiet">{[...new Set(words.map(({ remedy }) => remedy))].join(" ")}</td>
              </>
            )}
            {outcome === "changed" && <td>{changes.map((field) => fieldWord(field, language.value)).join(", ")}</td>}
          </tr>
        );
      })}
    </DataTable>
  );
}
