import type { ComponentChildren } from "preact";
import { useLocation } from "preact-iso";
import { faultWords } from "../../../dashboard/types/file-faults.ts";
import type { ImportState, LastImport } from "../../../dashboard/types/file-import.ts";
import { call, sendFile } from "../../api.ts";
import { Loaded, Problem, useResource } from "../../resource.tsx";
import { useInterval } from "../../use-interval.ts";
import { clinicPath } from "../../session.ts";
import { language } from "../../text.ts";
import { Icon } from "../../ui/status/icon.tsx";
import { Field } from "../../ui/form/field.tsx";
import { useAction } from "../../ui/form/use-action.ts";
import { type Act, Columns, ReadAs } from "./decided.tsx";
import { Finished, Running } from "./finished.tsx";
import { FolderFiles } from "./folder-files.tsx";
import { Preview } from "./preview.tsx";
import { t } from "./texts.ts";
import "./file-import.css";

/** Interval at which the progress is read. */
const PROGRESS_MS = 1000;

/** Imports a list of animals, owners or stock: file, columns, preview, import. A reload shows the same step. */
export function FileImport() {
  const last = useResource<LastImport>("/imports");
  const { file } = useLocation().query;
  const isBusy = [last.data?.last, ...(last.data?.folder ?? [])].some(
    (state) => state?.phase === "previewing" || state?.phase === "running",
  );
  useInterval(last.reload, PROGRESS_MS, isBusy);
  return (
    <div class="file-import">
      <div class="page-head">
        <div>
          <h1>{t("title")}</h1>
          <p>{t("intro")}</p>
        </div>
      </div>
      <Loaded of={last}>
        {({ last: own, folder }) => {
          const ofFolder = folder.find(({ id }) => id === file);
          return (
            <>
              <Steps key={ofFolder?.id} state={ofFolder ?? own} reload={last.reload} />
              <FolderFiles files={folder} shown={ofFolder?.id ?? null} />
            </>
          );
        }}
      </Loaded>
    </div>
  );
}

function Steps({ state, reload }: { state: ImportState | null; reload: () => Promise<void> }) {
  const { run, retry, error, isRunning } = useAction();
  const act = (work: () => Promise<unknown>) => {
    void run(async () => {
      await work();
      await reload();
    });
  };
  const upload = (file: File | undefined) => {
    if (file === undefined) return;
    act(() => sendFile(`${clinicPath()}/imports?${new URLSearchParams({ name: file.name })}`, file));
  };
  const discard = (id: string) => act(() => call("DELETE", `${clinicPath()}/imports/${id}`));
  const failed = error !== undefined && <Problem error={error} retry={retry} />;
  if (state === null) {
    return (
      <ol class="steps">
        <Step number={1} title={t("file")} isCurrent>
          <Field label={t("choose")} hint={isRunning ? t("reading") : t("chooseHint")}>
            <input
              type="file"
              accept=".csv,.tsv,.txt,.xlsx"
              disabled={isRunning}
              onChange={({ currentTarget }: { currentTarget: HTMLInputElement }) => upload(currentTarget.files?.[0])}
            />
          </Field>
          {failed}
        </Step>
      </ol>
    );
  }
  const { reading, phase, id } = state;
  const isOpen = phase === "read" || phase === "previewed";
  const isOver = !isOpen && phase !== "previewing" && phase !== "running";
  return (
    <ol class="steps">
      <FileStep state={state} isDisabled={isRunning} act={act} discard={() => discard(id)} />
      {reading !== null && isOpen && (
        <Step
          number={2}
          title={t("columns")}
          isCurrent={reading.questions.length > 0}
          isDone={reading.questions.length === 0}
        >
          <Columns state={state} reading={reading} isDisabled={isRunning} act={act} />
        </Step>
      )}
      {reading !== null && !isOver && phase !== "running" && (
        <Step number={3} title={t("look")} isCurrent={reading.questions.length === 0}>
          <Preview state={state} reading={reading} isDisabled={isRunning} act={act} discard={() => discard(id)} />
        </Step>
      )}
      {(isOver || phase === "running") && (
        <Step number={4} title={t("import")} isCurrent>
          {phase === "running" ? (
            <Running state={state} />
          ) : (
            <Finished state={state} isDisabled={isRunning} reload={reload} />
          )}
        </Step>
      )}
      {error !== undefined && <li>{failed}</li>}
    </ol>
  );
}

/** The file, and how it is read, or why it cannot be. */
function FileStep({
  state,
  isDisabled,
  act,
  discard,
}: {
  state: ImportState;
  isDisabled: boolean;
  act: Act;
  discard: () => void;
}) {
  const { reading, fault, file_name: name, phase } = state;
  const words = fault === null ? null : faultWords(fault, language.value);
  const place = fault?.line == null ? "" : `${t("line", { line: fault.line })}: `;
  return (
    <Step
      number={1}
      title={t("file")}
      isCurrent={fault !== null}
      isDone={fault === null}
      action={
        phase !== "running" && (
          <button type="button" disabled={isDisabled} onClick={discard}>
            {t(state.undo_until === null ? "another" : "anotherEndsUndo")}
          </button>
        )
      }
    >
      <p>{fault === null ? t("lines", { name, rows: reading?.rows ?? 0 }) : t("notRead", { name })}</p>
      {words !== null && (
        <div class="problem" role="alert">
          <strong>{`${place}${words.what}`}</strong>
          <p>{words.remedy}</p>
        </div>
      )}
      {(phase === "read" || phase === "previewed") && <ReadAs state={state} isDisabled={isDisabled} act={act} />}
    </Step>
  );
}

function Step({
  number,
  title,
  isCurrent,
  isDone = false,
  action = false,
  children,
}: {
  number: number;
  title: string;
  isCurrent: boolean;
  isDone?: boolean;
  /** Beside the title. */
  action?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <li class={isDone ? "done" : undefined} aria-current={isCurrent ? "step" : undefined}>
      <span class="step-number" aria-hidden="true">
        {isDone ? <Icon of="check" /> : number}
      </span>
      <div>
        <div class="between">
          <h2>{title}</h2>
          {action}
        </div>
        {children}
      </div>
    </li>
  );
}
