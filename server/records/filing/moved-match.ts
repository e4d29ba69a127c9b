import type { Patient } from "../../../shared/api/patient.ts";
import { reasonOf } from "../../../shared/api/reason.ts";
import type { MatchedBy, PushedStudy } from "../../../shared/api/study.ts";
import { fold } from "../../../shared/clinical/species.ts";
import { speciesContradiction } from "./species-rule.ts";
import type { Unmatched } from "./study-filing.ts";

// An agent matches by its copy of the directory. This checks the match against the directory itself.

/** The present facts of the clinic's directory about the match of a study. */
export interface MatchFacts {
  /** The fps of the patients that the study's identifiers name. */
  readonly named: readonly string[];
  /** The fps of the patients that had these identifiers when the sample was measured, and lost them since. */
  readonly formerly: readonly string[];
  /** Time of the patient's death, in ms since 1970; null for one that lives. */
  readonly deceasedAt: number | null;
  /** The fps of the patients of the species with the same or a similar name; empty unless the match is by name. */
  readonly namesakes: readonly string[];
  /** Whether the patient has an appointment on that day; false unless the match is by name. */
  readonly isAppointed: boolean;
  /** The order of the push, and its patient; null without one. An order of others, or of nobody, has no patient. */
  readonly order: { readonly fp: string; readonly patientFp: string | null } | null;
  /** The patient's species where the API's word names a group, such as `ferret`; null if it is not known. */
  readonly precise: string | null;
}

/**
 * Returns how the agent matched a study. Agents before `matched_by` send the typed identifier in the hint, also an fp or an
 * accession. It must not name another patient, and need not name this one.
 */
export function matchOf({
  matched_by,
  patient_hint: { identifier },
}: Pick<PushedStudy, "matched_by" | "patient_hint">): MatchedBy {
  return matched_by ?? { by: "fp", identifiers: identifier === null ? [] : [identifier] };
}

/** Time after a death in which its samples are measured: a day may have been noted alone, and a clock be wrong. */
const AFTER_DEATH_MS = 3 * 86_400_000;

/** @returns why the match does not hold for `patient` now; null if it does */
export function movedMatch(
  pushed: Pick<PushedStudy, "matched_by" | "patient_hint" | "acquired_at">,
  patient: Patient,
  { named, formerly, deceasedAt, namesakes, isAppointed, order, precise }: MatchFacts,
): Unmatched | null {
  const { by, identifiers } = matchOf(pushed);
  if (order !== null && order.patientFp !== patient.fp) {
    return reasonOf("MATCH.ORDER_MOVED", patient.fp, order.fp, order.patientFp ?? "");
  }
  const others = named.filter((fp) => fp !== patient.fp);
  if (others.length > 0 || (by === "identifier" && named.length === 0)) {
    return reasonOf("MATCH.IDENTIFIER_MOVED", patient.fp, others.join(" "), ...identifiers);
  }
  if (formerly.length > 0) {
    return reasonOf("MATCH.IDENTIFIER_EARLIER", patient.fp, formerly.join(" "), ...identifiers);
  }
  // A number that is used again, or one of another animal. The order of a sample names its animal for certain.
  if (by !== "accession" && deceasedAt !== null && Date.parse(pushed.acquired_at) > deceasedAt + AFTER_DEATH_MS) {
    const died = new Date(deceasedAt).toISOString().slice(0, 10);
    return reasonOf("MATCH.DECEASED", patient.fp, died, pushed.acquired_at.slice(0, 10));
  }
  if (by === "name") {
    const name = pushed.patient_hint.name ?? "";
    const isOnly = namesakes.length === 1 && namesakes[0] === patient.fp && fold(name) === fold(patient.name);
    if (!isOnly || !isAppointed) {
      return reasonOf("MATCH.NAME_MOVED", patient.fp, isOnly ? "" : String(namesakes.length));
    }
  }
  return speciesContradiction(pushed.patient_hint, patient, precise);
}
