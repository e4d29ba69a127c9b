import { DateTime } from "luxon";
import type { DeviceEventKind } from "../../../shared/api/quality.ts";
import type {
  DeviceEventShown,
  DeviceLogBody,
  ReagentShown,
  ReagentState,
} from "../../dashboard/types/devices/devices.ts";
import { query, type Session } from "../../database/query.ts";
import type { Moment } from "../../operations/alerts/moment.ts";

// Events that devices report about themselves: the log of a device with the reagents that it uses, and the facts of two alerts.

/** Events of a page. */
const LOG_MAX = 100;
/** Events of reagents from which the last lots are found. A chemistry analyzer has some forty tests, each with a lot in a year. */
const REAGENT_EVENTS_MAX = 500;
/** A lot that a device reported before is used up, or its test is not run. */
const REAGENT_DAYS = 400;
/** Days before the end of a lot from which it ends soon: the time of an order. */
const SOON_DAYS = 14;

const DAY_MS = 86_400_000;

/** Bounds of the alerts. An agent sends each fault once a day, and the use of an expired lot once a month. */
const bounds = {
  expiredMs: 31 * DAY_MS,
  /** Different faults within a day, or days with the same fault within a week. */
  faults: 3,
  dayMs: DAY_MS,
  weekMs: 7 * DAY_MS,
};
/** Events that the alerts of a device look at. */
const CARE_EVENTS_MAX = 500;

interface Clinic {
  readonly clinicId: number;
  /** Null if the clinic chose none. */
  readonly timeZone: string | null;
  readonly now: number;
}

/** Reads the log of a device. @param event the only kind of events; null for all */
export async function readDeviceLog(
  session: Session,
  { clinicId, timeZone, now }: Clinic,
  device: string,
  event: DeviceEventKind | null,
): Promise<DeviceLogBody> {
  const log = { clinicId, device, limit: LOG_MAX + 1 };
  const rows = await (event === null ? session.all(eventsOfDevice, log) : session.all(eventsOfKind, { ...log, event }));
  const since = now - REAGENT_DAYS * DAY_MS;
  const used = await session.all(reagentsOfDevice, { clinicId, device, since });
  return {
    reagents: lastLots(used, dayOf(timeZone)(now), dayOf(timeZone)),
    events: rows.slice(0, LOG_MAX).map(shown),
    has_older: rows.length > LOG_MAX,
  };
}

interface EventRow {
  id: number;
  at: number;
  event: DeviceEventKind;
  subject: string | null;
  lot: string | null;
  expires: string | null;
  count: number | null;
  text: string | null;
  author: string | null;
}

function shown({ at, author: by, ...event }: EventRow): DeviceEventShown {
  return { ...event, at: new Date(at).toISOString(), by };
}

type ReagentRow = Pick<EventRow, "at" | "subject" | "lot" | "expires">;

/** Returns the last lot of each reagent. @param rows the newest first */
function lastLots(rows: readonly ReagentRow[], today: string, day: (at: number) => string): ReagentShown[] {
  const lots = new Map<string, ReagentShown>();
  for (const { at, subject: name, lot, expires } of rows) {
    if (lot === null) continue;
    const known = lots.get(name ?? "");
    const since = new Date(at).toISOString();
    if (known === undefined) {
      lots.set(name ?? "", { name, lot, expires, since, state: reagentState(expires, today, day(at)) });
    } else if (known.lot === lot && known.expires === expires) known.since = since;
  }
  return [...lots.values()].toSorted((one, other) => (one.name ?? "").localeCompare(other.name ?? ""));
}

/** @param lastUsed the day of its last event */
function reagentState(expires: string | null, today: string, lastUsed: string): ReagentState {
  if (expires === null) return "unknown";
  if (lastUsed > expires) return "used expired";
  if (today > expires) return "expired";
  const soon = DateTime.fromISO(expires, { zone: "utc" }).minus({ days: SOON_DAYS }).toFormat("yyyy-MM-dd");
  return today >= soon ? "soon" : "ok";
}

function dayOf(timeZone: string | null): (at: number) => string {
  return (at) => DateTime.fromMillis(at, { zone: timeZone ?? "UTC" }).toFormat("yyyy-MM-dd");
}

/** A device that works with reagents after their last day, or that reports faults again and again. */
export interface DeviceCare {
  readonly device: string;
  readonly name: string;
  /** Reagents, or faults. */
  readonly count: number;
  readonly since: number;
}

export interface CareFacts {
  readonly expired: readonly DeviceCare[];
  readonly faulty: readonly DeviceCare[];
}

/** Reads what these devices of a clinic report about themselves and a person has to know. */
export async function readCareFacts(
  session: Session,
  { clinicId, timeZone, moment }: Omit<Clinic, "now"> & { readonly moment: Moment },
  devices: readonly { readonly id: string; readonly name: string | null }[],
): Promise<CareFacts> {
  const { now } = moment;
  const expired: DeviceCare[] = [];
  const faulty: DeviceCare[] = [];
  for (const [device, name] of new Map(devices.map((each) => [each.id, each.name]))) {
    const all = await session.all(careEvents, { clinicId, device, since: now - bounds.expiredMs });
    const rows = all.filter(({ at }) => moment.reached(at));
    // Each event leaves the time of an alert by itself.
    for (const { at } of rows) [bounds.dayMs, bounds.weekMs, bounds.expiredMs].forEach((ms) => moment.reached(at + ms));
    const of = { device, name: name ?? rows[0]?.device_name ?? device };
    const used = usedExpired(rows, dayOf(timeZone));
    if (used.length > 0) expired.push({ ...of, count: used.length, since: Math.min(...used) });
    const faults = repeatedFaults(rows, now, dayOf(timeZone));
    if (faults.length > 0) faulty.push({ ...of, count: faults.length, since: Math.min(...faults) });
  }
  return { expired, faulty };
}

interface CareRow extends ReagentRow {
  readonly event: DeviceEventKind;
  readonly text: string | null;
}

/** Returns the times of the reagents whose last reported lot was used after its last day. @param events the newest first */
function usedExpired(events: readonly CareRow[], day: (at: number) => string): number[] {
  const seen = new Set<string>();
  return events.flatMap(({ event, at, subject, expires }) => {
    if (event !== "reagent" || seen.has(subject ?? "")) return [];
    seen.add(subject ?? "");
    return expires !== null && day(at) > expires ? [at] : [];
  });
}

/** Returns the times of the faults of the last day if they are several, and of those that come on several days of the last week. */
function repeatedFaults(events: readonly CareRow[], now: number, day: (at: number) => string): number[] {
  const faults = events.filter(({ event, at }) => event === "fault" && at > now - bounds.weekMs);
  const ofDay = faults.filter(({ at }) => at > now - bounds.dayMs);
  const daysOf = new Map<string, Set<string>>();
  for (const fault of faults) daysOf.set(nameOf(fault), (daysOf.get(nameOf(fault)) ?? new Set()).add(day(fault.at)));
  const again = faults.filter((fault) => (daysOf.get(nameOf(fault))?.size ?? 0) >= bounds.faults);
  return [...new Set([...(ofDay.length >= bounds.faults ? ofDay : []), ...again])].map(({ at }) => at);
}

function nameOf({ subject, text }: CareRow): string {
  return subject ?? text ?? "";
}

const COLUMNS = ["id", "at", "event", "subject", "lot", "expires", "count", "text", "author"] as const;

const eventsOfDevice = query((db, p: { clinicId: number; device: string; limit: number }) =>
  db
    .selectFrom("device_event")
    .select(COLUMNS)
    .where("clinic_id", "=", p.clinicId)
    .where("device_id", "=", p.device)
    .orderBy("at", "desc")
    .orderBy("id", "desc")
    .limit(p.limit),
);

const eventsOfKind = query((db, p: { clinicId: number; device: string; limit: number; event: DeviceEventKind }) =>
  db
    .selectFrom("device_event")
    .select(COLUMNS)
    .where("clinic_id", "=", p.clinicId)
    .where("device_id", "=", p.device)
    .where("event", "=", p.event)
    .orderBy("at", "desc")
    .orderBy("id", "desc")
    .limit(p.limit),
);

const reagentsOfDevice = query((db, p: { clinicId: number; device: string; since: number }) =>
  db
    .selectFrom("device_event")
    .select(["at", "subject", "lot", "expires"])
    .where("clinic_id", "=", p.clinicId)
    .where("device_id", "=", p.device)
    .where("event", "=", "reagent")
    .where("at", ">=", p.since)
    .orderBy("at", "desc")
    .orderBy("id", "desc")
    .limit(REAGENT_EVENTS_MAX),
);

export const careEvents = query((db, p: { clinicId: number; device: string; since: number }) =>
  db
    .selectFrom("device_event")
    .select(["device_name", "at", "event", "subject", "lot", "expires", "text"])
    .where("clinic_id", "=", p.clinicId)
    .where("device_id", "=", p.device)
    .where("at", ">=", p.since)
    .where("event", "in", ["reagent", "fault"])
    .orderBy("at", "desc")
    .orderBy("id", "desc")
    .limit(CARE_EVENTS_MAX),
);
