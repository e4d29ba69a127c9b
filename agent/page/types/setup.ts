import { type Static, Type } from "typebox";
import type { PatientHint } from "../../../shared/api/study.ts";
import type { CodedReason } from "./message-codes.ts";
import type { LocalResult } from "./messages.ts";

// The set-up of the agent: `/local/v1/setup` of its page. A step is data: the page draws it and sends an answer.

const text = (maxLength: number) => Type.String({ maxLength });
const closed = { additionalProperties: false };

/** The line to a new device. */
const SetupLine = Type.Union([
  Type.Object({ kind: Type.Literal("serial"), path: text(1000) }, closed),
  /** The device calls this PC. */
  Type.Object({ kind: Type.Literal("listen"), port: Type.Integer({ minimum: 1, maximum: 65_535 }) }, closed),
  /** This PC calls the device. */
  Type.Object({ kind: Type.Literal("dial"), address: text(300) }, closed),
  /** An imaging device, which calls this PC. */
  Type.Object({ kind: Type.Literal("imaging"), port: Type.Integer({ minimum: 1, maximum: 65_535 }) }, closed),
  /** A folder into which a program exports files. `leave`: they stay there, else they move to `done` beside them. */
  Type.Object({ kind: Type.Literal("folder"), path: text(1000), leave: Type.Boolean() }, closed),
]);
export type SetupLine = Static<typeof SetupLine>;

/** An answer to the step of that name. */
export const SetupAnswer = Type.Union([
  Type.Object({ to: Type.Literal("server"), url: text(1000), code: text(100), name: text(100) }, closed),
  /** A key that an admin saved on this PC takes the place of a code. */
  Type.Object({ to: Type.Literal("server"), url: text(1000), keyFile: text(1000) }, closed),
  Type.Object({ to: Type.Literal("place"), timeZone: text(100), data: text(1000) }, closed),
  Type.Object({ to: Type.Literal("line"), line: SetupLine }, closed),
  Type.Object({ to: Type.Literal("listening"), stop: Type.Literal(true) }, closed),
  /** `anyway`: the bytes look like another device, and the user insists. */
  Type.Object(
    { to: Type.Literal("heard"), profile: text(100), candidate: Type.Integer({ minimum: -1 }), anyway: Type.Boolean() },
    closed,
  ),
  Type.Object({ to: Type.Literal("heard"), again: Type.Literal(true) }, closed),
  Type.Object({ to: Type.Literal("folder"), profile: text(100) }, closed),
  Type.Object({ to: Type.Literal("device"), id: text(100), allow: Type.Array(text(100), { maxItems: 20 }) }, closed),
  Type.Object({ to: Type.Literal("first"), profile: text(100) }, closed),
  Type.Object({ to: Type.Literal("first"), next: Type.Enum(["finish", "another"]) }, closed),
  Type.Object({ to: Type.Literal("back") }, closed),
]);
export type SetupAnswer = Static<typeof SetupAnswer>;

export type SetupStep =
  | ServerStep
  | PlaceStep
  | LineStep
  | ListeningStep
  | HeardStep
  | FolderStep
  | DeviceStep
  | FirstStep;

export interface ServerStep {
  readonly at: "server";
  /** Proposed name of this PC. */
  readonly name: string;
}

export interface PlaceStep {
  readonly at: "place";
  /** The name of the clinic; null with a key of one's own. */
  readonly clinic: string | null;
  readonly warnings: readonly string[];
  readonly timeZone: string;
  readonly data: string;
}

export interface LineStep {
  readonly at: "line";
  /** Where the data folder is, if it does not belong there, and who copies or serves it. */
  readonly folder: { readonly code: "folder.synced" | "folder.network" | "folder.memory"; readonly by: string } | null;
  readonly ports: readonly SetupPort[];
  /** Addresses of this PC that a device can call. */
  readonly addresses: readonly string[];
  readonly freePort: number;
  readonly imagingPort: number;
  /** Folders of this PC in which programs usually export. */
  readonly folders: readonly string[];
}

export interface SetupPort {
  /** The path that stays the same when the adapter is plugged in again, if there is one. */
  readonly path: string;
  readonly name: string;
  /** The device of the configuration that has the port. */
  readonly device: string | null;
}

export interface ListeningStep {
  readonly at: "listening";
  readonly line: SetupLine;
  /** Addresses for the device's settings: `192.168.1.20`. */
  readonly addresses: readonly string[];
  /** The serial settings that are listened with now. */
  readonly setting: string | null;
  /** Serial settings whose bytes made no sense, so that the device has to send again. */
  readonly unread: readonly string[];
  readonly bytes: number;
  /** The last bytes as text, control characters by name. */
  readonly shown: string;
  readonly secondsLeft: number;
  /** Why the line cannot be opened at the moment, with what to do. */
  readonly problem: string | null;
}

export interface HeardStep {
  readonly at: "heard";
  readonly line: SetupLine;
  readonly bytes: number;
  readonly shown: string;
  /** Candidates, the best first. */
  readonly candidates: readonly SetupCandidate[];
  /** Set if the first two candidates fit alike. */
  readonly tie: SetupTie | null;
  readonly profiles: readonly ProfileName[];
  /** Why the line could not be opened, with what to do. */
  readonly problem: string | null;
  /** The points to check without a candidate. */
  readonly advice: readonly SetupAdvice[];
}

export interface FolderStep {
  readonly at: "folder";
  readonly path: string;
  /** Why the folder cannot be watched; null if it can. */
  readonly problem: FolderProblem | null;
  /** The device that watches it already. */
  readonly device: string | null;
  /** The profiles of files that are there, the best first. */
  readonly candidates: readonly FolderCandidate[];
  readonly profiles: readonly ProfileName[];
}

export type FolderProblem = "relative" | "missing" | "noFolder" | "unreadable" | "readOnly" | "data" | "taken";

export interface FolderCandidate extends ProfileName {
  /** Files of the profile's kinds, those that it reads, and the results with a name of the catalogue in them. */
  readonly files: number;
  readonly read: number;
  readonly results: number;
}

export interface SetupCandidate {
  readonly profile: string;
  /** The device's name for people. */
  readonly name: string;
  readonly protocol: string;
  /** Serial settings. */
  readonly setting: string | null;
  readonly caller: string | null;
  readonly score: number;
  readonly reasons: readonly string[];
  /** The name that the device gives itself, and its place: `BM850` in `MSH-3.1`. Null without one. */
  readonly named: { readonly text: string; readonly place: string } | null;
  /** `own`: the device writes texts that no other one writes. `shared`: texts that related devices write too. */
  readonly mark: "own" | "shared" | null;
  /** Rows that the profile reads by name, of all its rows. Null without a complete message, or if it cannot read it. */
  readonly rows: { readonly read: number; readonly of: number } | null;
  /** It reads any device of its protocol. */
  readonly isGeneral: boolean;
}

/** Two candidates that fit alike, and the rows that differ. The user decides. */
export interface SetupTie {
  readonly names: readonly [string, string];
  /** The reading of a row by each of them; null if it reads no such row. */
  readonly rows: readonly { readonly name: string; readonly read: readonly [string | null, string | null] }[];
}

export interface ProfileName {
  readonly profile: string;
  readonly name: string;
}

export interface DeviceStep {
  readonly at: "device";
  readonly profile: ProfileName;
  readonly line: SetupLine;
  readonly setting: string | null;
  /** Proposed id. */
  readonly id: string;
  /** Addresses that may send, proposed from the caller. Empty for a line without callers. */
  readonly allow: readonly string[];
  readonly callers: boolean;
  readonly studies: readonly SetupStudy[];
}

/** A study as it would be filed. */
export interface SetupStudy {
  readonly device_name: string;
  readonly acquired_at: string;
  readonly hint: PatientHint;
  /** The patient's name at the clinic; null for none. */
  readonly patient: string | null;
  /** How the patient was found, or why not. */
  readonly match: string;
  readonly results: readonly LocalResult[];
}

export interface FirstStep {
  readonly at: "first";
  readonly device: string;
  readonly profile: ProfileName;
  /** The place that the device has to send to: `192.168.1.20:5600`, or a path. */
  readonly place: string;
  /** The place is a folder, and the files that it has are read by themselves. */
  readonly isFolder: boolean;
  /** The problem of the line, and what to do about it. */
  readonly problem: string | null;
  /** The newest message since the device was saved. */
  readonly message: FirstMessage | null;
  readonly profiles: readonly ProfileName[];
}

export interface FirstMessage extends CodedReason {
  readonly id: string;
  readonly state: string;
  readonly studies: readonly SetupStudy[];
  /** The profile that the message looks like; null if the chosen one fits. */
  readonly looksLike: ProfileName | null;
}

export interface SetupView {
  /** Grows with each step. An answer names the turn of its step. */
  readonly turn: number;
  readonly step: SetupStep;
  /** Whether the set-up works on the last answer. */
  readonly isBusy: boolean;
}

/** The checks for a person when the set-up heard nothing, or nothing that it knows. */
export type SetupAdvice =
  | "cable"
  | "nullModem"
  | "sendingOff"
  | "addressThere"
  | "network"
  | "firewall"
  | "deviceOff"
  | "aeTitle"
  | "speed"
  | "encryption"
  | "unknown"
  | "again";
