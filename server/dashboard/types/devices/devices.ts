import type { UpgradeReport } from "../../../../shared/api/upgrade.ts";
import type { ShownReason } from "./heard-reason.ts";

// The clinic PCs with their devices, as GET /clinic/v1/clinics/:clinic/devices shows them. Times are those of the API.

/** The response to `GET devices`. */
export interface DevicesBody {
  /** The agents sorted by name. */
  agents: AgentShown[];
}

/** The response to `POST pairing-code`. No later response contains the code. */
export interface PairingCode {
  /** The code in three groups: `7KQM-X2HD-9FVT`. */
  code: string;
  expires_at: string;
  /** The address under which PCs of the network reach the server; null if the page's own is the only one. */
  server: string | null;
}

/**
 * Where the devices of an agent come from. `applied`: it runs the shown devices. `waiting`: it has not tried the saved ones yet.
 * `refused`: it found problems in them and keeps the last good ones. `local`: its agent.yaml forbids changes from here.
 * `unknown`: it has not reported them, or is too old to.
 */
export type ConfigurationState = "applied" | "waiting" | "refused" | "local" | "unknown";

/** The response to `GET agents/:agent/devices`. */
export interface AgentDevices {
  state: ConfigurationState;
  /** The list of devices as YAML. Null if it cannot be edited here. */
  devices: string | null;
  /** Why the agent refused them, with lines of `devices`. */
  problems: { line: number; message: string }[];
}

/** The response to `GET profiles`: the clinic's own profiles, the last stored one first. */
export interface OwnProfiles {
  profiles: { profile: string; saved_at: string }[];
}

/** The response to `POST profiles`. */
export interface OwnProfileSaved {
  /** The profile with its revision: `own/acme-x1@3`. */
  profile: string;
}

/** The agent of one clinic PC. A device key represents it. */
export interface AgentShown {
  key: { id: string; name: string };
  /** Null before the first heartbeat of an agent whose key a person made. */
  fp: string | null;
  configuration: ConfigurationState;
  /** Null for an agent whose key a person made. */
  paired_at: string | null;
  /** Whether a person ended its access. */
  is_revoked: boolean;
  is: AgentState;
  last_seen_at: string | null;
  /** Null for an agent that does not report it. */
  version: string | null;
  /** The platform of its packages; null for an agent that does not report it, or cannot upgrade itself. */
  platform: string | null;
  upgrade: UpgradeReport | null;
  /** The PC's clock minus the server's in seconds. Null for an agent that does not report it. */
  clock_offset_s: number | null;
  /** Studies that wait for the server. Null for an agent that does not report it. */
  outbox: { depth: number; oldest_at: string | null } | null;
  devices: DeviceShown[];
  callers: CallerShown[];
}

/** `never heard`: no agent has used its key. */
export type AgentState = "running" | "silent" | "never heard";

export interface DeviceShown {
  /** The id in agent.yaml. */
  id: string;
  name: string | null;
  profile: string | null;
  protocol: string | null;
  /** Address or port of the device as in agent.yaml. */
  connection: string | null;
  state: DeviceState;
  last_message_at: string | null;
  /**
   * The last fault of the device or its line. Null without one since the start of its agent, and for an agent that reports none.
   */
  last_warning: { at: string; reason: string } | null;
  /** The name of the device in its latest study of the last four weeks. Null without a study. */
  study_name: string | null;
  /** Messages of this day. Null for an agent that does not report them or does not run. */
  today: DayCounts | null;
}

/** Messages of one day. A message may also wait, or be a control, so the sum may be smaller than `received`. */
export interface DayCounts {
  received: number;
  filed: number;
  unmatched: number;
  quarantined: number;
  /** Null for an agent that does not report it. */
  not_for_patients: number | null;
}

/** The state of a device. A fault needs a person, and so does a silence beyond the device's rhythm. */
export type DeviceState =
  /** `ready`: the agent waits for the device to connect. `unknown`: its agent is silent. */
  | { is: "connected" | "ready" | "never heard" | "unknown" }
  /** Its last bytes are of another protocol than its profile's; null for an unknown one. */
  | { is: "foreign"; protocol: string | null }
  /** `off`: the device does not respond, and may be switched off. */
  | ({ is: "faulty" | "off" } & ShownReason)
  /** Working time since its last message, and its longest pause before; null if it is silent for more than 14 days. */
  | { is: "silent"; working_ms: number; longest_ms: number | null };

export function needsPerson({ is }: DeviceState): boolean {
  return is === "faulty" || is === "silent" || is === "foreign";
}

/** Someone who connected to a port of the agent and is not one of its devices. */
export interface CallerShown {
  /** The device whose port it called. */
  device: string;
  address: string;
  at: string;
  count: number;
  /** Its address is not in `allow`, or no profile takes its bytes. */
  why: "not allowed" | "not understood";
  /** Protocol that its bytes look like; null for unknown ones. */
  protocol: string | null;
}

/** Clock offset in seconds above which results get wrong times. */
export const CLOCK_OFFSET_S_MAX = 60;

/** Kinds of a device's log, in the order of the page's filter. */
export const deviceEventKinds = ["reagent", "calibration", "maintenance", "counter", "fault", "start"] as const;

/** The response to `GET devices/log`. */
export interface DeviceLogBody {
  /** The last lot that the device reported of each reagent, by name. */
  reagents: ReagentShown[];
  /** The newest first. */
  events: DeviceEventShown[];
  /** Older events are not in the response. */
  has_older: boolean;
}

export interface DeviceEventShown {
  id: number;
  at: string;
  event: (typeof deviceEventKinds)[number];
  subject: string | null;
  lot: string | null;
  /** YYYY-MM-DD. */
  expires: string | null;
  count: number | null;
  /** The device's own words. */
  text: string | null;
  /** The name of the user who typed it; null for one that the device sent. */
  by: string | null;
}

export interface ReagentShown {
  name: string | null;
  lot: string;
  /** YYYY-MM-DD; null if the device does not send it. */
  expires: string | null;
  /** Since when the device reports this lot. */
  since: string;
  state: ReagentState;
}

/** `used expired`: the device used it after its last day. `soon`: its last day is near. `unknown`: without a last day. */
export type ReagentState = "ok" | "soon" | "expired" | "used expired" | "unknown";
