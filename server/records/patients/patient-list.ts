import { withoutAccents } from "../../../shared/clinical/species.ts";
import type { ListedPatient, PatientList } from "../../dashboard/types/patients.ts";
import { query, type Session } from "../../database/query.ts";
import type { Store } from "../../database/store.ts";
import { VersionedCache } from "./versioned-cache.ts";
import { identifiersOfClinic, patientsOfClinic } from "./clinic-patients.ts";

// The list of a clinic's connected patients with search. The search ignores case and accents, which no SQL of both engines
// does, so the names stay in memory until the clinic's list changes.

const PAGE_SIZE = 50;

/** Clinics whose names stay in memory, about 5 MB each for 10,000 patients. */
const CLINICS_MAX = 20;

export interface PatientSearch {
  clinicId: number;
  /** Words of the name or of identifiers, or a complete fp. Null lists all. */
  search: string | null;
  species: string | null;
  /** The first page is 1. */
  page: number;
}

type KnownPatient = Omit<ListedPatient, "last_study_at"> & {
  id: number;
  /** Name and identifiers, without case and accents. */
  words: string;
};

/** The patient lists of all clinics. */
export class PatientLists {
  readonly #store: Store;
  readonly #known = new VersionedCache<readonly KnownPatient[]>(CLINICS_MAX);

  constructor(store: Store) {
    this.#store = store;
  }

  /** Lists one page of the patients that fit, by name. */
  async find({ clinicId, search, species, page }: PatientSearch): Promise<PatientList> {
    await this.#store.refreshVersions();
    const { lists } = await this.#store.versions(clinicId);
    const known = await this.#known.find(String(clinicId), lists, () => knownPatients(this.#store, clinicId));
    const fits = searchFor(search ?? "");
    const found = known.filter((patient) => (species === null || patient.species === species) && fits(patient));
    const shown = found.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE);
    const lastStudies = await lastStudiesOf(this.#store, shown);
    const patients = shown.map(({ id, words: _words, ...patient }): ListedPatient => {
      return { ...patient, last_study_at: lastStudies.get(id) ?? null };
    });
    return { patients, total: found.length, page_size: PAGE_SIZE };
  }
}

/** Bounds of a search, which reads each patient of the clinic for each word. */
const SEARCH_CHARS_MAX = 200;
const SEARCH_WORDS_MAX = 10;

/** Makes the test of a search: each word is in the name or in an identifier, or the text is the fp. No word fits all. */
function searchFor(search: string): (patient: KnownPatient) => boolean {
  const fp = search.trim().toLowerCase();
  const words = withoutAccents(search.slice(0, SEARCH_CHARS_MAX))
    .split(/\s+/)
    .filter(Boolean)
    .slice(0, SEARCH_WORDS_MAX);
  return (patient) => words.every((word) => patient.words.includes(word)) || patient.fp.toLowerCase() === fp;
}

async function knownPatients(session: Session, clinicId: number): Promise<readonly KnownPatient[]> {
  const identifiers = new Map<number, string[]>();
  for (const { patient_id, identifier } of await session.all(identifiersOfClinic, { clinicId })) {
    const own = identifiers.get(patient_id);
    if (own === undefined) identifiers.set(patient_id, [identifier]);
    else own.push(identifier);
  }
  const rows = await session.all(patientsOfClinic, { clinicId });
  const patients = rows.map((row) => {
    const { id, fp, name, species, breed, sex, date_of_birth } = row;
    const own = identifiers.get(id) ?? [];
    const words = withoutAccents([name, ...own].join(" "));
    return { id, fp, name, species, breed, sex, date_of_birth, identifiers: own, words };
  });
  return patients.toSorted((a, b) => compare(a.words, b.words) || compare(a.fp, b.fp));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

async function lastStudiesOf(session: Session, patients: readonly { id: number }[]): Promise<Map<number, string>> {
  if (patients.length === 0) return new Map();
  // The query takes a full page.
  const ids = Array.from({ length: PAGE_SIZE }, (_, index) => ({ id: patients[index]?.id ?? 0 }));
  const rows = await session.all(lastStudies, ids);
  return new Map(rows.map(({ id, last_at }) => [id ?? 0, new Date(last_at).toISOString()]));
}

const lastStudies = query((db, p: { id: number }[]) => {
  const ids = Array.from({ length: PAGE_SIZE }, (_, index) => (p[index] as { id: number }).id);
  return db
    .selectFrom("study")
    .select(["patient_id as id"])
    .select(({ fn }) => fn.max("acquired_at").as("last_at"))
    .where("patient_id", "in", ids)
    .groupBy("patient_id");
});
