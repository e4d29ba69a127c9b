import type { ControlledDevice, QualityBody } from "../../dashboard/types/quality.ts";
import type { ControlNeed } from "../../dashboard/types/results/today.ts";
import type { Session } from "../../database/query.ts";
import type { HeardAgent } from "../agents/attention.ts";
import { IN_USE_MS } from "./judging.ts";
import { lastLots, lastRun } from "./overview.ts";

/**
 * Leaves out the devices that were taken out of use. A device that sends its controls was, once no agent has it: nothing that it
 * measures can arrive. One whose controls are typed has no agent; it was, if it has no schedule and no control of 90 days.
 * @param now milliseconds since 1970
 */
export async function devicesInUse(
  session: Session,
  { devices }: Pick<QualityBody, "devices">,
  { clinicId, agents, now }: { clinicId: number; agents: readonly HeardAgent[]; now: number },
): Promise<ControlledDevice[]> {
  const ofAgents = devicesOf(agents);
  const inUse: ControlledDevice[] = [];
  for (const device of devices) {
    const { device_id: deviceId, schedule } = device;
    const last = ofAgents?.has(deviceId) === true ? undefined : await session.first(lastRun, { clinicId, deviceId });
    if (last === undefined) inUse.push(device);
    else if (last.user_id === null) inUse.push(...(ofAgents === null ? [device] : []));
    else if (schedule !== null || now - last.measured_at <= IN_USE_MS) inUse.push(device);
  }
  return inUse;
}

/** Returns the ids of the devices that agents have; null without an agent, or if one does not report its devices. */
function devicesOf(agents: readonly HeardAgent[]): Set<string> | null {
  const lists = agents.flatMap(({ shown, heard }) => (shown.is_revoked ? [] : [heard.devices]));
  if (agents.length === 0 || lists.includes(undefined)) return null;
  return new Set(lists.flatMap((devices = []) => devices.map(({ id }) => id)));
}

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
