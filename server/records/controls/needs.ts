import type { ControlledDevice, QualityBody } from "../../dashboard/types/quality.ts";
import type { ControlNeed } from "../../dashboard/types/results/today.ts";
import { lastLots } from "./overview.ts";

/**
 * Returns the devices whose controls need a person: the failed ones first, then those that are due, then those that never had one. A
 * device is listed once, since the next control answers all of it.
 * @param now milliseconds since 1970
 */
export function controlNeeds({ devices }: Pick<QualityBody, "devices">, now: number): ControlNeed[] {
  const needs = devices.flatMap((device) => needOf(device, now) ?? []);
  return needs.toSorted((one, other) => ORDER.indexOf(one.is) - ORDER.indexOf(other.is));
}

const ORDER: readonly ControlNeed["is"][] = ["failed", "due", "never"];

function needOf({ device_id, name, last_at, schedule, series }: ControlledDevice, now: number): ControlNeed | null {
  const device = { device_id, name, analytes: [], is_explained: false };
  const isOut = lastLots(series).filter(({ state }) => state === "failed");
  const failed = series.filter((each) => each.unexplained > 0 || isOut.includes(each));
  if (failed.length > 0) {
    const times = isOut.flatMap(({ since }) => since ?? []);
    const analytes = [...new Set(failed.map(({ analyte }) => analyte))].toSorted();
    const isExplained = failed.every(({ unexplained }) => unexplained === 0);
    return { ...device, is: "failed", analytes, is_explained: isExplained, since: times.toSorted()[0] ?? null };
  }
  if (last_at === null) return { ...device, is: "never", since: null };
  if (schedule === null || Date.parse(schedule.due_at) > now) return null;
  return { ...device, is: "due", since: schedule.due_at };
}
