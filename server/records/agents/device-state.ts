import { DateTime } from "luxon";
import { type Heartbeat, HEARTBEAT_S } from "../../../shared/api/study.ts";
import type { AgentState, DeviceState } from "../../dashboard/types/devices/devices.ts";
import { heardReason } from "../../dashboard/types/devices/heard-reason.ts";
import type { Moment } from "../../operations/alerts/moment.ts";

// The state of agents and of their devices, from heartbeats and from the times of studies.
//
// A device is silent if its pause is longer than its rhythm: more than one and a half times its longest pause in the 14 days
// before its last study. Pauses count working time alone. The working hours of a weekday reach from the first to the last hour in
// which any device of the clinic measured. A device with few studies has no rhythm, and is silent after 14 days.

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** Heartbeats that an agent may miss, such as during a restart. */
const MISSED_MAX = 3;

const RHYTHM_MS = 14 * DAY_MS;
/** Studies of a device below which its rhythm is chance. */
const STUDIES_MIN = 6;
const LONGEST_TIMES = 1.5;
/** Shortest silence that is reported. */
const SILENCE_MS_MIN = HOUR_MS;

/** Days of studies that the rules need: a rhythm ends with the last study, which may be as old as the rhythm is long. */
const STUDIES_DAYS = (2 * RHYTHM_MS) / DAY_MS;

/** Age of the last heartbeat beyond which an agent is silent. */
export const SILENT_MS = MISSED_MAX * HEARTBEAT_S * 1000;

/** `lastSeenAt` is the time of its last heartbeat; null before the first. */
export function agentState(lastSeenAt: number | null, now: number): AgentState {
  if (lastSeenAt === null) return "never heard";
  return now - lastSeenAt > SILENT_MS ? "silent" : "running";
}

/** Whether an agent reports a fault of the device itself, or bytes that its profile does not understand. */
export function hasFault(device: NonNullable<Heartbeat["devices"]>[number]): boolean {
  return (heardReason(device) !== null && device.may_be_off !== true) || device.foreign != null;
}

/** A span of working time. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The days of the clinic that the rules look at. Studies enter and leave them at midnight alone. */
export interface StudyDays {
  /** Midnight of the first day. */
  readonly from: number;
  /** Midnight after this moment. */
  readonly until: number;
}

export function studyDays(now: number, timeZone: string): StudyDays {
  const today = DateTime.fromMillis(now, { zone: timeZone }).startOf("day");
  return { from: today.minus({ days: STUDIES_DAYS }).toMillis(), until: today.plus({ days: 1 }).toMillis() };
}

/** Finds the working hours of the last 28 days. `studyTimes` are those of all devices of the clinic, in any order. */
export function workingHours(studyTimes: readonly number[], now: number, timeZone: string): Span[] {
  const today = DateTime.fromMillis(now, { zone: timeZone }).startOf("day");
  const days = STUDIES_DAYS;
  const starts = Array.from({ length: days + 2 }, (_, index) => today.minus({ days: days - index }).toMillis());
  const hoursByWeekday = new Map<number, { first: number; last: number }>();
  for (const time of studyTimes) {
    const day = starts.findLastIndex((start) => start <= time);
    if (day === -1 || day > days) continue;
    const hour = Math.floor((time - starts[day]!) / HOUR_MS);
    const known = hoursByWeekday.get(day % 7) ?? { first: hour, last: hour };
    hoursByWeekday.set(day % 7, { first: Math.min(known.first, hour), last: Math.max(known.last, hour) });
  }
  return starts.slice(0, -1).flatMap((start, day) => {
    const hours = hoursByWeekday.get(day % 7);
    return hours === undefined ? [] : [{ from: start + hours.first * HOUR_MS, to: start + (hours.last + 1) * HOUR_MS }];
  });
}

export function workingMs(hours: readonly Span[], from: number, to: number): number {
  return hours.reduce((sum, span) => sum + Math.max(0, Math.min(to, span.to) - Math.max(from, span.from)), 0);
}

/** @returns the first time at which the working time since `from` is `ms`; infinite if the known hours end before */
export function workedUntil(hours: readonly Span[], from: number, ms: number): number {
  let [early, late] = [from, Math.max(from, ...hours.map(({ to }) => to))];
  if (workingMs(hours, from, late) < ms) return Number.POSITIVE_INFINITY;
  while (early < late) {
    const middle = Math.floor((early + late) / 2);
    if (workingMs(hours, from, middle) >= ms) late = middle;
    else early = middle + 1;
  }
  return late;
}

/** Finds the longest pause of a device in working time. @returns null if it has too few studies */
export function longestPause(studyTimes: readonly number[], hours: readonly Span[]): number | null {
  const times = studyTimes.toSorted((one, other) => one - other);
  const last = times.at(-1) ?? 0;
  const recent = times.filter((time) => time >= last - RHYTHM_MS);
  if (recent.length < STUDIES_MIN) return null;
  return Math.max(...recent.slice(1).map((time, index) => workingMs(hours, recent[index]!, time)));
}

type HeardDevice = NonNullable<Heartbeat["devices"]>[number];

/** Facts about a device in addition to its heartbeat. */
interface DeviceFacts {
  readonly agent: AgentState;
  /** Times of its studies within StudyDays. */
  readonly studyTimes: readonly number[];
  readonly hours: readonly Span[];
  readonly moment: Moment;
}

export function deviceState(device: HeardDevice, { agent, studyTimes, hours, moment }: DeviceFacts): DeviceState {
  if (agent !== "running") return { is: "unknown" };
  const { may_be_off: mayBeOff = false, connected = false, state } = device;
  const why = heardReason(device);
  if (why !== null && !mayBeOff) return { is: "faulty", ...why };
  if (device.foreign != null) return { is: "foreign", protocol: device.foreign.protocol };
  const heardAt = Math.max(
    Date.parse(device.last_message_at ?? "") || 0,
    ...studyTimes.filter((time) => time <= moment.now),
  );
  const silence = heardAt === 0 ? null : silenceOf(heardAt, studyTimes, hours, moment);
  if (silence !== null) return silence;
  if (why !== null) return { is: "off", ...why };
  if (heardAt === 0) return { is: "never heard" };
  return { is: connected || state === "connected" ? "connected" : "ready" };
}

function silenceOf(heardAt: number, studyTimes: readonly number[], hours: readonly Span[], moment: Moment) {
  const working_ms = workingMs(hours, heardAt, moment.now);
  if (moment.reached(heardAt + RHYTHM_MS + 1)) return { is: "silent", working_ms, longest_ms: null } as const;
  const longest_ms = longestPause(studyTimes, hours);
  if (longest_ms === null) return null;
  const usual_ms = Math.floor(Math.max(SILENCE_MS_MIN, longest_ms * LONGEST_TIMES));
  if (!moment.reached(workedUntil(hours, heardAt, usual_ms + 1))) return null;
  return { is: "silent", working_ms, longest_ms } as const;
}
