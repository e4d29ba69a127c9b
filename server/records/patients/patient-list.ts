import type { Language } from "../../../shared/api/language.ts";
import { fold } from "../../../shared/clinical/species.ts";
import type { ListedPatient, PatientList, PatientSort } from "../../dashboard/types/patients.ts";
import { query, type Session } from "../../database/query.ts";
import type { Store } from "../../database/store.ts";
import { VersionedCache } from "./versioned-cache.ts";
import { identifiersOfClinic, type KnownPatient, languageOfClinic, patientsOfClinic } from "./clinic-patients.ts";
import { inOrder, lettersOf } from "./patient-order.ts";
import { rankFor, searchFor, searchText } from "./patient-search.ts";

// The list of a clinic's connected patients with search. The names stay in memory until the clinic's list changes.

const PAGE_SIZE = 50;

/** Clinics whose names stay in memory, about 5 MB each for 10,000 patients. */
const CLINICS_MAX = 20;

export interface PatientSearch {
  clinicId: number;
  /** Words of the name, of identifiers or of the owner, or a complete fp. Null lists all. */
  search: string | null;
  /** A word that the API serves, or the animal itself, such as `horse`. */
  species: string | null;
  /** Null sorts by name, after the ones that a search surely meant. */
  sort?: PatientSort | null;
  /** The first page is 1. */
  page: number;
}

/** The patient lists of all clinics. */
export class PatientLists {
  readonly #store: Store;
  readonly #known = new VersionedCache<readonly KnownPatient[]>(CLINICS_MAX);
  /** The lists that are read now, by clinic. */
  readonly #reading = new Map<number, Promise<readonly KnownPatient[]>>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Lists one page of the patients that fit: the ones that were surely meant, then by name, or as the request sorts them. */
  async find({ clinicId, search, species, sort = null, page }: PatientSearch): Promise<PatientList> {
    const fits = searchFor(search ?? "");
    const isOf = (patient: KnownPatient) =>
      species === null || patient.species === species || patient.precise_species === species;
    const language = await languageOf(this.#store, clinicId);
    const all = inOrder(await this.known(clinicId), sort ?? "name", language);
    const found = all.filter((patient) => isOf(patient) && fits(patient));
    const sorted = sort === null ? ranked(found, search ?? "") : found;
    const shown = sorted.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE);
    const lastStudies = await lastStudiesOf(this.#store, shown);
    const patients = shown.map((known): ListedPatient => {
      const { id, words: _words, folded: _folded, owner_fp: _fp, owner_phone: _phone, ...rest } = known;
      const { owner_email: _email, ...patient } = rest;
      return { ...patient, last_study_at: lastStudies.get(id) ?? null };
    });
    const isByName = sort === "name" || sort === "-name" || (sort === null && (search ?? "").trim() === "");
    const letters = isByName && sorted.length > PAGE_SIZE ? lettersOf(sorted, PAGE_SIZE, language) : [];
    return { patients, total: found.length, page_size: PAGE_SIZE, letters };
  }

  /**
   * All patients of a clinic as of the call or later. One list of a clinic is read at a time: an import changes it several times
   * a second, and the lists of many requests would fill the memory.
   */
  async known(clinicId: number): Promise<readonly KnownPatient[]> {
    const kept = this.#known.get(String(clinicId), await this.#version(clinicId));
    if (kept !== undefined) return kept;
    // A list that is read already may lack a change before this call.
    await this.#reading.get(clinicId)?.catch(() => undefined);
    return this.#reading.get(clinicId) ?? this.#read(clinicId);
  }

  #read(clinicId: number): Promise<readonly KnownPatient[]> {
    const read = this.#version(clinicId)
      .then((lists) => this.#known.find(String(clinicId), lists, () => knownPatients(this.#store, clinicId)))
      .finally(() => this.#reading.delete(clinicId));
    this.#reading.set(clinicId, read);
    return read;
  }

  async #version(clinicId: number): Promise<number> {
    await this.#store.refreshVersions();
    return (await this.#store.versions(clinicId)).lists;
  }
}

function ranked(found: readonly KnownPatient[], search: string): readonly KnownPatient[] {
  const rank = rankFor(search);
  return found
    .map((patient) => ({ patient, rank: rank(patient) }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ patient }) => patient);
}

/** Reads all patients of a clinic, by name. */
export async function knownPatients(session: Session, clinicId: number): Promise<readonly KnownPatient[]> {
  const identifiers = new Map<number, string[]>();
  for (const { patient_id, identifier } of await session.all(identifiersOfClinic, { clinicId })) {
    const own = identifiers.get(patient_id);
    if (own === undefined) identifiers.set(patient_id, [identifier]);
    else own.push(identifier);
  }
  const rows = await session.all(patientsOfClinic, { clinicId });
  const patients = rows.map((row) => {
    const { id, fp, name, species, precise_species, breed, sex, date_of_birth, deceased_at } = row;
    const { owner_customer_fp: owner_fp, owner_name, owner_phone, owner_email } = row;
    const own = identifiers.get(id) ?? [];
    const words = searchText({ ...row, identifiers: own });
    const folded = { name: fold(name), owner: fold(owner_name ?? "") };
    const animal = {
      id,
      fp,
      name,
      species,
      precise_species,
      breed,
      sex,
      date_of_birth,
      identifiers: own,
      words,
      folded,
    };
    return { ...animal, is_deceased: deceased_at !== null, owner_fp, owner_name, owner_phone, owner_email };
  });
  return patients;
}

/** Without a choice Turkish: its alphabet has the letters of the English one in the same order, and its own between them. */
async function languageOf(session: Session, clinicId: number): Promise<Language> {
  const [settings] = await session.all(languageOfClinic, { clinicId });
  return settings?.language ?? "tr";
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
