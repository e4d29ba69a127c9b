import type { DiskCall } from "./disk-call.ts";

/** A program's report, with its time in ms since 1970. */
export interface Told {
  readonly at: number;
  /** The time from which it may no longer be so; absent if never. */
  readonly until?: number;
}

/** The moments of a recording. */
export interface Moments<Each extends Told> {
  /** The number of calls that had ended or started by a time. */
  callsBy(at: number): number;
  /** Returns the statements before a cut after `count` calls. */
  toldBefore(count: number): Each[];
}

export function momentsOf<Each extends Told>(calls: readonly DiskCall[], told: readonly Each[]): Moments<Each> {
  // A call that is not carried out may have started before the one in front of it.
  const startOfRest = new Float64Array(calls.length + 1).fill(Number.POSITIVE_INFINITY);
  for (let index = calls.length - 1; index >= 0; index--) {
    startOfRest[index] = Math.min(startOfRest[index + 1]!, calls[index]!.at);
  }
  return {
    // The times of the test have whole milliseconds.
    callsBy: (at) => startOfRest.findIndex((start) => start > at + 1),
    toldBefore(count) {
      const lastStart = calls.slice(0, count).reduce((latest, call) => Math.max(latest, call.at), 0);
      return told.filter(({ at, until = Infinity }) => at + 1 < startOfRest[count]! && lastStart < until - 1);
    },
  };
}
