import type { FhirResource } from "fhir/r4.js";
import { isFp } from "../../shared/api/fp.ts";
import { RESULTS_MAX } from "../../shared/api/study.ts";
import {
  findOrdersNumbered,
  findWalkedOrder,
  FIRST_ORDER,
  placeOfOrder,
  walkOrders,
  type WalkedOrder,
} from "../records/walks/walked-orders.ts";
import { listInstruments } from "../records/walks/walked-instruments.ts";
import { findNumbered, FIRST_PATIENT, walkPatients } from "../records/walks/walked-patients.ts";
import {
  findWalkedStudy,
  FIRST_STUDY,
  placeOfStudy,
  type StudyKind,
  walkStudies,
  type WalkedStudy,
} from "../records/walks/walked-studies.ts";
import { factsOfOrder, factsOfPatient, factsOfStudy, findPatientFacts } from "./facts.ts";
import { ofStudy, type Reader, type StudyType } from "./reads.ts";
import { deviceResource } from "./resources/device.ts";
import type { PatientFacts, Place, StudyFacts } from "./resources/facts.ts";
import { deviceId, fpOf, resultOf } from "./resources/ids.ts";
import { patientResource } from "./resources/patient.ts";
import { serviceRequest } from "./resources/service-request.ts";
import { isWithin } from "./search/dates.ts";
import type { Position } from "./search/page-token.ts";
import type { Search } from "./search/parameters.ts";

/** A match, with what an _include of it needs. */
export interface Match {
  readonly resource: FhirResource;
  readonly patientFp: string | null;
  readonly study: StudyFacts | null;
}

interface Matches {
  readonly matches: readonly Match[];
  /** The place of the last match. Null if no page follows. */
  readonly next: Omit<Position, "cursor"> | null;
  readonly leftOut: number;
}

/** Max results that the reports of a page include. A page with more has fewer reports. */
const INCLUDED_RESULTS_MAX = 2000;
/** Max reads of studies for a page of results. Studies without results make more necessary. */
const ROUNDS_MAX = 5;

/** Finds one page of matches, the first changed first. */
export async function findMatches(reader: Reader, search: Search, place: Place): Promise<Matches> {
  switch (search.type) {
    case "Patient":
      return patients(reader, search, place);
    case "ServiceRequest":
      return orders(reader, search, place);
    case "Device":
      return devices(reader, search, place);
    case "Observation":
      return isByNumber(search) ? numberedStudies(reader, search, place) : observations(reader, search, place);
    default:
      return isByNumber(search)
        ? numberedStudies(reader, search, place)
        : studies(reader, { ...search, type: search.type }, place);
  }
}

function isByNumber({ ids, identifiers }: Search): boolean {
  return ids !== null || identifiers !== null;
}

async function patients(reader: Reader, search: Search, place: Place): Promise<Matches> {
  const { session, clinicId } = reader;
  const toMatch = (facts: PatientFacts): Match => ({
    resource: patientResource(facts, place),
    patientFp: facts.patient.fp,
    study: null,
  });
  if (isByNumber(search)) {
    const matches: Match[] = [];
    for (const fp of await numberedPatients(reader, search, place)) {
      const found = await findPatientFacts(session, clinicId, fp);
      const isFound = found?.connected === true;
      if (isFound && isWithin(Date.parse(found.facts.patient.updated_at), search.lastUpdated))
        matches.push(toMatch(found.facts));
    }
    return pageById(matches, search);
  }
  const { after, count, lastUpdated } = search;
  const key = after === null ? FIRST_PATIENT : { updatedAt: after.changedAt, fp: after.fp };
  const rows = await walkPatients(session, { clinicId, changed: lastUpdated, after: key, limit: count });
  const matches: Match[] = [];
  for (const row of rows.slice(0, count)) matches.push(toMatch(await factsOfPatient(session, clinicId, row)));
  const last = rows.length > count ? rows[count - 1] : undefined;
  const next = last && { changedAt: Date.parse(last.patient.updated_at), fp: last.patient.fp, results: 0 };
  return { matches, next: next ?? null, leftOut: 0 };
}

/** The fps that `_id` and `identifier` name. */
async function numberedPatients(
  { session, clinicId }: Reader,
  { ids, identifiers }: Search,
  place: Place,
): Promise<string[]> {
  const named: string[][] = [];
  if (ids !== null) named.push(ids.flatMap((id) => fpOf("patient", id) ?? []));
  if (identifiers !== null) {
    const fps: string[] = [];
    for (const { system, value } of identifiers) {
      if (isFp("patient", value) && isOf(system, place.systemOf("patient"))) fps.push(value);
      for (const { fp, source } of await findNumbered(session, clinicId, value)) {
        if (isOf(system, place.sourceSystem(source, "animal"))) fps.push(fp);
      }
    }
    named.push(fps);
  }
  return inAll(named);
}

async function orders({ session, clinicId }: Reader, search: Search, place: Place): Promise<Matches> {
  const { patientFp, date, lastUpdated, after, count } = search;
  const toMatch = async (row: WalkedOrder): Promise<Match> => ({
    resource: serviceRequest(await factsOfOrder(session, row), place),
    patientFp: row.patient_fp,
    study: null,
  });
  if (isByNumber(search)) {
    const rows = (await numberedOrders(session, clinicId, search, place)).filter(
      (row) =>
        (patientFp === null || row.patient_fp === patientFp) &&
        isWithin(row.ordered_at, date) &&
        isWithin(row.changed_at, lastUpdated),
    );
    return pageById(await Promise.all(rows.map(toMatch)), search);
  }
  const key = after === null ? FIRST_ORDER : await placeOfOrder(session, after.changedAt, after.fp);
  const rows = await walkOrders(session, {
    ...{ clinicId, patientFp, after: key, limit: count },
    ...{ changed: lastUpdated, ordered: date },
  });
  const matches = await Promise.all(rows.slice(0, count).map(toMatch));
  const last = rows.length > count ? rows[count - 1] : undefined;
  return { matches, next: last ? { changedAt: last.changed_at, fp: last.fp, results: 0 } : null, leftOut: 0 };
}

async function numberedOrders(
  session: Reader["session"],
  clinicId: number,
  { ids, identifiers }: Search,
  place: Place,
): Promise<WalkedOrder[]> {
  const named: string[][] = [];
  if (ids !== null) named.push(ids.flatMap((id) => fpOf("order", id) ?? []));
  if (identifiers !== null) {
    const fps: string[] = [];
    for (const { system, value } of identifiers) {
      if (isFp("order", value) && isOf(system, place.systemOf("order"))) fps.push(value);
      for (const { fp, accession, source, placer_number } of await findOrdersNumbered(session, clinicId, value)) {
        const isAccession = accession === value && isOf(system, place.systemOf("accession"));
        const isPlacer =
          placer_number === value && source !== null && isOf(system, place.sourceSystem(source, "order"));
        if (isAccession || isPlacer) fps.push(fp);
      }
    }
    named.push(fps);
  }
  const rows = await Promise.all(inAll(named).map((fp) => findWalkedOrder(session, clinicId, fp)));
  return rows.filter((row) => row !== undefined);
}

async function devices({ session, clinicId }: Reader, search: Search, place: Place): Promise<Matches> {
  const { ids, identifiers } = search;
  const system = place.systemOf("device");
  const rows = (await listInstruments(session, clinicId))
    .map((name) => ({ name, id: deviceId(name) }))
    .filter(({ id }) => ids === null || ids.includes(id))
    .filter(({ id }) => identifiers?.some((each) => each.value === id && isOf(each.system, system)) ?? true);
  const matches = rows.map(({ name }) => ({ resource: deviceResource(name, place), patientFp: null, study: null }));
  return pageById(matches, search);
}

/** A page of few matches, by their ids: one that leaves or joins them moves no other one across the border of a page. */
function pageById(matches: readonly Match[], { after, count }: Search): Matches {
  const idOfMatch = ({ resource }: Match) => resource.id ?? "";
  const rest = matches
    .filter((match) => after === null || idOfMatch(match) > after.fp)
    .toSorted((a, b) => (idOfMatch(a) < idOfMatch(b) ? -1 : 1));
  const page = rest.slice(0, count);
  const last = rest.length > count ? page.at(-1) : undefined;
  return { matches: page, next: last ? { changedAt: 0, fp: idOfMatch(last), results: 0 } : null, leftOut: 0 };
}

/** Studies, samples or results by their ids or identifiers. */
async function numberedStudies(reader: Reader, search: Search, place: Place): Promise<Matches> {
  const { session, clinicId } = reader;
  const { ids, identifiers, patientFp, date, lastUpdated } = search;
  const type = search.type as StudyType;
  const named: { readonly fp: string; readonly index: number }[][] = [];
  if (ids !== null) named.push(ids.flatMap((id) => namedById(type, id) ?? []));
  if (identifiers !== null) {
    const own = identifiers.filter(({ system }) => isOf(system, place.systemOf("study")));
    named.push(own.filter(({ value }) => isFp("cds", value)).map(({ value }) => ({ fp: value, index: 0 })));
  }
  const [first = [], ...others] = named;
  const wanted = first.filter(({ fp }) => others.every((list) => list.some((each) => each.fp === fp)));
  const matches = new Map<string, Match>();
  for (const { fp, index } of wanted) {
    const found = await findWalkedStudy(session, clinicId, fp);
    if (found === undefined || !found.connected) continue;
    const { study, changedAt } = found;
    const isMatch =
      (patientFp === null || study.patient_fp === patientFp) &&
      isWithin(Date.parse(study.acquired_at), date) &&
      isWithin(changedAt, lastUpdated);
    const match = isMatch ? matchOf(await factsOfStudy(session, clinicId, found), { type, index, place }) : null;
    if (match !== null) matches.set(`${fp} ${index}`, match);
  }
  return pageById([...matches.values()], search);
}

function namedById(type: StudyType, id: string): { readonly fp: string; readonly index: number } | null {
  if (type === "Observation") return resultOf(id);
  const fp = fpOf("cds", id);
  return fp === null ? null : { fp, index: 0 };
}

const KINDS: Readonly<Record<Exclude<StudyType, "Observation">, StudyKind>> = {
  DiagnosticReport: "any",
  Specimen: "lab",
  ImagingStudy: "imaging",
};

/** A page of resources with one for each study. */
async function studies(
  reader: Reader,
  search: Search & { readonly type: Exclude<StudyType, "Observation"> },
  place: Place,
): Promise<Matches> {
  const { session, clinicId } = reader;
  const { type, patientFp, after, count, date, lastUpdated, includes } = search;
  const found = await walkStudies(session, {
    ...{ clinicId, kind: KINDS[type], patientFp, changed: lastUpdated, acquired: date, limit: count },
    after: after === null ? FIRST_STUDY : await placeOfStudy(session, after.changedAt, after.fp),
  });
  const matches: Match[] = [];
  let results = 0;
  for (const walked of found.studies) {
    results += walked.study.results.length;
    const before = found.studies[matches.length - 1];
    if (includes.has("result") && results > INCLUDED_RESULTS_MAX && before !== undefined) {
      return { matches, next: placeAfter(before, 0), leftOut: found.leftOut };
    }
    const match = matchOf(await factsOfStudy(session, clinicId, walked), { type, index: 0, place });
    if (match !== null) matches.push(match);
  }
  return { matches, next: found.last && { ...found.last, results: 0 }, leftOut: found.leftOut };
}

/** A page of results, which may end and start within a study. */
async function observations(reader: Reader, search: Search, place: Place): Promise<Matches> {
  const { session, clinicId } = reader;
  const { patientFp, after, count, date, lastUpdated } = search;
  const matches: Match[] = [];
  let leftOut = 0;
  let last = after && { changedAt: after.changedAt, fp: after.fp, results: after.results };
  for (let round = 1; round <= ROUNDS_MAX; round += 1) {
    const page = await walkStudies(session, {
      ...{ clinicId, kind: "any", patientFp, changed: lastUpdated, acquired: date, limit: count },
      after: last === null ? FIRST_STUDY : await placeAround(reader, last),
    });
    leftOut += page.leftOut;
    for (const walked of page.studies) {
      const given = walked.study.fp === last?.fp && walked.changedAt === last.changedAt ? last.results : 0;
      const { length } = walked.study.results;
      if (given >= length) continue;
      if (matches.length === count) return { matches, next: placeAfter(walked, given), leftOut };
      const facts = await factsOfStudy(session, clinicId, walked);
      const end = Math.min(length, given + count - matches.length);
      for (let index = given; index < end; index += 1) {
        const match = matchOf(facts, { type: "Observation", index, place });
        if (match !== null) matches.push(match);
      }
      if (end < length) return { matches, next: placeAfter(walked, end), leftOut };
    }
    if (page.last === null) return { matches, next: null, leftOut };
    last = { ...page.last, results: RESULTS_MAX };
  }
  return { matches, next: last, leftOut };
}

/** The place before a study whose results are on the pages in part, or after one whose results are all on them. */
async function placeAround({ session }: Reader, { changedAt, fp, results: given }: Omit<Position, "cursor">) {
  const place = await placeOfStudy(session, changedAt, fp);
  return given >= RESULTS_MAX ? place : { ...place, studyId: Math.max(0, place.studyId - 1) };
}

function placeAfter({ changedAt, study: { fp } }: WalkedStudy, results: number): Omit<Position, "cursor"> {
  return { changedAt, fp, results };
}

function matchOf(
  facts: StudyFacts,
  { type, index, place }: { readonly type: StudyType; readonly index: number; readonly place: Place },
): Match | null {
  const resource = ofStudy(type, facts, index, place);
  return resource === undefined ? null : { resource, patientFp: facts.study.patient_fp, study: facts };
}

/** Whether a token without a system, or with this one, was meant. */
function isOf(asked: string | null, system: string): boolean {
  return asked === null || asked === system;
}

/** Returns what all lists have, each once. */
function inAll([first = [], ...others]: readonly (readonly string[])[]): string[] {
  return [...new Set(first)].filter((fp) => others.every((list) => list.includes(fp)));
}
