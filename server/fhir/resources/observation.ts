import type { Observation, ObservationReferenceRange } from "fhir/r4.js";
import type { Result } from "../../../shared/api/study.ts";
import type { Analyte } from "../../../shared/clinical/analytes/analytes.ts";
import { isFailure, studyQualityText } from "../../../shared/clinical/control/study-quality.ts";
import type { Place, StudyFacts } from "./facts.ts";
import { deviceId, idOf, observationId, reference } from "./ids.ts";
import { basedOn } from "./service-request.ts";
import {
  analyteConcept,
  boundsOf,
  catalogued,
  hasWords,
  interpretation,
  isImaging,
  NO_VALUE,
  observationCategory,
  quantity,
} from "./terms.ts";

/** Encodes one result of a study. Undefined if the study has no result at this index. */
export function observation(facts: StudyFacts, index: number, place: Place): Observation | undefined {
  const { study, history, updatedAt, issuedAt } = facts;
  const { fp, modality, device_name } = study;
  const result = study.results[index];
  if (result === undefined) return undefined;
  const meaning = interpretation(result);
  const range = referenceRange(result, study.flagged_species ?? facts.species);
  const answered = basedOn(facts, place);
  const notes = [result.comment, controlNote(facts, result)].filter(hasWords);
  return {
    resourceType: "Observation",
    id: observationId(fp, index),
    meta: { lastUpdated: new Date(updatedAt).toISOString() },
    ...(answered === null ? {} : { basedOn: [answered] }),
    status: history.results[index] ?? "final",
    category: [observationCategory(modality)],
    code: analyteConcept(result, modality),
    subject: reference("Patient", idOf(study.patient_fp)),
    effectiveDateTime: study.acquired_at,
    issued: new Date(issuedAt).toISOString(),
    ...valueOf(result, catalogued(result, modality)),
    ...(meaning === null ? {} : { interpretation: [meaning] }),
    ...(notes.length === 0 ? {} : { note: notes.map((text) => ({ text })) }),
    ...(isImaging(modality) ? {} : { specimen: reference("Specimen", idOf(fp)) }),
    device: { ...reference("Device", deviceId(device_name)), display: device_name },
    ...(range === null ? {} : { referenceRange: [range] }),
  };
}

/**
 * Notes a failed control, as R4 has it: Observation.note takes "statements about significant, unexpected or unreliable results values".
 * The status stays, because the value does. A warning and a missing control do not make a value unreliable.
 */
function controlNote({ quality }: StudyFacts, { analyte }: Result): string | null {
  const marks = quality?.marks.filter((mark) => mark.analyte === analyte && isFailure(mark)) ?? [];
  return marks.length === 0 ? null : studyQualityText({ marks }, (ms) => new Date(ms).toISOString(), "en");
}

/** A word is the value, also of a pad: its rank is a number of ours without a unit. */
function valueOf(
  { value, unit, comparator, value_text: words }: Result,
  analyte: Analyte | undefined,
): Pick<Observation, "valueQuantity" | "valueCodeableConcept" | "valueString" | "dataAbsentReason"> {
  if (hasWords(words)) {
    const isChoice = value !== null || (analyte !== undefined && analyte.value_type !== "numeric");
    return isChoice ? { valueCodeableConcept: { text: words } } : { valueString: words };
  }
  return value === null ? { dataAbsentReason: NO_VALUE } : { valueQuantity: quantity(value, unit, comparator) };
}

/** The printed text is kept where numbers of JSON lose its digits: `6.0-17.0`. */
function referenceRange({ reference_range: text, unit }: Result, species: string): ObservationReferenceRange | null {
  if (!hasWords(text)) return null;
  const appliesTo = [{ text: species }];
  const bounds = boundsOf(text);
  if (bounds === null) return { appliesTo, text };
  const { low, high } = bounds;
  return {
    low: quantity(low, unit),
    high: quantity(high, unit),
    appliesTo,
    ...(`${low}-${high}` === text ? {} : { text }),
  };
}
