import type { Comparator } from "../../api/study.ts";
import { analyteByCode } from "../analytes/analytes.ts";
import { changesWithGrowth, convertTo, deviceBiasSource } from "./not-comparable.ts";
import { type Variation, variationOf } from "./variation.ts";

// Compares two results of one animal. It refuses arithmetic where the circumstances differ, and never changes a flag.

/** Age in days from which an animal is adult here. */
const ADULT_DAYS = 365;

/** The change since an earlier result, or why the two do not compare. */
export type ResultChange = Change | { readonly code: NotComparable };

/** The device that measured a result. */
export interface Instrument {
  readonly name: string;
  /** Unique id of the connection; null for an imported or an entered study. */
  readonly id: string | null;
}

/** A result and what its value depends on. */
export interface ComparedResult {
  /** Code of the catalogue. */
  readonly analyte: string;
  readonly value: number;
  readonly unit: string | null;
  readonly comparator: Comparator | null;
  readonly device: Instrument;
  /** Id of the interval; null without one. */
  readonly interval: string | null;
  readonly ageDays: number | null;
  /** Whether the device doubts the value. */
  readonly doubt: boolean;
}

export type NotComparable = "comparator" | "unit" | "device" | "age" | "interval";

export interface Change {
  /** The difference in the unit of the new value. */
  readonly absolute: number;
  /** Percent of the earlier value; null if that is 0 or below. */
  readonly percent: number | null;
  readonly direction: "up" | "down" | "same";
  /** The published reference change value, and whether the change exceeds it; null where none applies. */
  readonly rcv: (Pick<Variation, "rcv" | "unit" | "source"> & { readonly exceeded: boolean }) | null;
}

/**
 * Whether two results come from one device. Two devices of one model have one name, and one connection may bring the results of
 * several devices, so that the name and the id count. A result without an id has the name alone.
 */
export function isSameDevice(one: Instrument, other: Instrument): boolean {
  return one.name === other.name && (one.id === null || other.id === null || one.id === other.id);
}

/** Returns the change from an earlier result of the same substance, or the first reason why there is none. */
export function compareResults(before: ComparedResult, now: ComparedResult, species: string): ResultChange {
  if (before.comparator !== null || now.comparator !== null) return { code: "comparator" };
  const isSame = before.analyte === now.analyte;
  const earlier = isSame && before.unit === now.unit ? before.value : inUnit(now.analyte, now.unit, before);
  if (earlier === null) return { code: "unit" };
  if (!isSameDevice(before.device, now.device)) return { code: "device" };
  if (isYoung(before) !== isYoung(now) && changesWithGrowth(now.analyte)) return { code: "age" };
  const hasIntervals = isSame && before.interval !== null && now.interval !== null;
  if (hasIntervals && before.interval !== now.interval) return { code: "interval" };
  const absolute = now.value - earlier;
  const percent = earlier > 0 ? (absolute / earlier) * 100 : null;
  const direction = absolute > 0 ? "up" : absolute < 0 ? "down" : "same";
  return { absolute, percent, direction, rcv: rcvOf({ absolute, percent }, before, now, species) };
}

/** The difference in the unit of the second value; `source` says who found that two devices differ in the analyte. */
export type DeviceDifference =
  | { readonly absolute: number }
  | { readonly code: NotComparable; readonly source?: string };

/** Returns the difference between two devices' results of one substance, where no publication refuses it. */
export function differenceOf(one: ComparedResult, other: ComparedResult): DeviceDifference {
  if (one.comparator !== null || other.comparator !== null) return { code: "comparator" };
  const first = inUnit(other.analyte, other.unit, one);
  if (first === null) return { code: "unit" };
  const source = deviceBiasSource(other.analyte);
  return source === undefined ? { absolute: other.value - first } : { code: "device", source };
}

function isYoung({ ageDays }: ComparedResult): boolean {
  return ageDays !== null && ageDays < ADULT_DAYS;
}

// A published value is used as long as the clinic's controls give no variation of its own device.
function rcvOf(
  { absolute, percent }: Pick<Change, "absolute" | "percent">,
  before: ComparedResult,
  now: ComparedResult,
  species: string,
): Change["rcv"] {
  const row = variationOf(species, now.analyte);
  const isAdult = [before, now].every(({ ageDays }) => ageDays !== null && ageDays >= ADULT_DAYS);
  if (row === undefined || !isAdult || before.doubt || now.doubt) return null;
  const { rcv, unit, source } = row;
  const size = unit === "%" ? percent : inUnit(now.analyte, unit, { ...now, value: absolute });
  return size === null ? null : { rcv, unit, source, exceeded: Math.abs(size) > rcv };
}

/** Converts a value; null without a unit or a factor. */
function inUnit(
  code: string,
  unit: string | null,
  from: Pick<ComparedResult, "analyte" | "value" | "unit">,
): number | null {
  const analyte = analyteByCode(code);
  return analyte === undefined ? null : convertTo(analyte, unit, from);
}
