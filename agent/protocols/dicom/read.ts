import { ULTRASOUND_IMAGE, ULTRASOUND_MULTI_FRAME_IMAGE, VIDEO_ENDOSCOPIC_IMAGE, VL_ENDOSCOPIC_IMAGE } from "./uids.ts";
import { createHash } from "node:crypto";
import { readSpecies } from "../../../shared/clinical/species.ts";
import type { Modality, PatientHint, Result, RowSnapshot } from "../../../shared/api/study.ts";
import type { Code } from "./elements.ts";
import type { Header } from "./header.ts";
import { conceptKey, meaningOf, shortCode } from "./measurement-codes.ts";
import type { Measurement } from "./structured-report.ts";
import type { Report } from "../../report/report.ts";
import { hintText } from "../../report/specimen.ts";
import { readDate, readTime } from "../../report/device-time.ts";

// Reads the instances of one DICOM study into Reports, one per modality of the API. Pure.

export interface ImageInstance {
  readonly message: string;
  readonly receivedAt: number;
  readonly sopInstance: string;
  readonly sha256: string;
  /** A string with the reason for an unreadable header. */
  readonly header: Header | string;
  /** IANA zone of the device's clock. */
  readonly timeZone: string;
  /** Configured modality of images whose modality the API lacks. */
  readonly modality: Modality | null;
}

interface ImageReport {
  readonly report: Report;
  /** Results of structured reports. No reference intervals exist for them, so they have neither range nor flag. */
  readonly results: readonly Result[];
  /** One row per result, in the same order, with the concept's meaning. */
  readonly rows: readonly RowSnapshot[];
  /** Key of the set of instances. */
  readonly images: string;
  readonly messages: readonly string[];
  /**
   * The device's zone if all images agree on the patient and none has an identifier; else null, because a name is not
   * enough.
   */
  readonly namedIn: string | null;
}

export interface ImageReading {
  readonly reports: readonly ImageReport[];
  /** Instances without a Report, each with its reason. */
  readonly leftOut: ReadonlyMap<string, string>;
}

/** API modality by (0008,0060). */
const MODALITIES: Readonly<Record<string, Modality>> = {
  CR: "RADIOLOGY",
  DX: "RADIOLOGY",
  RF: "RADIOLOGY",
  XA: "RADIOLOGY",
  IO: "RADIOLOGY",
  PX: "RADIOLOGY",
  MG: "RADIOLOGY",
  US: "ULTRASOUND",
  IVUS: "ULTRASOUND",
  ES: "ENDOSCOPY",
};
/** Modalities of objects that describe images and are no study of their own. */
const COMPANIONS: readonly string[] = ["SR", "PR", "KO", "SC", "OT", "DOC", ""];
/** SOP classes that imply a modality if (0008,0060) does not: ultrasound, and video and still endoscopy. */
const SOP_CLASSES: Readonly<Record<string, Modality>> = {
  [ULTRASOUND_IMAGE]: "ULTRASOUND",
  [ULTRASOUND_MULTI_FRAME_IMAGE]: "ULTRASOUND",
  [VL_ENDOSCOPIC_IMAGE]: "ENDOSCOPY",
  [VIDEO_ENDOSCOPIC_IMAGE]: "ENDOSCOPY",
};

type Read = ImageInstance & { readonly header: Header };

export function readImages(study: string, instances: readonly ImageInstance[]): ImageReading {
  const leftOut = new Map<string, string>();
  const images = new Map<Modality, Read[]>();
  const companions: Read[] = [];
  for (const instance of instances) {
    const { header, message } = instance;
    if (typeof header === "string") {
      leftOut.set(message, header);
      continue;
    }
    const read = { ...instance, header };
    const modality = MODALITIES[header.modality] ?? SOP_CLASSES[header.sopClass];
    if (modality === undefined && COMPANIONS.includes(header.modality)) {
      companions.push(read);
      continue;
    }
    const named = modality ?? instance.modality;
    if (named === null) leftOut.set(message, `no modality in the API: ${header.modality}`);
    else images.set(named, [...(images.get(named) ?? []), read]);
  }
  const host = images.has("ULTRASOUND") ? "ULTRASOUND" : [...images.keys()][0]; // most measurements are ultrasound
  if (host === undefined) {
    for (const { message, header } of companions) {
      leftOut.set(message, `no image of its study has come: ${header.modality || "no modality"} alone makes no study`);
    }
  }
  const reports = [...images].map(([modality, own]) =>
    imageReport(study, modality, own, modality === host ? companions : []),
  );
  return { reports, leftOut };
}

function imageReport(
  study: string,
  modality: Modality,
  images: readonly Read[],
  companions: readonly Read[],
): ImageReport {
  const all = [...images, ...companions];
  const { header, timeZone } = images.find((image) => image.header.patientId !== "") ?? images[0]!;
  const identifiers = new Set(all.map((instance) => instance.header.patientId).filter((id) => id !== ""));
  const isUnidentified =
    identifiers.size === 0 && all.every((instance) => instance.header.otherPatientIds.length === 0);
  const times = images.map(acquired).filter((time) => time !== null);
  const received = Math.min(...images.map(({ receivedAt }) => receivedAt));
  const cutShort = new Set(all.map((instance) => instance.header.cutShort).filter((reason) => reason !== null));
  const measured = all.flatMap((instance) => instance.header.measurements);
  const { results, rows, leftOut } = imagingResults(measured);
  const notes = [
    ...(times.length === 0 ? ["the images carry no readable time: that of receipt stands for it"] : []),
    ...(identifiers.size > 1 ? [`the instances of the study name ${identifiers.size} patients`] : []),
    ...[...cutShort].map((reason) => `a header was read in part: ${reason}`),
  ];
  return {
    report: {
      device_name: deviceName(header),
      modality,
      dedupe_key: `${study} ${modality}`,
      // Images with different identifiers have none: a user has to separate two patients.
      identifier: identifiers.size === 1 ? header.patientId : null,
      otherIdentifiers: identifiers.size > 1 ? [] : [...header.otherPatientIds, header.accession].filter(Boolean),
      patient_hint: patientHint(header),
      species: speciesOf(header),
      acquired_at: times.toSorted()[0] ?? new Date(received).toISOString(),
      rows: [],
      unmapped: [],
      leftOut,
      notes,
      comments: [],
    },
    results,
    rows,
    images: digest(all.map(({ sopInstance, sha256 }) => `${sopInstance} ${sha256}`)),
    messages: all.map(({ message }) => message),
    namedIn: isUnidentified && new Set(all.map(animal)).size === 1 ? timeZone : null,
  };
}

/** Returns the patient's further data, for images without an identifier. */
function animal({ header: { patientName, species, speciesCodes, sex, birthDate } }: Read): string {
  return JSON.stringify([patientName, species, speciesCodes, sex, birthDate]);
}

const ANALYTE_LENGTH_MAX = 64;
const UNIT_LENGTH_MAX = 32;
const MEANING_LENGTH_MAX = 400;
const NO_INTERVALS = "no reference intervals for measurements in images";

/** Reads the rows of all reports of a study. If two concepts shared a code, each code would carry its concept. */
function imagingResults(measurements: readonly Measurement[]): {
  results: Result[];
  rows: RowSnapshot[];
  leftOut: string[];
} {
  const conceptsOf = new Map<string, Set<string>>();
  const coded = measurements.map((measurement) => {
    const { concept, modifiers } = measurement;
    const code = shortCode(concept, modifiers);
    if (code !== null) conceptsOf.set(code, (conceptsOf.get(code) ?? new Set()).add(conceptKey(concept)));
    return { ...measurement, code, meaning: meaningOf(concept, modifiers) };
  });
  const results: Result[] = [];
  const rows: RowSnapshot[] = [];
  const leftOut: string[] = [];
  for (const { concept, code, meaning, value, unit } of coded) {
    const number = Number(value);
    if (value === "" || !Number.isFinite(number)) {
      leftOut.push(`${meaning} has no value`);
      continue;
    }
    const isShared = code !== null && conceptsOf.get(code)!.size > 1;
    const full = isShared ? `${code} ${concept.scheme}:${concept.value}` : code;
    const analyte = full === null || full.length > ANALYTE_LENGTH_MAX ? digestCode(concept, meaning) : full;
    results.push({
      ...{ analyte, value: number, unit: unit?.slice(0, UNIT_LENGTH_MAX) ?? null },
      ...{ reference_range: null, flag: null },
    });
    rows.push({
      ...{ analyte, code: conceptKey(concept).trim() || analyte, interval_id: null, reason: NO_INTERVALS, text: value },
      ...{ device_range: null, device_species: null, device_flag: null },
      meaning: meaning.slice(0, MEANING_LENGTH_MAX),
    });
  }
  return { results, rows, leftOut };
}

/** Builds a code for a concept without a usable one: its scheme and a digest of the measurement's name. */
function digestCode({ scheme, value }: Code, meaning: string): string {
  return `${scheme.slice(0, 16) || "UNCODED"}:${digest([value, meaning]).slice(0, 12)}`;
}

function acquired({ header: { times, utcOffset }, timeZone }: Read): string | null {
  const zone = /^[+-]\d{4}$/.test(utcOffset) ? `UTC${utcOffset.slice(0, 3)}:${utcOffset.slice(3)}` : timeZone;
  return times.map((time) => readTime(time, zone)).find((time) => time !== null) ?? null;
}

function deviceName({ manufacturer, model, station }: Header): string {
  const named = model.toLowerCase().startsWith(manufacturer.toLowerCase()) ? model : `${manufacturer} ${model}`;
  return (named.trim() || station || "DICOM device").slice(0, 200);
}

function patientHint(header: Header): PatientHint {
  // Two components are owner and patient, a single one is the patient.
  const [first = "", second = ""] = header.patientName.split("^");
  const two = second.trim() !== "";
  const kilograms = Number(header.weight);
  return {
    identifier: hintText(header.patientId),
    name: hintText(two ? second : first),
    species: hintText(header.species || (header.speciesCodes[0]?.meaning ?? "")),
    breed: hintText(header.breed),
    sex: hintText([header.sex, header.neutered.toLowerCase()].filter(Boolean).join(", ")),
    owner: hintText(header.responsiblePerson.replaceAll("^", " ") || (two ? first : "")),
    date_of_birth: readDate(header.birthDate),
    weight_kg: kilograms > 0 && kilograms < 10_000 ? kilograms : null,
  };
}

/** CID 7454 by SNOMED CT and older SNOMED RT codes. */
const SPECIES_CODES: Readonly<Record<string, string>> = {
  "448771007": "dog", // Canis lupus familiaris
  "388490000": "dog", // Canis
  "L-88124": "dog",
  "448169003": "cat", // Felis catus
  "388626009": "cat", // Felis
  "L-00376": "cat",
  "36571002": "rabbit", // Oryctolagus cuniculus
  "L-86B02": "rabbit",
  "35354009": "horse", // Equus caballus
  "388445009": "horse", // Equus
  "L-8A102": "horse",
  "34618005": "cow", // Bos taurus
  "125076001": "exotic", // Cavia porcellus
  "449310008": "exotic", // Mustela putorius furo
  "447612001": "exotic", // Mus musculus
  "371565004": "exotic", // Rattus norvegicus
};
/** SNOMED CT, SNOMED RT, and RT's former names. */
const SNOMED: readonly string[] = ["SCT", "SRT", "SNM3", "99SDM"];

/**
 * Returns the species by code, else by the words of the codes, the description or the breed. Returns null for none or
 * several.
 */
function speciesOf({ speciesCodes, species, breed }: Header): string | null {
  const coded = new Set(speciesCodes.map(speciesOfCode).filter((name) => name !== null));
  if (coded.size > 0) return coded.size === 1 ? [...coded][0]! : null;
  return readSpecies(species) ?? readSpecies(breed);
}

function speciesOfCode({ value, scheme, meaning }: Code): string | null {
  return (SNOMED.includes(scheme) ? SPECIES_CODES[value] : undefined) ?? readSpecies(meaning);
}

function digest(lines: readonly string[]): string {
  return createHash("sha256").update(lines.toSorted().join("\n")).digest("hex");
}
