import type { ConfigurationReport, DevicesProblem } from "../../../shared/api/configuration.ts";
import type { ConfigurationState } from "../../dashboard/types/devices/devices.ts";

/** The devices that an admin last wrote for an agent. */
export interface SavedDevices {
  readonly version: number;
  readonly devices: string;
}

/** The devices of an agent as an admin edits them. */
export interface EditableDevices {
  readonly state: ConfigurationState;
  /** Null if they cannot be edited here. */
  readonly devices: string | null;
  readonly problems: readonly DevicesProblem[];
}

/** Compares what an admin wrote with what the agent reports. */
export function editableDevices(
  saved: SavedDevices | undefined,
  report: ConfigurationReport | undefined,
): EditableDevices {
  if (report === undefined) return { state: "unknown", devices: null, problems: [] };
  if (!report.managed) return { state: "local", devices: null, problems: [] };
  if (saved !== undefined && (report.version ?? 0) < saved.version) {
    return { state: "waiting", devices: saved.devices, problems: [] };
  }
  // The refused text is what the admin corrects. A later version than the saved one is of a server's earlier life.
  if (saved !== undefined && report.version === saved.version && report.problems.length > 0) {
    return { state: "refused", devices: saved.devices, problems: report.problems };
  }
  return { state: "applied", devices: report.devices, problems: [] };
}

/** Returns the version of a new text. The time makes it greater than the versions that a restored database lacks. */
export function nextVersion(saved: SavedDevices | undefined, now: number): number {
  return Math.max(now, (saved?.version ?? 0) + 1);
}
