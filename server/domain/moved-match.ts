import type { Patient } from "../../shared/api/patient.ts";
import { shown } from "../../shared/api/problems.ts";
import type { MatchedBy, PushedStudy } from "../../shared/api/study.ts";
import { fold, readSpecies } from "../../shared/clinical/species.ts";
import type { Unmatched } from "./study-filing.ts";

// An agent matches by its copy of the directory. This checks the match against the directory itself.

/** The present facts of the clinic's directory about the match of a study. */
export interface MatchFacts {
  /** The fps of the patients that the study's identifiers name. */
  readonly named: readonly string[];
  /** The fps of the patients of the species with the same or a similar name; empty unless the match is by name. */
  readonly namesakes: readonly string[];
  /** Whether the patient has an appointment on that day; false unless the match is by name. */
  readonly isAppointed: boolean;
}

/**
 * Returns how the agent matched a study. Agents before `matched_by` send the typed identifier in the hint, which may be an fp or an
 * accession too: it must not name another patient, and need not name this one.
 */
export function matchOf({
  matched_by,
  patient_hint: { identifier },
}: Pick<PushedStudy, "matched_by" | "patient_hint">): MatchedBy {
  return matched_by ?? { by: "fp", identifiers: identifier === null ? [] : [identifier] };
}

/** @returns why the match does not hold for `patient` now; null if it does */
export function movedMatch(
  pushed: Pick<PushedStudy, "matched_by" | "patient_hint">,
  patient: Patient,
  { named, namesakes, isAppointed }: MatchFacts,
): Unmatched | null {
  const { by, identifiers } = matchOf(pushed);
  const others = named.filter((fp) => fp !== patient.fp);
  if (others.length > 0 || (by === "identifier" && named.length === 0)) {
    const now = others.length === 0 ? "no patient" : others.join(" and ");
    const reason = `the number ${identifiers.map((text) => shown(text)).join(" or ")} names ${now} now, the agent took it for ${patient.fp}`;
    return { code: "MATCH.IDENTIFIER_MOVED", reason };
  }
  if (by === "name") {
    const name = pushed.patient_hint.name ?? "";
    const isOnly = namesakes.length === 1 && namesakes[0] === patient.fp && fold(name) === fold(patient.name);
    if (!isOnly || !isAppointed) {
      const now = isOnly
        ? "it has no appointment that day now"
        : `${namesakes.length} patients have that name or a similar one now`;
      return { code: "MATCH.NAME_MOVED", reason: `the agent matched ${patient.fp} by its name, but ${now}` };
    }
  }
  const stated = readSpecies(pushed.patient_hint.species ?? "");
  if (stated !== null && stated !== (readSpecies(patient.species) ?? patient.species)) {
    const reason = `species contradiction: the device says ${stated}, the patient is a ${patient.species} now`;
    return { code: "MATCH.OTHER_SPECIES", reason };
  }
  return null;
}
