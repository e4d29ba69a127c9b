import { type Condition, kinds } from "./kinds.ts";
import type { Moment } from "./moment.ts";

// Opens and closes alerts: each cause once, however often its conditions are computed and the program starts.

export interface OpenAlert extends Omit<Condition, "holds"> {
  readonly openedAt: number;
  /** Since when the condition is gone; null while it lasts. */
  readonly goneSince: number | null;
  /** Channels that are notified of it, and so of its end. */
  readonly toldOn: readonly string[];
}

export interface AlertState {
  readonly open: readonly OpenAlert[];
  /** Start of conditions that do not last long enough yet, by key. */
  readonly pending: Readonly<Record<string, number>>;
}

export interface AlertChanges {
  readonly state: AlertState;
  readonly opened: readonly OpenAlert[];
  readonly closed: readonly OpenAlert[];
}

/** Open alerts of one clinic. Further ones open when others close. */
const OPEN_MAX = 200;

/** Computes the next state from what is wrong now. */
export function stepAlerts(
  { open, pending }: AlertState,
  conditions: readonly Condition[],
  moment: Moment,
): AlertChanges {
  const { now } = moment;
  const byKey = conditionsByKey(conditions);
  const stay: OpenAlert[] = [];
  const closed: OpenAlert[] = [];
  for (const alert of open) {
    const next = stepOpen(alert, byKey.get(alert.key), moment);
    if (next === null) closed.push(alert);
    else stay.push(next);
  }
  const known = new Set(open.map(({ key }) => key));
  const waiting: Record<string, number> = {};
  const opened: OpenAlert[] = [];
  for (const [key, condition] of byKey) {
    if (known.has(key)) continue;
    if (condition.holds === true) {
      if (pending[key] !== undefined) waiting[key] = pending[key];
      continue;
    }
    const since = Math.min(pending[key] ?? now, condition.since, now);
    const isReady = moment.reached(since + kinds[condition.kind].lastsMs);
    if (!isReady || stay.length + opened.length >= OPEN_MAX) waiting[key] = since;
    else opened.push({ ...condition, since, openedAt: now, goneSince: null, toldOn: [] });
  }
  return { state: { open: [...stay, ...opened], pending: waiting }, opened, closed };
}

/** One condition for each key. Two sources of one cause are one condition, and the certain one counts. */
function conditionsByKey(conditions: readonly Condition[]): ReadonlyMap<string, Condition> {
  const byKey = new Map<string, Condition>();
  for (const condition of conditions) {
    const known = byKey.get(condition.key);
    if (known === undefined || (known.holds === true && condition.holds === undefined)) {
      byKey.set(condition.key, condition);
    }
  }
  return byKey;
}

/** @returns null if the alert closes */
function stepOpen(alert: OpenAlert, condition: Condition | undefined, moment: Moment): OpenAlert | null {
  if (condition === undefined) {
    // A clock that was set back must not keep an alert open.
    const goneSince = Math.min(alert.goneSince ?? moment.now, moment.now);
    return moment.reached(goneSince + kinds[alert.kind].goneMs) ? null : { ...alert, goneSince };
  }
  if (condition.holds === true) return alert.goneSince === null ? alert : { ...alert, goneSince: null };
  const { openedAt, toldOn, since, key, kind } = alert;
  const { subject, count, reason, code, values, path } = condition;
  return {
    ...{ key, kind, subject, since, openedAt, goneSince: null, toldOn },
    ...(count !== undefined && { count }),
    ...(reason !== undefined && { reason }),
    ...(code !== undefined && { code }),
    ...(values !== undefined && { values }),
    ...(path !== undefined && { path }),
  };
}
