import { DateTime } from "luxon";
import type { DeviceEventKind } from "../../shared/api/quality.ts";
import { readSpecies } from "../../shared/clinical/species.ts";
import { digest } from "./dedupe-key.ts";
import { isImpossible, readTime } from "./device-time.ts";
import type { DeviceEventDraft, ReadContext, Reading } from "./report.ts";

// Events that a device reports about itself: reagents in use, calibrations, starts, faults. No animal is in it.

/** An event as a reader found it. Texts are as sent; a missing and an empty one are the same. */
export interface FoundEvent {
  readonly event: DeviceEventKind;
  /** Time of the device's clock; the receipt's time if it is missing or impossible. */
  readonly at?: string;
  readonly subject?: string;
  readonly lot?: string;
  /** A date, or a month, whose last day counts. */
  readonly expires?: string;
  readonly count?: number | null;
  readonly text?: string;
}

/** The device that a message is of, and the texts of its patients' fields, of which no event may have any. */
interface Origin {
  readonly deviceName: string;
  readonly people: readonly string[];
}

/** Max events of a message. A message of a chemistry analyzer has some forty slides. */
const EVENTS_MAX = 100;
/** A shorter text of a patient, such as a sex or an age, names nobody. */
const NAMING_CHARS_MIN = 3;

/**
 * Returns a reading with the events of its message. A quarantined message may be of another device, and gets its events once it can
 * be read.
 */
export function withEvents(
  reading: Reading,
  origin: Origin,
  found: readonly FoundEvent[],
  context: ReadContext,
): Reading {
  if (found.length === 0 || reading.is === "quarantined") return reading;
  const events = deviceEvents(origin, found, context);
  return events.length === 0 ? reading : { ...reading, events };
}

/** Completes the events of a message. Equal ones count once, and one that names a patient is left out. */
export function deviceEvents(
  { deviceName, people }: Origin,
  found: readonly FoundEvent[],
  context: ReadContext,
): DeviceEventDraft[] {
  const names = people.map(folded).filter((text) => text.length >= NAMING_CHARS_MIN && readSpecies(text) === null);
  const namesOne = (text: string | null) => text !== null && names.some((name) => folded(text).includes(name));
  const drafts = new Map<string, DeviceEventDraft>();
  for (const each of found) {
    const draft = draftOf(each, deviceName, context);
    const { subject, lot, text } = draft;
    // Without its words a fault still counts; another event says nothing without its subject and its lot.
    const shown = namesOne(text) ? { ...draft, text: null } : draft;
    if (namesOne(subject) || namesOne(lot) || drafts.size === EVENTS_MAX) continue;
    if (!drafts.has(draft.dedupe_key)) drafts.set(draft.dedupe_key, shown);
  }
  return [...drafts.values()];
}

function draftOf(found: FoundEvent, deviceName: string, context: ReadContext): DeviceEventDraft {
  const draft = {
    kind: "event" as const,
    device_name: deviceName.slice(0, 200),
    at: timeOf(found.at ?? "", context),
    event: found.event,
    subject: shortened(found.subject, 100),
    lot: shortened(found.lot, 64),
    expires: lastDayOf(found.expires ?? ""),
    count: found.count ?? null,
    text: shortened(found.text, 500),
  };
  return { ...draft, dedupe_key: keyOf(draft, context) };
}

/**
 * Names what a repetition shares with an event. A lot that comes with each result is one event; its first use after the end of its
 * validity is another one, and then one each month, so that the server learns that it is still used. A fault is one event a day.
 */
function keyOf(draft: Omit<DeviceEventDraft, "dedupe_key">, { device, timeZone }: ReadContext): string {
  const { event, subject, lot, expires, text, at } = draft;
  const day = DateTime.fromISO(at, { zone: timeZone }).toFormat("yyyy-MM-dd");
  const parts = {
    reagent: [subject, lot, expires, expires !== null && day > expires ? day.slice(0, 7) : null],
    calibration: [subject, lot, at],
    maintenance: [subject, day],
    counter: [subject, day],
    fault: [subject ?? text, day],
    start: [day],
  }[event];
  return `${device}:${event}:${digest(parts).slice(0, 32)}`;
}

function timeOf(text: string, { timeZone, receivedAt }: ReadContext): string {
  const time = readTime(text, timeZone);
  return time === null || isImpossible(time, receivedAt) ? new Date(receivedAt).toISOString() : time;
}

/** Reads `2027-10-31`, `20271031`, `2027-10`, `2027/10` and `202710`, also with a clock. @returns null for another text */
function lastDayOf(text: string): string | null {
  const [, year, month, day] = /^(20\d\d)[-/.]?(\d\d)(?:[-/.]?(\d\d))?(?:[T ]?\d\d:?\d\d.*)?$/.exec(text.trim()) ?? [];
  if (year === undefined) return null;
  const start = DateTime.fromObject(
    { year: Number(year), month: Number(month), day: Number(day ?? 1) },
    { zone: "utc" },
  );
  if (!start.isValid) return null;
  return (day === undefined ? start.endOf("month") : start).toFormat("yyyy-MM-dd");
}

function shortened(text: string | undefined, charsMax: number): string | null {
  return text?.trim().slice(0, charsMax).trim() || null;
}

function folded(text: string): string {
  return text.trim().toLowerCase();
}

/** A row with the lot of a reagent: `Card Lot`, `Reagent Lot No`. A bare `Lot` may be a control's. */
const LOT_ROW =
  /^\s*(reagent|card|cartridge|cassette|strip|slide|rotor|disc|diluent|lyse)[ _-]*lot(?:[ _-]*(?:no|number)\.?)?\s*$/i;

/** @returns the kind of reagent whose lot a row of this name holds; null for another row */
export function lotRow(name: string): string | null {
  return LOT_ROW.exec(name)?.[1] ?? null;
}
