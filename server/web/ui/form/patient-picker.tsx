import { useEffect, useRef, useState } from "preact/hooks";
import type { NamedPatient } from "../../../dashboard/types/records.ts";
import { Problem } from "../../resource.tsx";
import { translations } from "../../text.ts";
import { patientFacts } from "../words/patient-facts.ts";
import { studyWord } from "../words/study-word.ts";
import { speciesOf } from "../words/words.ts";
import { usePatientSearch } from "./use-patient-search.ts";
import "./patient-picker.css";

const SHOWN_MAX = 12;

/**
 * Chooses a patient of the clinic by its name, its owner or a number. `add` opens the form of a new one, and `without` is the fp of
 * one that cannot be chosen.
 */
export function PatientPicker({
  chosen,
  choose,
  add,
  without,
}: {
  chosen: NamedPatient | null;
  choose: (patient: NamedPatient | null) => void;
  add?: () => void;
  without?: string;
}) {
  const change = useRef<HTMLButtonElement>(null);
  const search = useRef<HTMLInputElement>(null);
  const wasUsed = useRef(false);
  // The button that had the focus is removed after a choice.
  useEffect(() => {
    if (wasUsed.current) (change.current ?? search.current)?.focus();
  }, [chosen?.fp]);
  const pick = (patient: NamedPatient | null) => {
    wasUsed.current = true;
    choose(patient);
  };
  return (
    <fieldset class="picker">
      <legend>{t("patient")}</legend>
      {chosen === null ? (
        <Search input={search} pick={pick} add={add} without={without} />
      ) : (
        <p class="actions">
          <strong>{chosen.name}</strong> <span class="quiet">{studyWord(chosen.species)}</span>
          <button ref={change} type="button" onClick={() => pick(null)}>
            {t("change")}
          </button>
        </p>
      )}
    </fieldset>
  );
}

function Search({
  input,
  pick,
  add,
  without,
}: {
  input: { current: HTMLInputElement | null };
  pick: (patient: NamedPatient) => void;
  add: (() => void) | undefined;
  without: string | undefined;
}) {
  const [typed, setTyped] = useState("");
  const { data, error, reload, patients, isOlder } = usePatientSearch(typed.trim());
  const shown = patients.filter(({ fp }) => fp !== without);
  return (
    <>
      <input
        ref={input}
        type="search"
        aria-label={t("search")}
        placeholder={t("search")}
        autocomplete="off"
        maxLength={100}
        value={typed}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        // Enter would submit the surrounding form.
        onKeyDown={(event) => event.key === "Enter" && event.preventDefault()}
      />
      {error !== undefined && <Problem error={error} retry={reload} />}
      {data !== undefined && shown.length === 0 && (
        <p class="quiet" role="status">
          {t("none")}
        </p>
      )}
      {shown.length > 0 && (
        <ul aria-label={t("matches")} inert={isOlder}>
          {shown.slice(0, SHOWN_MAX).map((patient) => (
            <li key={patient.fp}>
              <button type="button" onClick={() => pick({ ...patient, species: speciesOf(patient) })}>
                {patient.name} <span class="quiet">{patientFacts(patient)}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {add !== undefined && (
        <p class="actions">
          <button type="button" onClick={add}>
            {t("add")}
          </button>
        </p>
      )}
    </>
  );
}

const t = translations({
  patient: ["Patient", "Hasta"],
  add: ["New animal", "Yeni hasta"],
  search: ["Name, owner, phone or number", "Ad, sahip, telefon veya numara"],
  matches: ["Patients found", "Bulunan hastalar"],
  none: [
    "No patient of the clinic has this name, owner or number.",
    "Klinikte bu ad, sahip veya numarayla bir hasta yok.",
  ],
  change: ["Change", "Değiştir"],
});
