import { sql } from "kysely";
import { DateTime } from "luxon";
import { timestampOf } from "../../../../shared/runtime/timestamp.ts";
import type { Language } from "../../../../shared/api/language.ts";
import { isFailure, studyQualityText } from "../../../../shared/clinical/control/study-quality.ts";
import { readNeutered, readSex } from "../../../../shared/clinical/sex.ts";
import { query, type Session } from "../../../database/query.ts";
import { parseStored } from "../../../database/schema.ts";
import { findIntactStudy, type StoredStudy } from "../../studies/studies.ts";
import { toStudy } from "../../studies/study-content.ts";
import type { Coded, OruPatient, OruStudy } from "./oru.ts";
import { observationsOfStudy } from "./results.ts";
import { panelName, speciesName } from "./words.ts";

// The facts of a study as a destination gets them.

/** A study, its animal and its order, without the report. */
export interface DestinationStudy {
  readonly revision: number;
  readonly language: Language;
  readonly zone: string;
  /** The practice software that numbers the clinic's animals, if there is one. */
  readonly software: string | null;
  /** Null while the study has no animal. */
  readonly study: Omit<OruStudy, "pdf"> | null;
}

/**
 * Loads a study of a clinic.
 * @returns undefined for a missing one, a damaged one, which the log names, and one whose animal was deleted: its results are as true
 * as before, and nothing is taken back
 */
export async function loadForDestination(
  session: Session,
  clinicId: number,
  fp: string,
): Promise<DestinationStudy | undefined> {
  const stored = await findIntactStudy(session, fp);
  if (stored === undefined || isOfDeleted(stored)) return undefined;
  const settings = await session.first(settingsOf, { clinicId });
  const [language, zone] = [settings?.language ?? "en", settings?.time_zone ?? "UTC"];
  const software = (await session.first(softwareOf, { clinicId }))?.source ?? null;
  const patient =
    stored.patient_id === null ? undefined : await patientOf(session, { clinicId, software, id: stored.patient_id });
  const facts = { revision: stored.revision, language, zone, software };
  if (patient === undefined) return { ...facts, study: null };
  return { ...facts, study: await describe(session, stored, patient, facts) };
}

function isOfDeleted({ patient_id, unmatched_reason }: StoredStudy): boolean {
  const reason = patient_id === null ? parseStored(unmatched_reason) : null;
  return reason?.code === "PATIENT.DELETED";
}

async function describe(
  session: Session,
  stored: StoredStudy,
  patient: OruPatient,
  { language, zone }: { readonly language: Language; readonly zone: string },
): Promise<Omit<OruStudy, "pdf">> {
  const study = toStudy(stored);
  const source = parseStored(stored.source);
  const snapshot = parseStored(stored.snapshot);
  const order = stored.order_fp === null ? undefined : await session.first(orderOf, { fp: stored.order_fp });
  const tests = order === undefined ? [] : parseStored(order.tests);
  const ordered = order?.panel ?? (tests.length === 1 ? tests[0] : undefined);
  const name = panelName(stored.modality, language);
  const measured = { study: { ...study, acquired_at: timestampOf(stored.acquired_at) }, snapshot, language };
  return {
    fp: stored.fp,
    patient,
    placer: placerOf(order),
    panel:
      ordered === undefined
        ? { code: stored.modality, name, system: "99VW" }
        : { code: ordered, name: ordered, system: order?.source == null ? "99VW" : `99${order.source}` },
    acquiredAt: stored.acquired_at,
    comments: [...(study.comments ?? []), ...controlComments(stored, language, zone)],
    results: observationsOfStudy({ ...measured, device: source?.device_id ?? null }),
  };
}

/**
 * A comment of the order for a control that failed, one for the study: no field of HL7 has the state of a control. It is not a comment
 * of a result, because a changed one would make the result a correction of its value.
 */
function controlComments({ quality, acquired_at }: StoredStudy, language: Language, zone: string): string[] {
  const marks = parseStored(quality)?.marks.filter(isFailure) ?? [];
  const day = DateTime.fromMillis(acquired_at, { zone });
  const timeOf = (ms: number) => {
    const time = DateTime.fromMillis(ms, { zone });
    return time.toFormat(time.hasSame(day, "day") ? "HH:mm" : "yyyy-MM-dd HH:mm");
  };
  return marks.length === 0 ? [] : [studyQualityText({ marks }, timeOf, language) ?? ""];
}

/** The number in its software, with zeros as sent. A number of another system than the sender brought its namespace. */
function placerOf(
  order: { readonly placer_number: string | null; readonly source: string | null } | undefined,
): string[] {
  const { placer_number: number = null, source = null } = order ?? {};
  if (number === null) return [];
  return number.includes("^") ? number.split("^") : [number, source ?? ""];
}

async function patientOf(
  session: Session,
  { id, ...of }: { readonly clinicId: number; readonly software: string | null; readonly id: number },
): Promise<OruPatient | undefined> {
  const row = await session.first(patientById, { id });
  if (row === undefined) return undefined;
  const numbered = await session.first(numberOf, { ...of, id });
  const card = numbered === undefined ? await session.first(cardOf, { id }) : undefined;
  const species = row.precise_species ?? row.species;
  return {
    fp: row.fp,
    number: numbered?.external_id ?? card?.identifier ?? row.fp,
    authority: numbered?.source ?? null,
    family: row.owner?.trim().split(/\s+/).at(-1) ?? null,
    name: row.name,
    born: row.date_of_birth,
    sex: readSex(row.sex) ?? "U",
    neutered: readNeutered(row.sex),
    species: speciesCode(species),
  };
}

/** SNOMED CT codes of HL7 Europe's list for animals; the others have their local word alone. */
const SNOMED: Readonly<Record<string, readonly [string, string]>> = {
  dog: ["448771007", "Domestic dog"],
  cat: ["448169003", "Domestic cat"],
  horse: ["35354009", "Horse"],
  cow: ["34618005", "Domestic cow"],
};

function speciesCode(species: string): Coded {
  const local = { code: species, name: speciesName(species, "en"), system: "99VW" };
  const [code, name] = SNOMED[species] ?? [];
  return code === undefined || name === undefined ? { ...local, local: null } : { code, name, system: "SCT", local };
}

const settingsOf = query((db, p: { clinicId: number }) =>
  db.selectFrom("clinic_settings").select(["language", "time_zone"]).where("clinic_id", "=", p.clinicId),
);

/** The software that numbers most animals of a clinic. */
const softwareOf = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("patient_source")
    .select("source")
    .where("clinic_id", "=", p.clinicId)
    .groupBy("source")
    .orderBy((order) => order.fn.countAll(), "desc")
    .orderBy("source")
    .limit(1),
);

const patientById = query((db, p: { id: number }) =>
  db
    .selectFrom("patient")
    .leftJoin("customer", "customer.id", "patient.owner_customer_id")
    .select(["patient.fp", "patient.name", "patient.species", "patient.precise_species", "patient.sex"])
    .select(["patient.date_of_birth", "customer.name as owner"])
    .where("patient.id", "=", p.id),
);

/** The number of an animal in the clinic's practice software, else in another one. After a merge it is the surviving one. */
const numberOf = query((db, p: { clinicId: number; software: string | null; id: number }) =>
  db
    .selectFrom("patient_source")
    .select(["external_id", "source"])
    .where("clinic_id", "=", p.clinicId)
    .where("patient_id", "=", p.id)
    .where("removed", "=", 0)
    .where("merged_into", "is", null)
    .orderBy(sql`case when source = ${p.software} then 0 else 1 end`)
    .orderBy("source")
    .orderBy("external_id")
    .limit(1),
);

/** The first number on its card, which is not a microchip. */
const cardOf = query((db, p: { id: number }) =>
  db
    .selectFrom("patient_identifier")
    .select("identifier")
    .where("patient_id", "=", p.id)
    .where((where) => where.or([where("type", "is", null), where("type", "!=", "microchip")]))
    .orderBy("position")
    .orderBy("identifier")
    .limit(1),
);

const orderOf = query((db, p: { fp: string }) =>
  db.selectFrom("lab_order").select(["placer_number", "source", "panel", "tests"]).where("fp", "=", p.fp),
);
