import type {
  ImportBody,
  PreviewBody,
  RangePreview,
  RangesInUse,
} from "../../../../dashboard/types/settings/ranges.ts";
import { useState } from "preact/hooks";
import { call } from "../../../api.ts";
import { Problem } from "../../../resource.tsx";
import { clinicPath } from "../../../session.ts";
import { language } from "../../../text.ts";
import { Field } from "../../../ui/form/field.tsx";
import { useAction } from "../../../ui/form/use-action.ts";
import { Changes } from "./changes.tsx";
import { rangeFaultText } from "../../../../dashboard/types/range-faults.ts";
import { t } from "./texts.ts";

/** A file that the user chose, and what the server found in it. */
interface Chosen {
  text: string;
  preview: RangePreview;
}

/** Reads a file, shows what it would change, and imports it after a confirmation. */
export function ImportForm({ inUse, done }: { inUse: RangesInUse; done: () => void }) {
  const { run, error, isRunning } = useAction();
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const [lowQuality, setLowQuality] = useState(inUse.low_quality);

  const preview = (file: File | undefined) => {
    setChosen(null);
    if (file === undefined) return;
    void run(async () => {
      const body: PreviewBody = { text: await file.text() };
      const answer = await call<RangePreview>("POST", `${clinicPath()}/ranges/preview`, body);
      setChosen({ text: body.text, preview: answer });
    });
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (chosen === null) return;
    const body: ImportBody = { text: chosen.text, low_quality: lowQuality, replaces: inUse.version };
    void run(async () => {
      await call("PUT", `${clinicPath()}/ranges`, body);
      setChosen(null);
      done();
    });
  };
  const isOpen = inUse.version === null || chosen !== null || isRunning || error !== undefined;
  const isValid = chosen?.preview.state === "valid";
  return (
    <details class="card range-import" open={isOpen}>
      <summary>{t("import")}</summary>
      <form onSubmit={submit}>
        <p>{t("importWhy")}</p>
        <Field label={t("file")} hint={t("fileHint")}>
          <input
            type="file"
            accept=".ndjson,.jsonl,.json,.txt,.csv"
            disabled={isRunning}
            onChange={({ currentTarget }: { currentTarget: HTMLInputElement }) => preview(currentTarget.files?.[0])}
          />
        </Field>
        <p class="actions">
          <input
            id="low-quality"
            type="checkbox"
            checked={lowQuality}
            onChange={({ currentTarget }) => setLowQuality(currentTarget.checked)}
          />
          <label for="low-quality">{t("lowQuality")}</label>
        </p>
        {error !== undefined && <Problem error={error} />}
        {chosen?.preview.state === "faulty" && <Faults of={chosen.preview} />}
        {chosen?.preview.state === "valid" && <Changes of={chosen.preview.changes} />}
        {isValid && (
          <p class="actions">
            <button type="submit" class="primary" disabled={isRunning}>
              {t("confirm")}
            </button>
          </p>
        )}
      </form>
    </details>
  );
}

export function Faults({ of: { problems, total } }: { of: Extract<RangePreview, { state: "faulty" }> }) {
  return (
    <div class="problem" role="alert">
      <strong>{t("faults", { count: total })}</strong>
      <ul>
        {problems.map((problem, index) => (
          <li key={index}>{rangeFaultText(problem, language.value) ?? <span lang="en">{problem}</span>}</li>
        ))}
      </ul>
      {total > problems.length && <p>{t("moreFaults", { count: total - problems.length })}</p>}
    </div>
  );
}
