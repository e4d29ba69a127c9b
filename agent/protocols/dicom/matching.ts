import { type Attributes, isSequence, type Keyword, KEYWORDS, type TextKeyword, vrOf } from "./attribute-table.ts";

// Matches query keys (PS3.4 §C.2.2.2) and selects the attributes of a response.

export function matches(keys: Attributes, entry: Attributes): boolean {
  return KEYWORDS.every((keyword) => {
    if (!(keyword in keys) || keyword === "SpecificCharacterSet") return true;
    if (isSequence(keyword)) {
      const [key] = keys[keyword] ?? [];
      if (key === undefined || isUniversal(key)) return true;
      return (entry[keyword] ?? []).some((item) => matches(key, item));
    }
    const paired = DATE_TIME_PAIRS[keyword];
    if (paired !== undefined && isRange(keys[paired.date]) && isRange(keys[paired.time])) {
      return keyword === paired.time || matchesMoments(keys, entry, paired);
    }
    return matchesValues(keys[keyword] ?? [], entry[keyword] ?? [], vrOf(keyword));
  });
}

/**
 * Returns the requested attributes of an entry. A sequence key without an item, or with an empty one, requests the complete
 * sequence.
 */
export function worklistResponse(keys: Attributes, entry: Attributes): Attributes {
  const response: Partial<Record<Keyword, unknown>> = {};
  for (const keyword of KEYWORDS) {
    if (!(keyword in keys) || keyword === "SpecificCharacterSet") continue;
    const value = entry[keyword];
    if (value === undefined) continue;
    const [key] = isSequence(keyword) ? (keys[keyword] ?? []) : [];
    const isNarrow = key !== undefined && Object.keys(key).length > 0;
    response[keyword] = isNarrow ? (value as readonly Attributes[]).map((item) => worklistResponse(key, item)) : value;
  }
  return response as Attributes;
}

/** Returns whether the keys match every entry. */
function isUniversal(keys: Attributes): boolean {
  return KEYWORDS.every((keyword) => {
    if (!(keyword in keys)) return true;
    if (isSequence(keyword)) return (keys[keyword] ?? []).every(isUniversal);
    return (keys[keyword] ?? []).every((value) => value === "*");
  });
}

const WILDCARD_VRS = new Set(["AE", "CS", "LO", "LT", "PN", "SH"]);
const LENGTHS: Readonly<Record<string, number>> = { DA: 8, TM: 6 };

function matchesValues(keys: readonly string[], values: readonly string[], vr: string): boolean {
  if (keys.length === 0 || (WILDCARD_VRS.has(vr) && keys.every((key) => key === "*"))) return true;
  // Several values are a list of UIDs. Devices list several modalities too, with the same meaning.
  return keys.some((key) => values.some((value) => matchesValue(key, value, vr)));
}

function matchesValue(key: string, value: string, vr: string): boolean {
  if (vr === "DA" || vr === "TM") {
    const { from, to } = rangeOf(key, vr);
    const moment = padded(value, vr, "0");
    return from <= moment && moment <= to;
  }
  if (vr === "PN") return matchesName(key, value);
  if (vr === "DS" || vr === "US") return Number(key) === Number(value);
  return WILDCARD_VRS.has(vr) ? pattern(key).test(value) : key === value;
}

/** Matches names without regard to case, accents and trailing carets (PS3.5 §6.2.1). */
function matchesName(key: string, value: string): boolean {
  const wanted = pattern(foldName(key));
  if (wanted.test(foldName(value))) return true;
  // The patient's name is the second component (PS3.5 §6.2.1.1), but most users type only one component.
  return !key.includes("^") && value.split("^").some((part) => part !== "" && wanted.test(foldName(part)));
}

function foldName(name: string): string {
  return name
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll("ı", "i")
    .replace(/[\^=]+$/, "");
}

/** Parses a wildcard pattern: `*` matches any characters, `?` a single one. */
function pattern(key: string): { test(value: string): boolean } {
  if (!/[*?]/.test(key)) return { test: (value) => value === key };
  return { test: (value) => matchesPattern(Array.from(key), Array.from(value)) };
}

/** Matches without a regular expression: `*a*a*a*a*b` would backtrack exponentially. */
function matchesPattern(key: readonly string[], value: readonly string[]): boolean {
  let at = 0;
  let star = -1;
  let resumeAt = 0;
  for (let index = 0; index < value.length; ) {
    if (key[at] === "*") {
      star = at++;
      resumeAt = index;
    } else if (key[at] === "?" || key[at] === value[index]) {
      at += 1;
      index += 1;
    } else if (star >= 0) {
      at = star + 1;
      index = ++resumeAt;
    } else {
      return false;
    }
  }
  while (key[at] === "*") at += 1;
  return at === key.length;
}

interface DateTimePair {
  readonly date: TextKeyword;
  readonly time: TextKeyword;
}

const START: DateTimePair = { date: "ScheduledProcedureStepStartDate", time: "ScheduledProcedureStepStartTime" };
const DATE_TIME_PAIRS: Partial<Record<Keyword, DateTimePair>> = { [START.date]: START, [START.time]: START };

/** Combines the ranges of date and time: from the first day's time to the last day's (PS3.4 table K.6-1). */
function matchesMoments(keys: Attributes, entry: Attributes, { date, time }: DateTimePair): boolean {
  const [days, times] = [rangeOf(keys[date]?.[0] ?? "", "DA"), rangeOf(keys[time]?.[0] ?? "", "TM")];
  const moment = padded(entry[date]?.[0] ?? "", "DA", "0") + padded(entry[time]?.[0] ?? "", "TM", "0");
  return days.from + times.from <= moment && moment <= days.to + times.to;
}

function isRange(keys: readonly string[] | undefined): boolean {
  return keys?.[0]?.replace(DASHED, "").includes("-") === true;
}

/** A date whose dashes do not mean a range. */
const DASHED = /(\d{4})-(\d\d)-(\d\d)/g;

/** Returns the range of a key in digits, both ends inclusive. A time without seconds covers its minute. */
function rangeOf(key: string, vr: "DA" | "TM"): { from: string; to: string } {
  const [from = "", to = from] = (vr === "DA" ? key.replace(DASHED, "$1$2$3") : key).split("-");
  return { from: padded(from, vr, "0"), to: padded(to, vr, "9") };
}

/** Pads a time to seconds. Older devices write 2026.11.21 and 10:15:00. */
function padded(text: string, vr: "DA" | "TM", fill: string): string {
  const digits = vr === "TM" ? text.replace(/\..*$/, "").replaceAll(":", "") : text.replaceAll(".", "");
  return digits
    .trim()
    .slice(0, LENGTHS[vr])
    .padEnd(LENGTHS[vr] ?? 0, fill);
}
