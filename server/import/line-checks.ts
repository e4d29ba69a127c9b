import { IANAZone } from "luxon";
import { compileLater } from "../../shared/schema/compile-later.ts";
import { textProblems, problems, shown } from "../../shared/schema/problems.ts";
import { isRealDate, isRealInstant, timestampProblem } from "../../shared/schema/timestamp.ts";
import { studyProblems } from "../../shared/clinical/study-checks.ts";
import { animalFaults } from "../records/registry/animal-checks.ts";
import { signedAtProblem } from "../records/soap/soap-rules.ts";
import {
  CalendarEventLine,
  ClinicLine,
  ConnectionLine,
  CustomerLine,
  CustomerSourceLine,
  type Entity,
  EventSourceLine,
  InventoryBatchLine,
  InventoryItemLine,
  PatientLine,
  PatientSourceLine,
  SoapLine,
  StockMovementLine,
  StudyLine,
  UserLine,
} from "./lines.ts";

// Checks one line of an import file.

const checks = {
  clinic: compileLater(ClinicLine),
  user: compileLater(UserLine),
  customer: compileLater(CustomerLine),
  patient: compileLater(PatientLine),
  patient_source: compileLater(PatientSourceLine),
  customer_source: compileLater(CustomerSourceLine),
  event_source: compileLater(EventSourceLine),
  connection: compileLater(ConnectionLine),
  study: compileLater(StudyLine),
  soap: compileLater(SoapLine),
  calendar_event: compileLater(CalendarEventLine),
  inventory_item: compileLater(InventoryItemLine),
  inventory_batch: compileLater(InventoryBatchLine),
  stock_movement: compileLater(StockMovementLine),
};

/** @throws if the line is not JSON in UTF-8 */
export function parseLine(bytes: Buffer): unknown {
  return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
}

/** @returns all problems of a line */
export function lineProblems(bytes: Buffer, now: number): string[] {
  let value: unknown;
  try {
    value = parseLine(bytes);
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
  return check.Check(value) ? [...unrealValues(value, now), ...faultyTexts(value)] : problems(check, value);
}

/** Columns hold the texts, except those of the results and origins of a study: they are stored as JSON. */
function faultyTexts(entity: Entity): string[] {
  if (entity.type !== "study") return textProblems(entity);
  const { device_name, ...others } = entity;
  return [...textProblems({ device_name }), ...textProblems(others, { asJson: true })];
}

// Finds well-formed values that are invalid (30 February, unknown time zone) or contradict each other.
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

  const expectWords = (field: string, text: string) => expect(field, text, (words) => words.trim() !== "", "a name");

  switch (entity.type) {
    case "clinic":
    case "user":
    case "inventory_item":
      expectWords("name", entity.name);
      break;
    case "customer": {
      expect("locale/time_zone", entity.locale?.time_zone, isTimeZone, "an IANA time zone such as Europe/Istanbul");
      break;
    }
    case "patient":
      unreal.push(...animalFaults(entity, now).map(({ message }) => message));
      expectPast("created_at", entity.created_at);
      expectPast("updated_at", entity.updated_at);
      expectPast("deceased_at", entity.deceased_at);
      expectPast("deleted_at", entity.deleted_at);
      if (entity.merged_into && !entity.deleted_at) unreal.push("merged_into of a patient that is not deleted");
      if (entity.external_ids && entity.identifiers) unreal.push("external_ids and identifiers, expected one of them");
      break;
    case "patient_source":
    case "customer_source":
    case "event_source":
      expectPast("updated_at", entity.updated_at);
      break;
    case "study":
      unreal.push(...studyProblems(entity, now));
      break;
    case "soap": {
      expectPast("signed_at", entity.signed_at);
      expectPast("created_at", entity.created_at);
      const problem = signedAtProblem(entity);
      if (problem !== null) unreal.push(problem);
      break;
    }
    case "calendar_event": {
      const { start_at, end_at } = entity;
      expectWords("title", entity.title);
      expectTime("start_at", start_at);
      expectTime("end_at", end_at);
      // Both times have the same form, so that text order is time order.
      expect("end_at", end_at, (end) => end >= start_at, `a time not before start_at ${start_at}`);
      unreal.push(...eventFaults(entity));
      break;
    }
    case "inventory_batch":
      expectTime("received_at", entity.received_at);
      expectDay("expiry_date", entity.expiry_date);
      break;
    case "stock_movement":
      expectPast("at", entity.at);
      break;
    case "connection":
      break;
  }
  return unreal;
}

function eventFaults({ cancelled_from, status }: CalendarEventLine): string[] {
  return cancelled_from === undefined || status === "CANCELLED"
    ? []
    : ["cancelled_from of an event that is not cancelled"];
}

const timeZones = new Set<string>();

// Caches valid zones, because each lookup in Intl takes native memory that is freed late.
function isTimeZone(text: string): boolean {
  if (timeZones.has(text)) return true;
  const isValid = IANAZone.isValidZone(text);
  if (isValid) timeZones.add(text);
  return isValid;
}
