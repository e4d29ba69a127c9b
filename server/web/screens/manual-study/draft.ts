import type { Modality } from "../../../../shared/api/study.ts";
import type { ListedPatient } from "../../../dashboard/types/patients.ts";
import type { TypedAnalyte, TypedRow, TypedStudy } from "../../../dashboard/types/results/manual-study.ts";
import { MODALITIES } from "../../../dashboard/types/results/study-words.ts";
import { instantOf, wallTime } from "../../../dashboard/types/wall-time.ts";
import { remember, remembered } from "../../browser-storage.ts";

// The text that the user typed so far.

export interface Draft {
  patient: ListedPatient | null;
  modality: Modality;
  /** Text of the input, in the clinic's zone. */
  time: string;
  device: string;
  /** The rows of each kind, so that another choice of the kind loses nothing. */
  rows: Record<Modality, TypedRow[]>;
}

/** Makes the empty rows of all kinds: each analyte of the catalogue with the unit that the user chose last. */
export function emptyRows(catalogue: readonly TypedAnalyte[]): Record<Modality, TypedRow[]> {
  const rowsOf = (modality: Modality) =>
    catalogue
      .filter((analyte) => analyte.modality === modality)
      .map(({ code, units }) => ({ analyte: code, value: "", unit: rememberedUnit(code, units) }));
  return Object.fromEntries(MODALITIES.map((modality) => [modality, rowsOf(modality)])) as Draft["rows"];
}

/** The study that the draft asks the server about; null without an animal. */
export function typedStudy(
  { patient, modality, time, device, rows }: Draft,
  zone: string | undefined,
): TypedStudy | null {
  if (patient === null) return null;
  const device_name = device.trim();
  return {
    patient_fp: patient.fp,
    modality,
    acquired_at: acquiredAt(time, zone),
    ...(device_name !== "" && { device_name }),
    results: rows[modality],
  };
}

/** Now, as the text of the input. */
export function timeNow(zone: string | undefined): string {
  const { date, time } = wallTime(Date.now(), zone);
  return `${date}T${time}`;
}

/** The instant of such a text; empty without one. */
function acquiredAt(text: string, zone: string | undefined): string {
  const [date = "", time = ""] = text.split("T");
  const instant = instantOf(date, time, zone);
  return instant === null ? "" : new Date(instant).toISOString();
}

/** The rows with a value. The others are never stored. */
export function filledRows(rows: readonly TypedRow[]): TypedRow[] {
  return rows.filter(({ value }) => value.trim() !== "");
}

/** A new random name of an entry, so that a repeated request stores nothing. Works over plain http too. */
export function newEntryId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const UNITS = "manual-study-units";

/** Remembers the unit of an analyte in this browser: a clinic's devices always print the same one. */
export function rememberUnit(code: string, unit: string): void {
  remember(UNITS, JSON.stringify({ ...rememberedUnits(), [code]: unit }));
}

function rememberedUnit(code: string, units: readonly string[]): string | null {
  const last = rememberedUnits()[code];
  return last !== undefined && units.includes(last) ? last : (units[0] ?? null);
}

function rememberedUnits(): Record<string, string> {
  try {
    return JSON.parse(remembered(UNITS) ?? "{}") as Record<string, string>;
  } catch {
    return {};
  }
}
