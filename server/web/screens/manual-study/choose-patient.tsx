import { useEffect, useState } from "preact/hooks";
import type { ListedPatient, PatientList } from "../../../dashboard/types/patients.ts";
import { Problem, useResource } from "../../resource.tsx";
import { Field } from "../../ui/form/field.tsx";
import { studyWord } from "../../ui/words/study-word.ts";
import { plainDate, speciesOf, word } from "../../ui/words/words.ts";
import { NewAnimalDialog } from "../patients/animal/new-animal.tsx";
import { t } from "./texts.ts";

/** Pause in the typing before a search. */
const PAUSE_MS = 200;
const CHOICES_MAX = 8;

/** Finds an animal by its name, its owner or a number, or adds it. */
export function ChoosePatient({
  patient,
  choose,
}: {
  patient: ListedPatient | null;
  choose: (patient: ListedPatient | null) => void;
}) {
  if (patient === null) return <Search choose={choose} />;
  return (
    <div class="between">
      <p>
        <strong>{patient.name}</strong> <span class="quiet">{describe(patient)}</span>
      </p>
      <button type="button" onClick={() => choose(null)}>
        {t("otherPatient")}
      </button>
    </div>
  );
}

function Search({ choose }: { choose: (patient: ListedPatient) => void }) {
  const [isAdding, setAdding] = useState(false);
  const [typed, setTyped] = useState("");
  const search = usePaused(typed.trim());
  const found = useResource<PatientList>(search === "" ? null : `/patients?search=${encodeURIComponent(search)}`);
  const choices = search === "" ? undefined : found.data?.patients.slice(0, CHOICES_MAX);
  return (
    <>
      <Field label={t("patient")} hint={t("patientHint")}>
        <input
          type="search"
          autocomplete="off"
          value={typed}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            event.preventDefault();
            const [only, ...others] = choices ?? [];
            if (only !== undefined && others.length === 0 && search === typed.trim()) choose(only);
          }}
        />
      </Field>
      <p class="visually-hidden" role="status">
        {choices === undefined ? "" : t("found", { count: choices.length })}
      </p>
      {found.error !== undefined && search !== "" && <Problem error={found.error} retry={found.reload} />}
      {choices?.length === 0 && <p class="quiet">{t("nobody")}</p>}
      {choices !== undefined && choices.length > 0 && (
        // A list that changes under the pointer would choose another animal.
        <ul class="plain-list choices" inert={search !== typed.trim()}>
          {choices.map((choice) => (
            <li key={choice.fp}>
              <button type="button" onClick={() => choose(choice)}>
                <strong>{choice.name}</strong> <span class="quiet">{describe(choice)}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      <p class="actions">
        <button type="button" onClick={() => setAdding(true)}>
          {t("newAnimal")}
        </button>
      </p>
      {isAdding && <NewAnimalDialog choose={choose} close={() => setAdding(false)} />}
    </>
  );
}

function describe(patient: ListedPatient): string {
  const { breed, sex, date_of_birth, identifiers, owner_name } = patient;
  const born = date_of_birth === null ? null : t("born", { date: plainDate(date_of_birth) });
  const facts = [studyWord(speciesOf(patient)), breed, sex === null ? null : word(sex), born, owner_name];
  return [...facts, ...identifiers.slice(0, 2)].filter((fact) => fact !== null).join(" · ");
}

/** Returns the value after it has been unchanged for a while. */
function usePaused(value: string): string {
  const [paused, setPaused] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return paused;
}
