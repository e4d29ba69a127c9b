import { type Static, Type } from "typebox";
import { SHA256_PATTERN } from "../schema/schema.ts";
import { textForm } from "../schema/text-form.ts";
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

/** Longest text of a clinic's own profile. */
export const PROFILE_CHARS_MAX = 256 * 1024;

/** Max own profiles that the devices of one agent name. */
export const WANTED_PROFILES_MAX = 20;

/** An own profile with its revision: `own/acme-x1@3`. */
export const PROFILE_REFERENCE = "own/[a-z0-9][a-z0-9-]{0,62}@[1-9][0-9]{0,5}";

/** A clinic's own profile, which the agent stores before a device uses it. */
export const WantedProfile = Type.Object({
  profile: Type.String({ pattern: textForm(`^${PROFILE_REFERENCE}$`, "an own profile such as own/acme-x1@3") }),
  /** SHA-256 of the text in hexadecimal digits. */
  sha256: Type.String({ pattern: SHA256_PATTERN }),
  text: Type.String({ maxLength: PROFILE_CHARS_MAX }),
});
export type WantedProfile = Static<typeof WantedProfile>;

/** The response to `POST /agent/v1/profiles`, with which an agent sends an own profile for the other PCs of its clinic. */
export const ProfileOutcome = Type.Object({
  /** `known`: the same text came before. */
  outcome: Type.Enum(["stored", "known", "refused"]),
  /** Why it is refused; null unless it is. */
  code: Type.Union([
    Type.Enum(["PROFILE.HASH", "PROFILE.NAMELESS", "PROFILE.STORED", "PROFILE.TOO_MANY"]),
    Type.Null(),
  ]),
});
export type ProfileOutcome = Static<typeof ProfileOutcome>;

/** The response to `GET /agent/v1/configuration`. */
export const WantedDevices = Type.Object({
  version: Type.Integer({ minimum: 1 }),
  devices: Type.String({ maxLength: DEVICES_CHARS_MAX }),
  /** The clinic's own profiles that the devices name. Older servers omit it. */
  profiles: Type.Optional(Type.Array(WantedProfile, { maxItems: WANTED_PROFILES_MAX })),
});
export type WantedDevices = Static<typeof WantedDevices>;
