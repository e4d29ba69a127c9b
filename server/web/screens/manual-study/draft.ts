import type { Modality } from "../../../../shared/api/study.ts";
import type { StudyPage } from "../../../dashboard/types/results/results.ts";
import type { ListedPatient } from "../../../dashboard/types/patients.ts";
import {
  MANUAL_DEVICE,
  type TypedAnalyte,
  type TypedRow,
  type TypedStudy,
} from "../../../dashboard/types/results/manual-study.ts";
import { isOfImages, MODALITIES } from "../../../dashboard/types/results/study-words.ts";
import { instantOf, wallTime } from "../../../dashboard/types/wall-time.ts";
import { remember, remembered } from "../../browser-storage.ts";

// The typed text of a manual study.

export interface EntryDraft {
  patient: Pick<ListedPatient, "fp"> | null;
  modality: Modality;
  /** Value of the input, in the clinic's time zone. */
  time: string;
  device: string;
  /** The rows of each kind, so that changing the kind keeps them. */
  rows: Record<Modality, TypedRow[]>;
}

/** The draft of a new study, whose animal is chosen. */
export interface Draft extends EntryDraft {
  patient: ListedPatient | null;
}

/** The values that the fields change. */
export type Change = (changed: Partial<Omit<EntryDraft, "patient">>) => void;

/** Makes the empty rows of all kinds: each analyte of the catalogue with the unit used last. */
export function emptyRows(catalogue: readonly TypedAnalyte[]): Record<Modality, TypedRow[]> {
  const rowsOf = (modality: Modality) =>
    catalogue
      .filter((analyte) => analyte.modality === modality)
      .map(({ code, units }) => ({ analyte: code, value: "", unit: rememberedUnit(code, units) }));
  return Object.fromEntries(MODALITIES.map((modality) => [modality, rowsOf(modality)])) as Draft["rows"];
}

/** A stored study as it was typed, its values first. */
export function storedDraft(
  { patient, modality, acquired_at, device_name, rows: stored }: StudyPage,
  catalogue: readonly TypedAnalyte[],
  zone: string | undefined,
): EntryDraft {
  const rows = emptyRows(catalogue);
  const typed = stored.map(({ analyte, printed, sent }) => ({
    analyte,
    value: printed ?? sent.value,
    unit: sent.unit,
  }));
  const codeOf = new Map(catalogue.map(({ code, api_code, modality: of }) => [`${of} ${api_code}`, code]));
  const byCode = new Map(typed.map((row) => [codeOf.get(`${modality} ${row.analyte}`), row]));
  rows[modality] = isOfImages(modality)
    ? typed
    : rows[modality]
        .map((row) => ({ ...row, ...byCode.get(row.analyte), analyte: row.analyte }))
        .toSorted((one, other) => Number(other.value !== "") - Number(one.value !== ""));
  const { date, time } = wallTime(Date.parse(acquired_at), zone);
  return { patient, modality, time: `${date}T${time}`, device: device_name === MANUAL_DEVICE ? "" : device_name, rows };
}

/** The study to preview; null without a patient. */
export function typedStudy(
  { patient, modality, time, device, rows }: EntryDraft,
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

/** The current time as a value of the input. */
export function timeNow(zone: string | undefined): string {
  const { date, time } = wallTime(Date.now(), zone);
  return `${date}T${time}`;
}

/** The instant of a value of the input; empty for an empty one. */
function acquiredAt(text: string, zone: string | undefined): string {
  const [date = "", time = ""] = text.split("T");
  const instant = instantOf(date, time, zone);
  return instant === null ? "" : new Date(instant).toISOString();
}

/** The rows with a value. The other rows are not stored. */
export function filledRows(rows: readonly TypedRow[]): TypedRow[] {
  return rows.filter(({ value }) => value.trim() !== "");
}

const UNITS = "manual-study-units";

/** Stores the unit of an analyte in this browser, because the devices of a clinic print the same unit each time. */
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
