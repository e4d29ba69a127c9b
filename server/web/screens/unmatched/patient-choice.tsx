import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { CandidateSign } from "../../../../shared/clinical/candidates.ts";
import type { PatientList } from "../../../dashboard/types/patients.ts";
import {
  type Candidate,
  FOUND_MAX,
  type ShownPatient,
  type UnmatchedDetails,
} from "../../../dashboard/types/results/unmatched.ts";
import { Loaded, useResource } from "../../resource.tsx";
import { may } from "../../session.ts";
import { Icon } from "../../ui/status/icon.tsx";
import { dayText, word } from "../../ui/words/words.ts";
import { patientFacts } from "./patient-facts.ts";
import { studyWord } from "../../ui/words/study-word.ts";
import { sign, t } from "./texts.ts";
import type { Unmatched } from "./use-unmatched.ts";

/** The candidates, and a search among the clinic's other patients. */
export function PatientChoice({
  unmatched,
  study,
  add,
}: {
  unmatched: Unmatched;
  study: UnmatchedDetails;
  add: () => void;
}) {
  const [text, setText] = useState("");
  const wanted = text.trim();
  const found = useResource<PatientList>(wanted === "" ? null : `/patients?search=${encodeURIComponent(wanted)}`);
  return (
    <>
      {study.candidates.length === 0 && <p class="quiet">{t("noCandidates")}</p>}
      <ol class="unmatched-choices">
        {study.candidates.map((candidate, index) => (
          <li key={candidate.patient.fp}>
            <Choice unmatched={unmatched} patient={candidate.patient} ordinal={index + 1}>
              <Signs candidate={candidate} study={study} />
            </Choice>
          </li>
        ))}
      </ol>
      <div class="actions unmatched-other">
        <input
          type="search"
          aria-label={t("search")}
          placeholder={t("searchHint")}
          autocomplete="off"
          maxLength={100}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        {may("staff") && (
          <button type="button" onClick={add}>
            <Icon of="add" /> {t("newFromResult")}
          </button>
        )}
      </div>
      {wanted !== "" && (
        <Loaded of={found}>
          {({ patients }) =>
            patients.length === 0 ? (
              <p class="quiet">{t("nothingFound")}</p>
            ) : (
              <ul class="unmatched-choices">
                {patients.slice(0, FOUND_MAX).map((patient) => (
                  <li key={patient.fp}>
                    <Choice unmatched={unmatched} patient={{ ...patient, weight_kg: null }} />
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
      )}
    </>
  );
}

interface ChoiceProps {
  readonly unmatched: Unmatched;
  readonly patient: ShownPatient;
  /** The shortcut of this patient. */
  readonly ordinal?: number;
  readonly children?: ComponentChildren;
}

function Choice({ unmatched: { chosen, choose }, patient, ordinal, children }: ChoiceProps) {
  return (
    <button
      type="button"
      class="unmatched-choice"
      aria-pressed={chosen?.fp === patient.fp}
      onClick={() => choose(patient)}
    >
      {ordinal !== undefined && <kbd>{ordinal}</kbd>}
      <span>
        <strong>{patient.name}</strong> <span class="quiet">{patientFacts(patient)}</span>
        {children}
      </span>
    </button>
  );
}

const against: readonly CandidateSign[] = ["otherSpecies", "otherSex", "otherDateOfBirth", "otherWeight"];

function Signs({ candidate, study }: { candidate: Candidate; study: UnmatchedDetails }) {
  // Reasons for the animal come first, then reasons against it.
  const signs = candidate.signs.toSorted((a, b) => Number(against.includes(a)) - Number(against.includes(b)));
  return (
    <span class="unmatched-signs">
      {signs.map((each) => (
        <span key={each} class={against.includes(each) ? "unmatched-sign unmatched-against" : "unmatched-sign"}>
          <span aria-hidden="true">{against.includes(each) ? "✗" : "✓"}</span> {signText(each, candidate, study)}
        </span>
      ))}
    </span>
  );
}

function signText(each: CandidateSign, { patient, number }: Candidate, { hint }: UnmatchedDetails): string {
  const species = studyWord(patient.species);
  switch (each) {
    case "identifier":
    case "nearIdentifier":
      return sign(each, { number: number ?? "" });
    case "species":
      return sign(each, { species });
    case "otherSpecies":
      return sign(each, { species, said: hint?.species ?? "" });
    case "owner":
      return sign(each, { said: hint?.owner ?? "" });
    case "otherDateOfBirth":
      return sign(each, { day: dayText(patient.date_of_birth ?? ""), said: dayText(hint?.date_of_birth ?? "") });
    case "otherSex":
      return sign(each, { sex: word(patient.sex ?? ""), said: hint?.sex ?? "" });
    case "otherWeight":
      return sign(each, { weight: patient.weight_kg ?? "", said: hint?.weight_kg ?? "" });
    case "name":
    case "nearName":
    case "appointed":
    case "dateOfBirth":
    case "sex":
    case "weight":
      return sign(each);
  }
}
