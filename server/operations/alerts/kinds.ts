// The kinds of alerts, and all their limits.

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

interface KindLimits {
  /** Time for which a condition lasts without a break before its alert opens. */
  readonly lastsMs: number;
  /** Time without the cause until the alert closes, so that a recurring cause is one alert. */
  readonly goneMs: number;
}

/** Limits of time, each with what opens an alert. Values have limits of their own in `limits`. */
export const kinds = {
  /** No heartbeat for some working time. */
  "agent-silent": { lastsMs: 0, goneMs: 0 },
  /** No study for longer than the device's rhythm. */
  "device-silent": { lastsMs: 0, goneMs: 0 },
  /** The agent cannot use the line to a device. */
  "device-down": { lastsMs: 10 * MINUTE_MS, goneMs: 2 * MINUTE_MS },
  /** Unmatched studies. */
  unmatched: { lastsMs: 0, goneMs: 0 },
  /** Messages of a device cannot be read or were refused. */
  quarantined: { lastsMs: 30 * MINUTE_MS, goneMs: 0 },
  /** Nobody saw a study with a critical value. */
  "critical-unseen": { lastsMs: 10 * MINUTE_MS, goneMs: 0 },
  /** Studies wait for their way to the server. */
  "outbox-old": { lastsMs: 0, goneMs: 2 * MINUTE_MS },
  "disk-full": { lastsMs: 0, goneMs: 0 },
  "clock-wrong": { lastsMs: 2 * MINUTE_MS, goneMs: 0 },
  "key-ends": { lastsMs: 0, goneMs: 0 },
  /** Ten wrong codes followed the right password of a user. Only a new password ends it. */
  "password-known": { lastsMs: 0, goneMs: 0 },
  "backup-failed": { lastsMs: 0, goneMs: 0 },
  /** The new version did not work on a PC, and the one before runs. */
  "update-failed": { lastsMs: 0, goneMs: 0 },
  /** A webhook paused itself. Only a person resumes it. */
  "webhook-paused": { lastsMs: 0, goneMs: 0 },
  /** Practice software refused results, or a person set them aside. */
  "results-refused": { lastsMs: 0, goneMs: 0 },
  /** Results wait for practice software. */
  "results-wait": { lastsMs: 0, goneMs: 0 },
  /** A device used reagents after their last day. */
  "reagent-expired": { lastsMs: 0, goneMs: 0 },
  /** A device reports several faults in a day, or the same on several days. A single fault is not an alert. */
  "device-faults": { lastsMs: 0, goneMs: 0 },
} as const satisfies Record<string, KindLimits>;

export type AlertKind = keyof typeof kinds;

/** Limits of values. Between the two of a pair an open alert stays open, and none opens. */
export const limits = {
  agentSilentWorkingMs: 15 * MINUTE_MS,
  unmatchedMs: 30 * MINUTE_MS,
  /** Age of the latest message that cannot be filed beyond which no alert opens: a person gave it up. */
  quarantinedMs: DAY_MS,
  outboxMs: 30 * MINUTE_MS,
  resultsWaitMs: 30 * MINUTE_MS,
  freeBytes: { opens: 1e9, closes: 1.5e9 },
  clockOffsetS: { opens: 60, closes: 30 },
  keyEndsMs: 14 * DAY_MS,
} as const;

/** A fault that exists now. Times are in ms since 1970. */
export interface Condition {
  /** Names the cause: an alert is open once for a key. */
  readonly key: string;
  readonly kind: AlertKind;
  /** Name of the device, the agent or the API key; never of a patient or an owner. Empty if the kind suffices. */
  readonly subject: string;
  readonly since: number;
  /** Number of things that wait. */
  readonly count?: number;
  /** Our own sentence about the cause, for people at the dashboard; its code and values if it has them. */
  readonly reason?: string;
  readonly code?: string;
  readonly values?: readonly string[];
  /** Page of the dashboard, instead of the kind's. */
  readonly path?: string;
  /** Set if the value is between its limits, or unknown: it keeps an open alert open and opens none. */
  readonly holds?: true;
}
