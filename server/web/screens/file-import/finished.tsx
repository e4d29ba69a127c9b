import { useState } from "preact/hooks";
import type { ImportState, UndoAnswer, UndoRefusal } from "../../../dashboard/types/file-import.ts";
import { call } from "../../api.ts";
import { Problem } from "../../resource.tsx";
import { clinicPath } from "../../session.ts";
import { dateTime } from "../../text.ts";
import { useAction } from "../../ui/form/use-action.ts";
import { Progress, Result } from "./preview.tsx";
import { t } from "./texts.ts";

/** An import under way, which goes on without the page. */
export function Running({ state }: { state: ImportState }) {
  const rows = state.reading?.rows ?? 0;
  return (
    <>
      <Progress done={state.done} rows={rows} words={t("running", { done: state.done, rows })} />
      <p class="quiet">{t("leave")}</p>
    </>
  );
}

/** The result of an import, with its undo. */
export function Finished({
  state,
  isDisabled,
  reload,
}: {
  state: ImportState;
  isDisabled: boolean;
  reload: () => Promise<void>;
}) {
  const { run, retry, error, isRunning } = useAction();
  const [refusal, setRefusal] = useState<UndoRefusal | null>(null);
  const { result, phase, by, undo_until: until, finished_at: end, started_at: start, reading, id, done } = state;
  const undo = () => {
    void run(async () => {
      const answer = await call<UndoAnswer>("POST", `${clinicPath()}/imports/${id}/undo`, {});
      setRefusal(answer.refusal);
      await reload();
    });
  };
  return (
    <>
      {phase === "failed" && (
        <p class="note note-bad" role="alert">
          {t("failed", { done })}
        </p>
      )}
      {phase === "undone" && (
        <p class="note note-good" role="status">
          {t("undone")}
        </p>
      )}
      {result !== null && phase !== "undone" && (
        <div class={phase === "done" ? "note note-good between" : "note between"} role="status">
          <div>
            <p>{t("done", { ...result.counts, by, time: dateTime(end ?? start) })}</p>
            {phase === "done" && reading?.kind === "animals" && <p>{t("waiting")}</p>}
          </div>
          {until !== null && (
            <button type="button" disabled={isRunning || isDisabled} onClick={undo}>
              {t("undo", { time: dateTime(until) })}
            </button>
          )}
        </div>
      )}
      {refusal !== null && (
        <p class="note note-bad" role="alert">
          {refusalText(refusal)}
        </p>
      )}
      {error !== undefined && <Problem error={error} retry={retry} />}
      {result !== null && phase !== "undone" && <Result of={result} kind={reading?.kind ?? "animals"} id={id} />}
    </>
  );
}

function refusalText({ code, total }: UndoRefusal): string {
  switch (code) {
    case "unknown":
      return t("undoUnknown");
    case "undone":
      return t("undoUndone");
    case "changed":
      return t("undoChanged", { total });
    case "in_use":
      return t("undoInUse", { total });
  }
}
