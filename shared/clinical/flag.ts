import type { Analyte } from "./analytes/analytes.ts";
import { type Caveat, caveatsOf, exclusion } from "./caveats.ts";
import { type AcceptedLimit, crossedLimit, exceptionOf } from "./critical-limits.ts";
import { chooseInterval, type Interval, needsSubgroup, ordinalNormal } from "./reference.ts";
import { type ReasonOf, reasonOf } from "../api/reason.ts";
import type { Comparator, Flag } from "../api/study.ts";
import type { Signalment } from "./signalment.ts";
import { hasBreeds } from "./species.ts";
import { convert, factorOf } from "./analytes/units.ts";

// The flag of a result, and the range that decides it.

export interface Bounds {
  readonly low: number | null;
  readonly high: number | null;
  readonly critical_low: number | null;
  readonly critical_high: number | null;
}

/** The range that a device sent with a result, in the unit of the result, and its species in the device's words. */
export interface DeviceRange {
  readonly low: number | null;
  readonly high: number | null;
  readonly text: string;
  readonly species: string | null;
}

/**
 * Why a result has no range or no flag; BREED.REMARK names the caveat that a reader should know, LIMIT.EXCEPTED the exception that
 * kept an accepted critical limit from deciding.
 */
export type FlagCode =
  | "VALUE.WORDS"
  | "VALUE.DOUBTFUL"
  | "VALUE.NOT_AN_ORDINAL"
  | "VALUE.NOT_A_NUMBER"
  | "VALUE.BOUND"
  | "PATIENT.NONE"
  | "UNIT.UNKNOWN"
  | "CODE.UNKNOWN"
  | "INTERVAL.NONE"
  | "INTERVAL.NOT_FOR_BREED"
  | "INTERVAL.NOT_FOR_AGE"
  | "INTERVAL.NOT_FOR_IMAGES"
  | "BREED.REMARK"
  | "LIMIT.EXCEPTED";

/** `reason` explains a range or a flag that is null, or is a remark about the breed. `interval_id` is the id of a row, or "device". */
export interface Assessment {
  readonly reference_range: string | null;
  readonly flag: Flag | null;
  readonly interval_id: string | null;
  readonly reason: ReasonOf<FlagCode> | null;
  /** The limit that made the value critical, if the clinic accepted it. */
  readonly limit_id?: string;
}

export interface ClinicChoices {
  /** Returns the clinic's own interval, or null. It takes precedence over the device's and the catalogue's. */
  readonly interval?: (analyte: Analyte, signalment: Signalment, device: string | null) => Interval | null;
  /** Whether published intervals of quality C and D apply. */
  readonly includeLowQuality?: boolean;
  /** The critical limits that it accepted. */
  readonly limits?: readonly AcceptedLimit[];
}

/** The `interval_id` of the device's own range. */
const DEVICE = "device";

/** Relative tolerance, so that an equal bound and value stay equal after a conversion by the same factor. */
const EPSILON = 1e-9;

/**
 * Flags a value by bounds in the same unit. A bound is normal; critical is strictly beyond a critical bound. If the device
 * printed only a bound of the value, the flag holds for every value that the bound allows, otherwise it is null.
 */
export function flag(value: number, comparator: Comparator | null, bounds: Bounds): Flag | null {
  const { low, high, critical_low, critical_high } = bounds;
  if (!Number.isFinite(value) || (low === null && high === null)) return null;
  if (comparator === "<" || comparator === "<=") {
    const isUnder = comparator === "<" ? isAtMost : isBelow;
    if (critical_low !== null && isUnder(value, critical_low)) return "critical";
    // A concentration under 0 does not exist: `<0.2` of 0-1.5 is normal. A base excess may be far under its low.
    if (low !== null && low !== 0 && isUnder(value, low)) return "low";
    return low === 0 && high !== null && value > 0 && isAtMost(value, high) ? "normal" : null;
  }
  if (comparator === ">" || comparator === ">=") {
    const isOver = (bound: number) => (comparator === ">" ? isAtMost(bound, value) : isBelow(bound, value));
    if (critical_high !== null && isOver(critical_high)) return "critical";
    return high !== null && isOver(high) ? "high" : null;
  }
  if (critical_low !== null && isBelow(value, critical_low)) return "critical";
  if (critical_high !== null && isBelow(critical_high, value)) return "critical";
  if (low !== null && isBelow(value, low)) return "low";
  if (high !== null && isBelow(high, value)) return "high";
  return "normal";
}

function isBelow(one: number, other: number): boolean {
  return one < other - EPSILON * Math.max(Math.abs(one), Math.abs(other));
}

function isAtMost(one: number, other: number): boolean {
  return !isBelow(other, one);
}

/**
 * Returns the range and the flag of one result. The clinic's own interval decides, then the device's range for the patient's
 * species, then the catalogue's interval. Without any of them both are null. For some breeds and ages only the clinic's own
 * interval and one of the breed apply.
 */
export function assess(
  result: {
    analyte: Analyte;
    /** Null for a value in words. */
    value: number | null;
    comparator: Comparator | null;
    ordinal: boolean;
    unit: string | null;
    device_range: DeviceRange | null;
    device_flag: string | null;
    comment?: string | null;
  },
  signalment: Signalment | null,
  device: string | null,
  clinic: ClinicChoices = {},
): Assessment {
  const { analyte, value, comparator, unit } = result;
  if (value === null) return none("VALUE.WORDS");
  if (signalment === null) return none("PATIENT.NONE");
  if (result.comment != null) return none("VALUE.DOUBTFUL");
  if (result.ordinal !== (analyte.value_type === "ordinal")) {
    // A rank of a pad has no place in a range of concentrations, nor a concentration in a range of ranks.
    return none(result.ordinal ? "VALUE.NOT_A_NUMBER" : "VALUE.NOT_AN_ORDINAL", analyte.code);
  }
  if (!result.ordinal && (unit === null || factorOf(analyte, unit) === null)) return none("UNIT.UNKNOWN");
  const caveats = caveatsOf(analyte, signalment);
  const range = result.ordinal ? padRange(analyte, signalment) : rangeOf(result, signalment, device, clinic, caveats);
  const assessment = range === null ? without(analyte, signalment, caveats) : within(result, range, value, caveats);
  if (result.ordinal || unit === null) return assessment;
  const own = range?.isClinics === true ? range.bounds : null;
  const limited = { analyte, unit, device_flag: result.device_flag };
  const limit = crossedLimit(clinic.limits ?? [], limited, signalment, (side, bound) => {
    // The critical bound of the clinic's own interval is its closer decision.
    if (own?.[`critical_${side}`] != null) return false;
    const bounds = { ...NO_BOUNDS, low: bound, high: bound, [`critical_${side}`]: bound };
    return flag(value, comparator, bounds) === "critical";
  });
  if (limit === null) return assessment;
  const exception = exceptionOf(limited, signalment);
  if (exception !== null) {
    if (assessment.flag === "critical") return assessment;
    return { ...assessment, reason: assessment.reason ?? reasonOf("LIMIT.EXCEPTED", exception.id) };
  }
  const isBound = assessment.reason?.code === "VALUE.BOUND";
  return {
    ...assessment,
    flag: "critical",
    limit_id: limit.id,
    reason: isBound ? remarkOf(caveats) : assessment.reason,
  };
}

const NO_BOUNDS: Bounds = { low: null, high: null, critical_low: null, critical_high: null };

function without(analyte: Analyte, signalment: Signalment, caveats: readonly Caveat[]): Assessment {
  return { ...NOTHING, reason: exclusion(analyte, signalment, caveats) ?? noInterval(analyte, signalment) };
}

function within(
  { comparator, device_flag }: { comparator: Comparator | null; device_flag: string | null },
  range: Range,
  value: number,
  caveats: readonly Caveat[],
): Assessment {
  const own = flag(value, comparator, range.bounds);
  return {
    reference_range: range.text,
    flag: range.id === DEVICE && !caveats.some(isNotCritical) ? escalated(own, device_flag) : own,
    interval_id: range.id,
    reason: own === null ? reasonOf("VALUE.BOUND") : remarkOf(caveats),
  };
}

function isNotCritical({ action }: Caveat): boolean {
  return action === "not_critical";
}

function remarkOf(caveats: readonly Caveat[]): ReasonOf<FlagCode> | null {
  const remark = caveats.find((caveat) => caveat.remark !== undefined)?.remark;
  return remark === undefined ? null : reasonOf("BREED.REMARK", remark);
}

const NOTHING = { reference_range: null, flag: null, interval_id: null } as const;

function none(code: FlagCode, ...values: readonly string[]): Assessment {
  return { ...NOTHING, reason: reasonOf(code, ...values) };
}

interface Range {
  readonly bounds: Bounds;
  readonly text: string;
  readonly id: string;
  /** Whether it is the clinic's own. */
  readonly isClinics?: boolean;
}

function padRange(analyte: Analyte, signalment: Signalment): Range | null {
  const normal = ordinalNormal(analyte, signalment.species);
  if (normal === null) return null;
  const bounds = { low: 0, high: normal.high, critical_low: null, critical_high: null };
  return { bounds, text: `0-${normal.high}`, id: normal.id };
}

function rangeOf(
  result: { analyte: Analyte; unit: string | null; device_range: DeviceRange | null },
  signalment: Signalment,
  device: string | null,
  clinic: ClinicChoices,
  caveats: readonly Caveat[],
): Range | null {
  const { analyte, unit } = result;
  const clinics = clinic.interval?.(analyte, signalment, device) ?? null;
  // The device's range is a general one of its species.
  const isMisleading = caveats.some(({ action }) => action === "no_general_interval");
  const own = clinics === null && !isMisleading ? ownRange(analyte, result.device_range, signalment) : null;
  if (own !== null) return own;
  const interval = clinics ?? chooseInterval(analyte, signalment, device, clinic);
  if (interval === null || unit === null) return null;
  // The interval is converted to the unit of the value, which stays as the analyzer printed it.
  const inUnit = (bound: number | null) => (bound === null ? null : convert(analyte, bound, interval.unit, unit));
  const isCritical = clinics !== null || !caveats.some(isNotCritical);
  const bounds = {
    low: inUnit(interval.low),
    high: inUnit(interval.high),
    critical_low: isCritical ? inUnit(interval.critical_low) : null,
    critical_high: isCritical ? inUnit(interval.critical_high) : null,
  };
  const text = intervalText(analyte, interval, unit);
  return text === null ? null : { bounds, text, id: interval.id, isClinics: clinics !== null };
}

/** Returns how `assess` prints an interval beside a value in another unit; null without a factor. */
export function intervalText(
  analyte: Analyte,
  interval: Pick<Interval, "low" | "high" | "unit" | "text">,
  unit: string,
): string | null {
  if (unit === interval.unit) return interval.text;
  const low = convert(analyte, interval.low, interval.unit, unit);
  const high = convert(analyte, interval.high, interval.unit, unit);
  return low === null || high === null ? null : `${printed(low, analyte.decimals)}-${printed(high, analyte.decimals)}`;
}

/**
 * Returns the device's range if it is for the patient's species. A range for another one, such as "General", does not apply. Exotic,
 * bird and reptile are groups of species: a goat's range is not a ferret's, nor a horse's a donkey's.
 */
function ownRange(analyte: Analyte, range: DeviceRange | null, signalment: Signalment): Range | null {
  if (range === null || range.species !== signalment.species || range.high === null) return null;
  if (needsSubgroup(signalment.species)) return null;
  if (signalment.subgroup !== null && !hasBreeds(signalment.species)) return null;
  if (range.low !== null) {
    return { bounds: { ...range, critical_low: null, critical_high: null }, text: range.text, id: DEVICE };
  }
  // `<10` means 0-10. The range of a value that may be below 0, such as a base excess, stays open.
  if (analyte.signed === true || range.high <= 0) return null;
  const bounds = { low: 0, high: range.high, critical_low: null, critical_high: null };
  return { bounds, text: range.text.replace(/^\s*<?=?\s*/, "0-"), id: DEVICE };
}

/**
 * Raises low or high to critical if the device flags the value LL or HH and its own range decided. The device's flag alone
 * never decides, and a device without a range for the species judges by the limits of another one.
 */
function escalated(own: Flag | null, deviceFlag: string | null): Flag | null {
  const words = (deviceFlag ?? "").split(/[^A-Za-z]+/);
  if (own === "low" && words.includes("LL")) return "critical";
  if (own === "high" && words.includes("HH")) return "critical";
  return own;
}

/** Formats a converted bound with the analyte's decimals, and at least three significant digits. */
function printed(bound: number, decimals: number): string {
  if (bound === 0) return bound.toFixed(decimals);
  return bound.toFixed(Math.max(decimals, 2 - Math.floor(Math.log10(Math.abs(bound)))));
}

/** Names the analyte, the animal's species with its subgroup, and its age in days, empty if unknown. */
function noInterval({ code }: Analyte, { species, subgroup, ageDays }: Signalment): ReasonOf<FlagCode> {
  const animal = subgroup === null ? species : `${subgroup} ${species}`;
  return reasonOf("INTERVAL.NONE", code, animal, ageDays === null ? "" : String(ageDays));
}
