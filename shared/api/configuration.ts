import { type Static, Type } from "typebox";
import { WantedVersion } from "./upgrade.ts";

// The devices of an agent, as an admin edits them at the dashboard: a YAML list, without paths and secrets of the PC.

/** Longest text of devices. Forty devices with mappings of codes are a tenth of it. */
export const DEVICES_CHARS_MAX = 64 * 1024;

/** Max problems that an agent reports. */
export const PROBLEMS_MAX = 50;

export const PROBLEM_CHARS_MAX = 1000;

/** A problem of the devices, with its line in their text. */
export const DevicesProblem = Type.Object({
  line: Type.Integer({ minimum: 1 }),
  message: Type.String({ maxLength: PROBLEM_CHARS_MAX }),
});
export type DevicesProblem = Static<typeof DevicesProblem>;

/** The configuration of the agent, as its heartbeat reports it. */
export const ConfigurationReport = Type.Object({
  /** Whether the agent takes devices from the server: `managed: false` in agent.yaml is false here. */
  managed: Type.Boolean(),
  /** The last version of the server that the agent tried; null for none. */
  version: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]),
  /** Why that version was refused. None if it was applied. */
  problems: Type.Array(DevicesProblem, { maxItems: PROBLEMS_MAX }),
  /** The devices that run; null if their text is too long. */
  devices: Type.Union([Type.String({ maxLength: DEVICES_CHARS_MAX }), Type.Null()]),
});
export type ConfigurationReport = Static<typeof ConfigurationReport>;

export const HeartbeatAnswer = Type.Object({
  /** The version of the devices that the agent should have. Absent if nobody wrote any. */
  configuration_version: Type.Optional(Type.Integer({ minimum: 1 })),
  /** Absent unless the dashboard wants the agent at a version now. */
  upgrade: Type.Optional(WantedVersion),
});

/** The response to `GET /agent/v1/configuration`. */
export const WantedDevices = Type.Object({
  version: Type.Integer({ minimum: 1 }),
  devices: Type.String({ maxLength: DEVICES_CHARS_MAX }),
});
export type WantedDevices = Static<typeof WantedDevices>;
