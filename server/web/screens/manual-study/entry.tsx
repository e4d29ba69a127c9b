import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Modality } from "../../../../shared/api/study.ts";
import type {
  ManualPreview,
  TypedAnalyte,
  TypedRow,
  TypedStudy,
} from "../../../dashboard/types/results/manual-study.ts";
import { isOfImages, MODALITIES } from "../../../dashboard/types/results/study-words.ts";
import { Empty, Problem } from "../../resource.tsx";
import { timeZone } from "../../text.ts";
import { Field } from "../../ui/form/field.tsx";
import { useAction } from "../../ui/form/use-action.ts";
import { studyWord } from "../../ui/words/study-word.ts";
import { ApiPreview } from "./api-preview.tsx";
import { type Change, type EntryDraft, filledRows, typedStudy } from "./draft.ts";
import { ImageRows } from "./image-rows.tsx";
import { LabRows } from "./lab-rows.tsx";
import { t } from "./texts.ts";
import { usePreview } from "./use-preview.ts";
import "./manual-study.css";

interface EntryProps {
  readonly catalogue: readonly TypedAnalyte[];
  readonly draft: EntryDraft;
  readonly change: Change;
  /** Stores the filled rows. */
  readonly store: (typed: TypedStudy, shown: ManualPreview["study"]) => Promise<void>;
  readonly button: string;
  /** The animal, or its choice. */
  readonly children: ComponentChildren;
}

/** The fields of a study with its values. */
export function Entry({ catalogue, draft, change, store, button, children }: EntryProps) {
  const zone = timeZone.value;
  const form = useRef<HTMLDivElement>(null);
  const study = typedStudy(draft, zone);
  const preview = usePreview(study);
  const { run, error, isRunning } = useAction();
  const [isEmpty, setIsEmpty] = useState(false);
  const rows = draft.rows[draft.modality];
  const [wanted, setWanted] = useState("");
  const goTo = ({ code, modality }: TypedAnalyte) => {
    change({ modality });
    requestAnimationFrame(() => form.current?.querySelector<HTMLElement>(`[data-analyte="${code}"]`)?.focus());
  };
  const setRows = (next: TypedRow[]) => change({ rows: { ...draft.rows, [draft.modality]: next } });

  const save = () =>
    run(async () => {
      if (study === null) return;
      const results = filledRows(rows);
      setIsEmpty(results.length === 0 && !isOfImages(draft.modality));
      const shown = await preview.ask();
      const isFaulty =
        shown === undefined || shown.time_fault !== null || shown.rows.some(({ fault }) => fault !== null);
      if (isFaulty || (results.length === 0 && !isOfImages(draft.modality))) {
        requestAnimationFrame(() => form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus());
        return;
      }
      await store({ ...study, results }, shown.study);
    });

  return (
    <div ref={form}>
      <section class="card">
        {children}
        <Head draft={draft} change={change} timeFault={preview.latest?.time_fault ?? null} />
      </section>
      {draft.patient === null ? (
        <Empty title={t("noPatient")}>{t("noPatientNext")}</Empty>
      ) : (
        <>
          {isOfImages(draft.modality) ? (
            <ImageRows rows={rows} preview={preview} change={setRows} />
          ) : (
            <LabRows
              key={draft.modality}
              rows={rows}
              catalogue={catalogue}
              preview={preview}
              {...{ wanted, setWanted, goTo }}
              change={(row) => setRows(rows.map((other) => (other.analyte === row.analyte ? row : other)))}
            />
          )}
          {preview.error !== undefined && <Problem error={preview.error} retry={preview.retry} />}
          {isEmpty && (
            <p class="fault" role="alert">
              {t("typeOne")}
            </p>
          )}
          {error !== undefined && <Problem error={error} />}
          <p class="save">
            <button type="button" class="primary" disabled={isRunning} onClick={() => void save()}>
              {button}
            </button>
          </p>
          {/* Below the button: above it, each response of the server would move the button under the pointer. */}
          {preview.latest !== undefined && <ApiPreview study={preview.latest.study} fp={null} />}
        </>
      )}
    </div>
  );
}

/** The kind, the time and the device of the study. */
function Head({
  draft: { modality, time, device },
  change,
  timeFault,
}: {
  draft: EntryDraft;
  change: Change;
  timeFault: ManualPreview["time_fault"];
}) {
  const zone = timeZone.value;
  return (
    <div class="study-head">
      <Field label={t("modality")}>
        <select
          value={modality}
          onChange={({ currentTarget }) => change({ modality: currentTarget.value as Modality })}
        >
          {MODALITIES.map((each) => (
            <option key={each} value={each}>
              {studyWord(each)}
            </option>
          ))}
        </select>
      </Field>
      <Field
        label={t("time")}
        {...(zone !== undefined && { hint: t("zone", { zone }) })}
        fault={timeFault === null ? null : t(timeFault)}
      >
        <input
          type="datetime-local"
          value={time}
          onInput={({ currentTarget }) => change({ time: currentTarget.value })}
        />
      </Field>
      <Field label={t("device")} hint={t("deviceHint")}>
        <input
          value={device}
          maxLength={200}
          onInput={({ currentTarget }) => change({ device: currentTarget.value })}
        />
      </Field>
    </div>
  );
}
