import { useEffect, useRef } from "preact/hooks";
import type { AssignPreview, PreviewRow } from "../../../dashboard/types/results/unmatched.ts";
import { may } from "../../session.ts";
import { language } from "../../text.ts";
import { Field } from "../../ui/form/field.tsx";
import { ResultRow, ResultTable } from "../../ui/result-row/result-row.tsx";
import { formValues } from "../../ui/form/form.ts";
import { dayOf, plainDate } from "../../ui/words/words.ts";
import { studyWord } from "../../ui/words/study-word.ts";
import { t } from "./texts.ts";
import type { Unmatched } from "./use-unmatched.ts";

/** Shows the flags for the chosen patient and the confirmation. */
export function Preview({ unmatched, preview }: { unmatched: Unmatched; preview: AssignPreview }) {
  const { patient, contradicted_species: said, results } = preview;
  const form = useRef<HTMLFormElement>(null);
  // Focuses what confirms: the button, or what asks about a contradiction between the device and the patient.
  useEffect(() => form.current?.querySelector<HTMLElement>("input, button")?.focus(), []);
  const name = patient.name;
  return (
    <>
      <h3>{t("preview", { name })}</h3>
      <PreviewTables results={results} name={name} />
      {may("staff") && (
        <form
          ref={form}
          class="unmatched-confirm"
          onSubmit={(event) => void unmatched.assign(preview, typedSpecies(event, patient.species))}
        >
          {said !== null && <Contradiction preview={preview} said={said} />}
          {preview.contradicted.length > 0 && (
            // The patient may change meanwhile: the tick is for the facts that were shown.
            <label key={preview.contradicted.join()} class="check unmatched-checked">
              <input type="checkbox" required />
              <span>{t("checked", { count: preview.contradicted.length, name })}</span>
            </label>
          )}
          <div class="actions">
            <button type="submit" class={said === null ? "primary" : "danger"} disabled={unmatched.action.isRunning}>
              {said === null ? t("confirm", { name }) : t("confirmDespite")}
            </button>
            {unmatched.hasNext && (
              <button type="button" onClick={() => unmatched.move(1)}>
                {t("skip")}
              </button>
            )}
          </div>
        </form>
      )}
    </>
  );
}

/** The typed species. A species in the page's language is converted to the API's word. */
function typedSpecies(event: SubmitEvent, species: string): string | undefined {
  const typed = formValues(event)["species"];
  return typed?.trim().toLocaleLowerCase(language.value) === studyWord(species) ? species : typed;
}

function Contradiction({ preview: { patient }, said }: { preview: AssignPreview; said: string }) {
  const species = studyWord(patient.species);
  return (
    <>
      <p class="problem" role="alert">
        <strong>{t("contradiction", { said, name: patient.name, species })}</strong>
      </p>
      <Field label={t("typeSpecies", { species })}>
        <input name="species" required maxLength={100} autocomplete="off" autocapitalize="none" spellcheck={false} />
      </Field>
    </>
  );
}

/** The values that a person looks at, then those within their intervals, which are folded. */
function PreviewTables({ results, name }: { results: readonly PreviewRow[]; name: string }) {
  if (results.length === 0) return <p class="quiet">{t("noResults")}</p>;
  const inRange = results.filter(({ flag, abnormal }) => flag === "normal" && abnormal !== true);
  const others = results.filter((result) => !inRange.includes(result));
  const hasBefore = results.some(({ before }) => before !== undefined);
  const table = (label: string, rows: readonly PreviewRow[]) => (
    <ResultTable label={label} class="dense" before={hasBefore ? t("last") : undefined}>
      {rows.map((result, index) => (
        <ResultRow
          key={index}
          of={result}
          numberBefore={result.before?.number ?? null}
          {...(hasBefore && { before: <Last of={result} /> })}
        />
      ))}
    </ResultTable>
  );
  return (
    <>
      {others.length > 0 && table(t("previewTable", { name }), others)}
      {inRange.length > 0 && (
        <details class="unmatched-in-range">
          <summary class="quiet">
            {t(others.length > 0 ? "othersInRange" : "allInRange", { count: inRange.length })}
          </summary>
          {table(t("inRangeTable", { name }), inRange)}
        </details>
      )}
    </>
  );
}

/** The last value of the chosen patient; its day is on hover and for screen readers. */
function Last({ of: { before, unit } }: { of: PreviewRow }) {
  if (before === undefined) return null;
  const day = plainDate(dayOf(before.acquired_at));
  const isComparable = before.change === null || !("code" in before.change);
  const text = [before.analyte, before.value, before.unit === unit ? null : before.unit].filter(Boolean).join(" ");
  return (
    <span class="quiet" title={isComparable ? day : `${day}, ${t("notComparable")}`}>
      {isComparable ? "" : "≠ "}
      {text}
      <span class="visually-hidden">
        , {day}
        {isComparable ? "" : `, ${t("notComparable")}`}
      </span>
    </span>
  );
}
