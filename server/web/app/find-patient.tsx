import { useLocation } from "preact-iso";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { PatientList } from "../../dashboard/types/patients.ts";
import { call } from "../api.ts";
import { clinicPath } from "../session.ts";
import { translations } from "../text.ts";
import { usePatientSearch } from "../ui/form/use-patient-search.ts";
import { keysAreOn, useKeys } from "../ui/form/use-keys.ts";
import { Icon } from "../ui/status/icon.tsx";
import { patientFacts } from "../ui/words/patient-facts.ts";
import "./find-patient.css";

const SHOWN_MAX = 8;

/** Finds a patient from any screen, by its name, its owner or a number. Enter opens the only match, or the list of all of them. */
export function FindPatient() {
  const { path, route } = useLocation();
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState("");
  const [isOpen, setOpen] = useState(false);
  // Before the next key: an effect after the paint would remove a letter that was typed meanwhile.
  useLayoutEffect(() => {
    setTyped("");
    setOpen(false);
  }, [path]);
  useKeys(keysAreOn.value, { "/": () => input.current?.focus() });

  // A reader of barcodes sends Enter before the matches are here.
  const submit = async (event: Event) => {
    event.preventDefault();
    if (typed.trim() === "") return;
    const query = `?search=${encodeURIComponent(typed.trim())}`;
    const found = await call<PatientList>("GET", `${clinicPath()}/patients${query}`).catch(() => undefined);
    const [only] = found?.patients ?? [];
    setOpen(false);
    route(`/dashboard/patients${found?.total === 1 && only !== undefined ? `/${only.fp}` : query}`);
  };
  return (
    <form
      class="find"
      role="search"
      aria-label={t("find")}
      onSubmit={(event) => void submit(event)}
      onFocusOut={({ currentTarget, relatedTarget }) => {
        if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) setOpen(false);
      }}
    >
      <span class="find-field">
        <Icon of="find" />
        <input
          ref={input}
          type="search"
          aria-label={t("find")}
          placeholder={t("hint")}
          autocomplete="off"
          maxLength={100}
          value={typed}
          onInput={({ currentTarget }) => {
            setTyped(currentTarget.value);
            setOpen(true);
          }}
          onFocus={() => setOpen(true)}
          onKeyDown={(event) => {
            if (event.key !== "Escape") moveFocus(event);
            else if (isOpen) {
              // The first Escape keeps the text, which the browser would clear.
              event.preventDefault();
              setOpen(false);
            }
          }}
        />
      </span>
      {isOpen && <Matches typed={typed.trim()} />}
    </form>
  );
}

function Matches({ typed }: { typed: string }) {
  const { data, patients, isOlder } = usePatientSearch(typed, true);
  if (typed === "") return null;
  if (data?.patients.length === 0) {
    return (
      <p class="found quiet" role="status">
        {t("none")}
      </p>
    );
  }
  if (patients.length === 0) return null;
  return (
    <ul class="found" aria-label={t("matches")} inert={isOlder}>
      {patients.slice(0, SHOWN_MAX).map((patient) => (
        <li key={patient.fp}>
          <a href={`/dashboard/patients/${patient.fp}`} onKeyDown={moveFocus}>
            <strong>{patient.name}</strong> <span class="quiet">{patientFacts(patient)}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}

/** Moves the focus between the field and the matches with the arrow keys. Escape returns to the field. */
function moveFocus(event: KeyboardEvent): void {
  const form = (event.currentTarget as HTMLElement).closest("form");
  const stops = [...(form?.querySelectorAll<HTMLElement>("input, ul:not([inert]) a") ?? [])];
  const step = { ArrowDown: 1, ArrowUp: -1, Escape: -stops.length }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  stops[Math.max(0, stops.indexOf(event.currentTarget as HTMLElement) + step)]?.focus();
}

const t = translations({
  find: ["Find a patient", "Hasta bul"],
  hint: ["Find animal, owner…", "Hasta, sahip bul…"],
  matches: ["Patients found", "Bulunan hastalar"],
  none: [
    "No patient of the clinic has this name, owner or number.",
    "Klinikte bu ad, sahip veya numarayla bir hasta yok.",
  ],
});
