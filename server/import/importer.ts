import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { IANAZone } from "luxon";
import { Compile } from "typebox/compile";
import { isRealDate, isRealInstant, timestampProblem } from "../../shared/api/timestamp.ts";
import { nulProblems, problems, shown } from "../../shared/api/problems.ts";
import { PATIENT_SEXES, patientSex } from "../../shared/clinical/sex.ts";
import { API_SPECIES, apiSpecies } from "../../shared/clinical/species.ts";
import { studyProblems } from "../../shared/clinical/study-checks.ts";
import { whyNotSignedAt } from "../domain/soap.ts";
import {
  CalendarEventLine,
  ClinicLine,
  ConnectionLine,
  CustomerLine,
  type Entity,
  InventoryBatchLine,
  InventoryItemLine,
  PatientLine,
  SoapLine,
  StudyLine,
  UserLine,
} from "./lines.ts";
import { type Change, checkAmendment, type Import, stampPatients, storeEntity } from "./entities.ts";
import { servedClinics } from "../store/keys.ts";
import type { Session } from "../store/query.ts";
import { listSharedNumbers, type SharedNumber } from "../store/shared-numbers.ts";
import type { Store } from "../store/types.ts";

// Imports a file of one JSON object a line, all or nothing. The file is read once to check it, then once for each
// stage below: so lines may stand in any order, nothing is kept in memory, and a fault in the file holds up no other writer.

/** How far an import is: of all the bytes it will read. */
export type Progress = (bytesRead: number, bytesTotal: number) => void;

export interface ImportResult {
  new: number;
  changed: number;
  unchanged: number;
  /** Warnings about stored data; absent if there are none. */
  warnings?: { shown: readonly string[]; total: number };
}

/** The file was refused and nothing of it stored; the problems are in the order of its lines, the first ones of them. */
export class ImportError extends Error {
  readonly problems: readonly LineProblem[];
  readonly total: number;

  constructor(list: LineProblem[], total: number) {
    super(`${total} problems, nothing was imported`);
    this.problems = list;
    this.total = total;
  }
}

export interface LineProblem {
  line: number;
  problem: string;
}

const PROBLEMS_SHOWN_MAX = 100;
const WARNINGS_SHOWN_MAX = 100;

/** Step of a stage for a line of one type. A null result is not counted. */
type Step = (session: Session, entity: Entity, current: Import) => Promise<Change | { problem: string } | null>;

// A line refers to entities of earlier stages.
const stages: readonly Partial<Record<Entity["type"], Step>>[] = [
  { clinic: storeEntity, customer: storeEntity },
  { user: storeEntity, patient: storeEntity },
  {
    connection: storeEntity,
    study: storeEntity,
    soap: storeEntity,
    calendar_event: storeEntity,
    inventory_item: storeEntity,
  },
  // A record may stand before the one that it amends: what it says of it is checked when both are stored.
  { inventory_batch: storeEntity, soap: checkAmendment },
];

/**
 * Imports an NDJSON file in one transaction. `recordOwnerId` names the clinic whose SOAP records the file may give to another clinic.
 * Rejects with an ImportError that lists what is wrong with the file.
 */
export async function importFile(
  store: Store,
  path: string,
  progress: Progress,
  now: () => number = Date.now,
  recordOwnerId: number | null = null,
): Promise<ImportResult> {
  const { size } = await stat(path);
  const bytesTotal = size * (1 + stages.length);
  const faultsOfLines = new Faults();
  const clock = now();

  for await (const { number, bytes, bytesRead } of lines(path)) {
    faultsOfLines.add(number, bytes === null ? [tooLong] : faultsOf(bytes, clock));
    progress(bytesRead, bytesTotal);
  }
  faultsOfLines.throwIfAny();

  return store.transaction(async (session) => {
    const faults = new Faults();
    const result: ImportResult = { new: 0, changed: 0, unchanged: 0 };
    const current: Import = {
      now: clock,
      served: await servedClinics(session),
      newPatients: new Set(),
      stamped: new Set(),
      recordOwnerId,
    };
    let numbersMayMeet = false;
    for (const [index, steps] of stages.entries()) {
      const sideBySide = new SideBySide();
      try {
        for await (const { number, bytes, bytesRead } of lines(path)) {
          progress(size * (index + 1) + bytesRead, bytesTotal);
          // Checked above; should the file have changed since, what does not fit fails here and nothing is stored.
          const entity = parse(bytes ?? Buffer.alloc(0)) as Entity;
          const step = steps[entity.type];
          if (step === undefined) continue;
          await sideBySide.run(subjectOf(entity), async () => {
            const change = await step(session, entity, current);
            if (change === null) return;
            if (typeof change === "object") faults.add(number, [change.problem]);
            else {
              result[change] += 1;
              if (change !== "unchanged" && hasNumbers(entity)) numbersMayMeet = true;
            }
          });
        }
      } finally {
        await sideBySide.finish();
      }
    }
    faults.throwIfAny();
    await stampPatients(session, current, now());
    const numbers = numbersMayMeet ? await listSharedNumbers(session, WARNINGS_SHOWN_MAX) : { shared: [], total: 0 };
    if (numbers.total === 0) return result;
    return { ...result, warnings: { shown: numbers.shared.map(sharedNumber), total: numbers.total } };
  });
}

/** Whether a line decides which patients of a clinic a card number names. */
function hasNumbers({ type }: Entity): boolean {
  return type === "patient" || type === "connection";
}

function sharedNumber({ clinic_fp, identifier, patients, first_fp, last_fp }: SharedNumber): string {
  const names = patients > 2 ? `${first_fp}, ${last_fp} and ${patients - 2} more` : `${first_fp} and ${last_fp}`;
  return `external_id ${shown(identifier)} names ${patients} patients of ${clinic_fp}, ${names}: a result with it stays unmatched`;
}

/** @returns the record that a line writes. Beside it, a line may create a missing customer */
function subjectOf(entity: Entity): string {
  switch (entity.type) {
    case "connection":
      return entity.patient_fp;
    case "inventory_batch":
      return entity.item_fp;
    default:
      return entity.fp;
  }
}

const LINES_AT_ONCE = 64;

/** Stores lines together where each has a subject of its own: a database across a network is waited for once for many. */
class SideBySide {
  #underWay = new Map<string, Promise<void>>();
  #failure: { error: unknown } | null = null;

  async run(subject: string, work: () => Promise<void>): Promise<void> {
    if (this.#underWay.size === LINES_AT_ONCE || this.#underWay.has(subject)) await this.finish();
    this.#underWay.set(
      subject,
      work().catch((error: unknown) => {
        this.#failure ??= { error };
      }),
    );
  }

  /** Waits for all, also when one fails: nobody may ask anything of a transaction that is over. */
  async finish(): Promise<void> {
    await Promise.all(this.#underWay.values());
    this.#underWay.clear();
    if (this.#failure !== null) throw this.#failure.error;
  }
}

class Faults {
  readonly #list: LineProblem[] = [];
  #total = 0;

  add(line: number, found: readonly string[]): void {
    this.#total += found.length;
    const room = PROBLEMS_SHOWN_MAX - this.#list.length;
    this.#list.push(...found.slice(0, Math.max(0, room)).map((problem) => ({ line, problem })));
  }

  throwIfAny(): void {
    if (this.#total === 0) return;
    throw new ImportError(
      this.#list.toSorted((a, b) => a.line - b.line),
      this.#total,
    );
  }
}

const checks = {
  clinic: Compile(ClinicLine),
  user: Compile(UserLine),
  customer: Compile(CustomerLine),
  patient: Compile(PatientLine),
  connection: Compile(ConnectionLine),
  study: Compile(StudyLine),
  soap: Compile(SoapLine),
  calendar_event: Compile(CalendarEventLine),
  inventory_item: Compile(InventoryItemLine),
  inventory_batch: Compile(InventoryBatchLine),
};

function parse(bytes: Buffer): unknown {
  return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
}

function faultsOf(bytes: Buffer, now: number): string[] {
  let value: unknown;
  try {
    value = parse(bytes);
  } catch (error) {
    return [`not JSON in UTF-8: ${(error as Error).message}`];
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return [`the line is ${shown(value)}, expected an object`];
  }
  const type = (value as { type?: unknown }).type;
  if (typeof type !== "string" || !Object.hasOwn(checks, type)) {
    return [`type is ${shown(type)}, expected one of ${Object.keys(checks).join(", ")}`];
  }
  const check = checks[type as Entity["type"]];
  return check.Check(value) ? [...unrealValues(value, now), ...nulProblems(value)] : problems(check, value);
}

/** The heaviest bulls and draught horses. A weight above it is in grams, or a slip of the finger. */
const WEIGHT_KG_MAX = 1500;
const BORN_FROM = "1950-01-01";
/** In the zone farthest east it is already the next day. */
const EAST_MS = 14 * 3_600_000;

// Finds values of the right form that name nothing (30 February, an unknown time zone) or contradict each other.
function unrealValues(entity: Entity, now: number): string[] {
  const unreal: string[] = [];
  const expect = (field: string, value: string | null | undefined, real: (text: string) => boolean, what: string) => {
    if (value !== null && value !== undefined && !real(value)) {
      unreal.push(`${field} is ${shown(value)}, expected ${what}`);
    }
  };
  const expectTime = (field: string, value: string | null | undefined) =>
    expect(field, value, isRealInstant, "a time that exists");
  const expectPast = (field: string, value: string | null | undefined) => {
    const expected = value === null || value === undefined ? null : timestampProblem(value, now);
    if (expected !== null) unreal.push(`${field} is ${shown(value)}, expected ${expected}`);
  };
  const expectDay = (field: string, value: string | null) => expect(field, value, isRealDate, "a day that exists");

  switch (entity.type) {
    case "customer": {
      const { time_zone } = entity.locale;
      expect("locale/time_zone", time_zone, isTimeZone, "an IANA time zone such as Europe/Istanbul");
      break;
    }
    case "patient":
      unreal.push(...unrealPatient(entity, now));
      expectPast("created_at", entity.created_at);
      expectPast("updated_at", entity.updated_at);
      expectPast("deleted_at", entity.deleted_at);
      break;
    case "study":
      unreal.push(...studyProblems(entity, now));
      break;
    case "soap": {
      expectPast("signed_at", entity.signed_at);
      expectPast("created_at", entity.created_at);
      const problem = whyNotSignedAt(entity);
      if (problem !== null) unreal.push(problem);
      break;
    }
    case "calendar_event": {
      const { start_at, end_at } = entity;
      expectTime("start_at", start_at);
      expectTime("end_at", end_at);
      // Both have the same form, so the order of the texts is that of the times.
      expect("end_at", end_at, (end) => end >= start_at, `a time not before start_at ${start_at}`);
      break;
    }
    case "inventory_batch":
      expectTime("received_at", entity.received_at);
      expectDay("expiry_date", entity.expiry_date);
      break;
    case "clinic":
    case "user":
    case "connection":
    case "inventory_item":
      break;
  }
  return unreal;
}

function unrealPatient({ species, sex, date_of_birth, weight_kg, deleted_at }: PatientLine, now: number): string[] {
  const unreal: string[] = [];
  if (apiSpecies(species) === null) {
    unreal.push(`species is ${shown(species)}, expected a word for one of ${API_SPECIES.join(", ")}`);
  }
  if (sex !== null && patientSex(sex) === null) {
    unreal.push(`sex is ${shown(sex)}, expected a word for one of ${PATIENT_SEXES.join(", ")}, or null`);
  }
  if (weight_kg !== null && !(weight_kg > 0 && weight_kg <= WEIGHT_KG_MAX)) {
    unreal.push(`weight_kg is ${weight_kg}, expected more than 0 and at most ${WEIGHT_KG_MAX}, or null`);
  }
  if (date_of_birth !== null) {
    const end = deleted_at && isRealInstant(deleted_at) ? Date.parse(deleted_at) : now;
    const last = new Date(end + EAST_MS).toISOString().slice(0, 10);
    if (!isRealDate(date_of_birth)) {
      unreal.push(`date_of_birth is ${shown(date_of_birth)}, expected a day that exists`);
    } else if (date_of_birth < BORN_FROM || date_of_birth > last) {
      unreal.push(`date_of_birth is ${shown(date_of_birth)}, expected a day from ${BORN_FROM} to ${last}`);
    }
  }
  return unreal;
}

const timeZones = new Set<string>();

// Each question of Intl takes memory that is no garbage of JavaScript's, and is freed late: a zone is asked for once.
function isTimeZone(text: string): boolean {
  if (timeZones.has(text)) return true;
  const isValid = IANAZone.isValidZone(text);
  if (isValid) timeZones.add(text);
  return isValid;
}

/** Far above the longest line that makes sense; a file without line ends must not fill the memory. */
const LINE_BYTES_MAX = 5 * 1024 * 1024;
const tooLong = `longer than ${LINE_BYTES_MAX} bytes, expected one JSON object a line`;

interface Line {
  number: number;
  /** Null when the line is too long to be read. */
  bytes: Buffer | null;
  bytesRead: number;
}

/** The lines that are not blank. */
async function* lines(path: string): AsyncGenerator<Line> {
  let number = 0;
  let bytesRead = 0;
  let parts: Buffer[] = [];
  let length = 0;

  function keep(part: Buffer): void {
    length += part.length;
    bytesRead += part.length;
    if (length <= LINE_BYTES_MAX) parts.push(part);
  }

  function* finish(): Generator<Line> {
    number += 1;
    const bytes = length > LINE_BYTES_MAX ? null : Buffer.concat(parts);
    parts = [];
    length = 0;
    if (bytes === null || !isBlank(bytes)) yield { number, bytes, bytesRead };
  }

  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      keep(chunk.subarray(start, end));
      bytesRead += 1;
      start = end + 1;
      yield* finish();
    }
    keep(chunk.subarray(start));
  }
  yield* finish();
}

const LF = 0x0a;

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}
