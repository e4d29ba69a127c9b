import { digest } from "./digest.ts";
import { isUid } from "../dimse.ts";
import { measurementResults } from "./measurement-results.ts";
import {
  ULTRASOUND_IMAGE,
  ULTRASOUND_MULTI_FRAME_IMAGE,
  VIDEO_ENDOSCOPIC_IMAGE,
  VL_ENDOSCOPIC_IMAGE,
} from "../uids.ts";
import { readSpecies } from "../../../../shared/clinical/species.ts";
import type { Modality, PatientHint, Result, RowSnapshot } from "../../../../shared/api/study.ts";
import type { Code } from "./elements.ts";
import type { Header } from "./header.ts";
import type { Report } from "../../../report/report.ts";
import { hintText } from "../../../report/specimen.ts";
import { isImpossible, isSuspect, readDate, readTime } from "../../../report/device-time.ts";

// Reads the instances of one DICOM study into Reports, one per modality of the API. Pure.

export interface ImageInstance {
  readonly message: string;
  readonly receivedAt: number;
  readonly sopInstance: string;
  readonly sha256: string;
  /** Header, or a string with the problem of an unreadable one. */
  readonly header: Header | string;
  /** IANA zone of the device's clock. */
  readonly timeZone: string;
  /** Configured modality of images whose modality the API lacks. */
  readonly modality: Modality | null;
}

interface ImageReport {
  readonly report: Report;
  /** Results of structured reports, without range and flag, because no reference intervals exist for them. */
  readonly results: readonly Result[];
  /** Rows of the results, in the same order, with the concept's meaning. */
  readonly rows: readonly RowSnapshot[];
  /** Digest of the set of instances. */
  readonly images: string;
  readonly messages: readonly string[];
  /** Zone for a match by name: the device's if all images agree on a patient without identifier, else null. */
  readonly namedIn: string | null;
}

export interface ImageReading {
  readonly reports: readonly ImageReport[];
  /** Instances without a Report, each with its reason. */
  readonly leftOut: ReadonlyMap<string, string>;
}

/** Modality of the API by (0008,0060). */
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
/** Modalities of objects that describe images and make no study. */
const COMPANIONS: readonly string[] = ["SR", "PR", "KO", "SC", "OT", "DOC", ""];
/** SOP classes that imply a modality if (0008,0060) does not: ultrasound, and video and still endoscopy. */
const SOP_CLASSES: Readonly<Record<string, Modality>> = {
  [ULTRASOUND_IMAGE]: "ULTRASOUND",
  [ULTRASOUND_MULTI_FRAME_IMAGE]: "ULTRASOUND",
  [VL_ENDOSCOPIC_IMAGE]: "ENDOSCOPY",
  [VIDEO_ENDOSCOPIC_IMAGE]: "ENDOSCOPY",
};

type ReadInstance = ImageInstance & { readonly header: Header };

export function readImages(study: string, instances: readonly ImageInstance[]): ImageReading {
  const leftOut = new Map<string, string>();
  const images = new Map<Modality, ReadInstance[]>();
  const companions: ReadInstance[] = [];
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
  const host = images.has("ULTRASOUND") ? "ULTRASOUND" : [...images.keys()][0]; // most measurements are of ultrasound
  if (host === undefined) {
    for (const { message, header } of companions) {
      leftOut.set(message, `no image of its study received: ${header.modality || "no modality"} alone makes no study`);
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
  images: readonly ReadInstance[],
  companions: readonly ReadInstance[],
): ImageReport {
  const all = [...images, ...companions];
  const { header, timeZone } = images.find((image) => image.header.patientId !== "") ?? images[0]!;
  const identifiers = new Set(all.map((instance) => instance.header.patientId).filter((id) => id !== ""));
  const otherIds = new Set(all.flatMap(({ header: { otherPatientIds: ids, accession: number } }) => [...ids, number]));
  const isUnidentified =
    identifiers.size === 0 && all.every((instance) => instance.header.otherPatientIds.length === 0);
  const received = Math.min(...images.map(({ receivedAt }) => receivedAt));
  const times = images.map(acquired).filter((time) => time !== null);
  const possible = times.filter((time) => !isImpossible(time, received));
  const species = new Set(all.map((instance) => speciesOf(instance.header)).filter((name) => name !== null));
  const animals = Math.max(identifiers.size, species.size);
  const suspect = times.find((time) => isSuspect(time, received));
  const cutShort = new Set(all.map((instance) => instance.header.cutShort).filter((reason) => reason !== null));
  const utf8Under = new Set(all.flatMap((instance) => instance.header.utf8Under ?? []));
  const isNamed = [study, ...all.map(({ sopInstance }) => sopInstance)].every(isUid);
  const measured = all.flatMap((instance) => instance.header.measurements);
  const { results, rows, leftOut } = measurementResults(measured);
  const notes = [
    ...(times.length === 0 ? ["the images have no readable time: the time of receipt is used"] : []),
    ...(suspect === undefined ? [] : [`the modality's clock is suspect: ${suspect}`]),
    ...(times.length > 0 && possible.length === 0
      ? ["the modality's time is impossible: the time of receipt is used"]
      : []),
    ...(identifiers.size > 1 ? [`the instances of the study name ${identifiers.size} patients`] : []),
    ...(species.size > 1 ? [`the instances of the study name ${species.size} species`] : []),
    ...[...cutShort].map((reason) => `a header was read in part: ${reason}`),
    ...[...utf8Under].map(
      (charset) => `texts are UTF-8, though their header declares ${charset || "no character set"}`,
    ),
    ...(isNamed ? [] : ["UIDs that break the standard are kept and forwarded as the modality wrote them"]),
  ];
  return {
    report: {
      device_name: deviceName(header),
      modality,
      dedupe_key: `${study} ${modality}`,
      // Images of several animals get no identifier, because a user has to separate them.
      identifier: animals > 1 ? null : ([...identifiers][0] ?? null),
      otherIdentifiers: animals > 1 ? [] : [...otherIds].filter(Boolean),
      ...(animals > 1 ? { animals } : {}),
      patient_hint: patientHint(header),
      species: [...species][0] ?? null,
      acquired_at: possible.toSorted()[0] ?? new Date(received).toISOString(),
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
    namedIn: isUnidentified && new Set(all.map(patientKey)).size === 1 ? timeZone : null,
  };
}

/** Returns the patient's other data, for images without an identifier. */
function patientKey({ header: { patientName, species, speciesCodes, sex, birthDate } }: ReadInstance): string {
  return JSON.stringify([patientName, species, speciesCodes, sex, birthDate]);
}

function acquired({ header: { times, utcOffset }, timeZone }: ReadInstance): string | null {
  const zone = /^[+-]\d{4}$/.test(utcOffset) ? `UTC${utcOffset.slice(0, 3)}:${utcOffset.slice(3)}` : timeZone;
  return times.map((time) => readTime(time, zone)).find((time) => time !== null) ?? null;
}

function deviceName({ manufacturer, model, station }: Header): string {
  const named = model.toLowerCase().startsWith(manufacturer.toLowerCase()) ? model : `${manufacturer} ${model}`;
  return (named.trim() || station || "DICOM device").slice(0, 200);
}

function patientHint(header: Header): PatientHint {
  // Two components are owner and patient. A single one is the patient.
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

/** Species of CID 7454 by SNOMED CT and older SNOMED RT codes. */
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
/** Scheme designators of SNOMED CT and SNOMED RT, with the former names of RT. */
const SNOMED: readonly string[] = ["SCT", "SRT", "SNM3", "99SDM"];

/** Reads the species from codes, their meanings, the description or the breed. @returns null for none or several */
function speciesOf({ speciesCodes, species, breed }: Header): string | null {
  const coded = new Set(speciesCodes.map(speciesOfCode).filter((name) => name !== null));
  if (coded.size > 0) return coded.size === 1 ? [...coded][0]! : null;
  return readSpecies(species) ?? readSpecies(breed);
}

function speciesOfCode({ value, scheme, meaning }: Code): string | null {
  return (SNOMED.includes(scheme) ? SPECIES_CODES[value] : undefined) ?? readSpecies(meaning);
}
