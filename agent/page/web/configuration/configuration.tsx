import { useSignal } from "@preact/signals";
import type { LocalApplied, LocalConfiguration } from "../../types/configuration.ts";
import { call } from "../../../../server/web/api.ts";
import { Empty, Loaded, Problem, useLocal } from "../../../../server/web/resource.tsx";
import { DiffLines } from "../../../../server/web/ui/list/diff-lines.tsx";
import { useAction } from "../../../../server/web/ui/form/use-action.ts";
import { Editor, Problems } from "./editor.tsx";
import { t } from "./texts.ts";
import { useCheck } from "./use-check.ts";
import "./configuration.css";

/** The text of agent.yaml: checked while a user types, compared with the running text, and applied completely or not at all. */
export function Configuration() {
  const configuration = useLocal<LocalConfiguration>("/configuration");
  return (
    <>
      <h1>{t("configuration")}</h1>
      <Loaded of={configuration}>
        {({ text, ...shown }) =>
          text === null ? (
            <Empty title={t("notSetUp")}>
              <a href="/setup">{t("setUp")}</a>
            </Empty>
          ) : (
            <Editing of={{ ...shown, text }} reload={configuration.reload} />
          )
        }
      </Loaded>
    </>
  );
}

type Running = LocalConfiguration & { readonly text: string };

function Editing({ of: running, reload }: { of: Running; reload: () => Promise<void> }) {
  const text = useSignal(running.text);
  /** The text that the user started with. */
  const base = useSignal({ mark: running.mark, text: running.text });
  const outcome = useSignal<LocalApplied | null>(null);
  const { check, isChecking } = useCheck(text.value, running.mark);
  const { run, error, isRunning } = useAction();

  const edit = (next: string) => {
    text.value = next;
    outcome.value = null;
  };
  const load = () => {
    base.value = { mark: running.mark, text: running.text };
    edit(running.text);
  };
  const apply = () =>
    run(async () => {
      const wanted = text.value;
      outcome.value = await call<LocalApplied>("POST", "/configuration", { text: wanted, mark: base.value.mark });
      if (outcome.value.outcome !== "applied") return;
      const applied = await call<LocalConfiguration>("GET", "/configuration");
      base.value = { mark: applied.mark, text: wanted };
      await reload();
    });

  const isChanged = text.value !== running.text;
  const problems = check?.problems ?? [];
  return (
    <>
      <p class="quiet">{t("file", { file: running.file })}</p>
      {running.mark !== base.value.mark && (
        <p class="note" role="status">
          {t("otherText")}{" "}
          <button type="button" onClick={load}>
            {t("loadOther")}
          </button>
        </p>
      )}
      <Editor text={text.value} problems={problems} isChecking={isChecking} edit={edit} />
      <Difference lines={check?.diff ?? []} />
      <p class="actions">
        <button
          type="button"
          class="primary"
          disabled={!isChanged || isChecking || problems.length > 0 || isRunning}
          onClick={() => void apply()}
        >
          {t("apply")}
        </button>
        {isChanged && (
          <button type="button" disabled={isRunning} onClick={load}>
            {t("running")}
          </button>
        )}
        {running.previous !== null && running.previous !== text.value && (
          <button type="button" disabled={isRunning} onClick={() => edit(running.previous ?? "")}>
            {t("previous")}
          </button>
        )}
      </p>
      {isRunning && <p role="status">{t("applying")}</p>}
      {error !== undefined && <Problem error={error} />}
      {outcome.value !== null && <Outcome of={outcome.value} />}
    </>
  );
}

function Difference({ lines }: { lines: readonly string[] }) {
  if (lines.length === 0) return <p class="quiet">{t("noDifference")}</p>;
  return (
    <>
      <h2>{t("difference")}</h2>
      <DiffLines lines={lines} label={t("difference")} />
    </>
  );
}

function Outcome({ of }: { of: LocalApplied }) {
  if (of.outcome === "applied") return <p role="status">{t("applied")}</p>;
  return (
    <div class="problem" role="alert">
      <strong>{t(of.outcome)}</strong>
      {of.outcome === "refused" ? <Problems of={of.problems} /> : <p lang="en">{of.reason}</p>}
    </div>
  );
}
