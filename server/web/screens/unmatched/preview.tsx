import { useEffect, useRef } from "preact/hooks";
import type { AssignPreview, PreviewRow } from "../../../dashboard/types/results/unmatched.ts";
import { may } from "../../session.ts";
import { language } from "../../text.ts";
import { Field } from "../../ui/form/field.tsx";
import { ResultRow, ResultTable } from "../../ui/result-row/result-row.tsx";
import { formValues } from "../../ui/form/form.ts";
import { studyWord } from "../../ui/words/study-word.ts";
import { t } from "./texts.ts";
import type { Unmatched } from "./use-unmatched.ts";

/** Shows the flags for the chosen patient and the confirmation. */
export function Preview({ unmatched, preview }: { unmatched: Unmatched; preview: AssignPreview }) {
  const { patient, contradicted_species: said, results } = preview;
  const form = useRef<HTMLFormElement>(null);
  // Focuses what confirms: the button, or the field for the species if the study contradicts the patient.
  useEffect(() => form.current?.querySelector<HTMLElement>("input, button")?.focus(), []);
  const name = patient.name;
  return (
    <>
      <h3>{t("preview", { name })}</h3>
      <PreviewTable results={results} name={name} />
      {may("staff") && (
        <form
          ref={form}
          class="unmatched-confirm"
          onSubmit={(event) => void unmatched.assign(preview, typedSpecies(event, patient.species))}
        >
          {said !== null && <Contradiction preview={preview} said={said} />}
          <div class="actions">
            <button type="submit" class={said === null ? "primary" : "danger"} disabled={unmatched.action.isRunning}>
              {said === null ? t("confirm", { name }) : t("confirmDespite")}
            </button>
            <button type="button" onClick={() => unmatched.choose(undefined)}>
              {t("cancel")}
            </button>
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

function PreviewTable({ results, name }: { results: readonly PreviewRow[]; name: string }) {
  if (results.length === 0) return <p class="quiet">{t("noResults")}</p>;
  return (
    <ResultTable label={t("previewTable", { name })} class="dense">
      {results.map((result, index) => (
        <ResultRow key={index} of={result} />
      ))}
    </ResultTable>
  );
}
