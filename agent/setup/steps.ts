import type { SetupAnswer, SetupLine } from "../page/types/setup.ts";
import { firstConfiguration, withDevice, withProfile } from "../config/edit.ts";
import { type Config, type DeviceConfig, DICOM } from "../config/values/schema.ts";
import { aeTitlesIn } from "../devices/detection/protocol-marks.ts";
import { profileById } from "../devices/index.ts";
import { parseAddress } from "../transport/address.ts";
import { isLoopback } from "../../shared/network/network-address.ts";
import { type Candidate, candidatesOf, misfit } from "./candidates.ts";
import type { FolderLine, WatchedFolder } from "./folder.ts";
import type { HeardBytes } from "./listening.ts";

// The steps of the set-up as data: `next` maps a state and an answer to the next step. It does no I/O; setup.ts carries the work
// out.

export type State =
  | { readonly at: "server" }
  | { readonly at: "place"; readonly server: KnownServer }
  | { readonly at: "line" }
  | { readonly at: "listening"; readonly line: SetupLine }
  | Heard
  | Folder
  | {
      readonly at: "device";
      readonly before: Heard | Folder;
      readonly profile: string;
      readonly candidate: Candidate | null;
    }
  /** The agent serves the new device; its first message is awaited. */
  | { readonly at: "first"; readonly device: string; readonly since: number };

interface Heard {
  readonly at: "heard";
  readonly line: SetupLine;
  readonly heard: readonly HeardBytes[];
  /** Why the line could not be opened. */
  readonly problem: string | null;
}

/** A folder in place of a line: nothing is listened for. */
interface Folder extends WatchedFolder {
  readonly at: "folder";
  readonly line: FolderLine;
}

export interface KnownServer {
  readonly url: string;
  readonly keyFile: string;
  readonly pin?: string | undefined;
  readonly clinic: string | null;
  readonly warnings: readonly string[];
}

/** Work that a shell carries out before the next state. */
export type Work =
  | { readonly do: "pair"; readonly url: string; readonly code: string; readonly name: string }
  | { readonly do: "apply"; readonly text: string; readonly enter: State }
  | { readonly do: "look at folder"; readonly line: FolderLine }
  /** Applies the text, and reads the device's first messages again. */
  | { readonly do: "change profile"; readonly text: string; readonly device: string; readonly since: number };

export type Next = { readonly to: State } | { readonly work: Work } | { readonly fault: string };

/** The facts, in addition to the state, that decide the next step. */
export interface Facts {
  /** The text of agent.yaml, and its checked content; null before the first configuration. */
  readonly text: string | null;
  readonly config: Config | null;
  readonly now: number;
  /** The address of the agent's page. */
  readonly page: string;
  /** Checks a configuration. @returns its problems as sentences */
  readonly check: (text: string) => readonly string[];
}

const AE_TITLE = "VETWIRE";

export function startState({ config }: Pick<Facts, "config">): State {
  return config === null ? { at: "server" } : { at: "line" };
}

/** Returns the next state, the work, or a fault with its remedy. */
export function next(state: State, answer: SetupAnswer, facts: Facts): Next {
  if (answer.to === "back") return back(state, facts);
  if (answer.to === "server" && state.at === "server") return serverNext(answer, facts);
  if (answer.to === "place" && state.at === "place") return placeNext(state.server, answer, facts);
  if (answer.to === "line" && state.at === "line") return lineNext(answer.line, facts);
  // The end of the listening leads on.
  if (answer.to === "listening" && state.at === "listening") return { to: state };
  if (answer.to === "heard" && state.at === "heard") return heardNext(state, answer);
  if (answer.to === "folder" && state.at === "folder") return folderNext(state, answer);
  if (answer.to === "device" && state.at === "device") return deviceNext(state, answer, facts);
  if (answer.to === "first" && state.at === "first") return firstNext(state, answer, facts);
  return { fault: "the set-up went on meanwhile: look at the step that it shows now" };
}

type Answer<Step extends SetupAnswer["to"]> = Extract<SetupAnswer, { readonly to: Step }>;
export type At<Step extends State["at"]> = Extract<State, { readonly at: Step }>;

function back(state: State, facts: Facts): Next {
  switch (state.at) {
    case "place":
      return { to: { at: "server" } };
    case "heard":
    case "folder":
    case "listening":
      return { to: { at: "line" } };
    case "device":
      return { to: state.before };
    case "server":
    case "line":
    case "first":
      return { to: startState(facts) };
  }
}

function serverNext(answer: Answer<"server">, { check, page }: Facts): Next {
  const url = answer.url.trim();
  if (!/^https?:\/\/./.test(url)) {
    const fault = `the server's address is "${url}": copy the address that opens the dashboard, such as https://vetwire.example.com`;
    return { fault };
  }
  if ("code" in answer) return { work: { do: "pair", url, code: answer.code, name: answer.name } };
  const keyFile = answer.keyFile.trim();
  const [problem] = check(firstConfiguration({ url, keyFile, data: "data", timeZone: "UTC", listen: page }));
  return problem === undefined
    ? { to: { at: "place", server: { url, keyFile, clinic: null, warnings: [] } } }
    : { fault: `${problem}: save the key of the dashboard in that file, as one line` };
}

function placeNext({ url, keyFile, pin }: KnownServer, answer: Answer<"place">, { check, page }: Facts): Next {
  const [timeZone, data] = [answer.timeZone.trim(), answer.data.trim()];
  const text = firstConfiguration({ url, keyFile, pin, data, timeZone, listen: page });
  const [problem] = check(text);
  return problem === undefined ? { work: { do: "apply", text, enter: { at: "line" } } } : { fault: problem };
}

function lineNext(line: SetupLine, { config }: Facts): Next {
  if (line.kind === "folder") return { work: { do: "look at folder", line: { ...line, path: line.path.trim() } } };
  const taken = config?.devices.find((device) => usesLine(device, line));
  if (taken !== undefined) {
    return { fault: `${placeOf(line)} belongs to the device ${taken.id}: choose another one for a new device` };
  }
  if (line.kind === "dial" && parseAddress(line.address) === null) {
    return { fault: `the device's address is "${line.address}": type address and port, such as 192.168.1.50:5500` };
  }
  return { to: { at: "listening", line } };
}

export function usesLine({ connection: { serial, listen } }: DeviceConfig, line: SetupLine): boolean {
  if (line.kind === "serial") return serial?.path === line.path;
  if (line.kind === "folder" || line.kind === "dial") return false;
  return listen !== undefined && parseAddress(listen)?.port === line.port;
}

function placeOf(line: Exclude<SetupLine, FolderLine>): string {
  return line.kind === "serial" ? line.path : line.kind === "dial" ? line.address : `port ${line.port}`;
}

function heardNext(state: Heard, answer: Answer<"heard">): Next {
  if ("again" in answer) return { to: { at: "listening", line: state.line } };
  const { profile } = answer;
  const candidates = candidatesOf(state.heard);
  if (profile !== DICOM && profileById(profile) === undefined) {
    return { fault: `${profile} is not a profile: choose one of the list` };
  }
  const doubt = answer.anyway ? null : misfit(profile, candidates);
  if (doubt !== null) return { fault: doubt };
  // The serial settings and the caller hold for any profile that the user insists on.
  const candidate = candidates[answer.candidate] ?? candidates.find(({ shown }) => shown.profile === profile);
  return { to: { at: "device", before: state, profile, candidate: candidate ?? candidates[0] ?? null } };
}

function folderNext(state: Folder, { profile }: Answer<"folder">): Next {
  const known = profileById(profile);
  if (known?.protocol !== "file" || state.problem !== null) {
    return { fault: `${profile} reads no files of this folder: choose one of the list` };
  }
  return { to: { at: "device", before: state, profile, candidate: null } };
}

function deviceNext(state: At<"device">, answer: Answer<"device">, { text, now, check, config }: Facts): Next {
  if (text === null) return { fault: "agent.yaml is gone: start the set-up again" };
  const id = answer.id.trim();
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(id)) {
    return { fault: `the name is "${id}": use small letters, digits and dashes, such as chem-1` };
  }
  if (config?.devices.some((device) => device.id === id) === true) {
    return { fault: `another device has the name ${id}: choose a different one` };
  }
  const allow = answer.allow.map((network) => network.trim()).filter((network) => network !== "");
  const device = deviceOf(state, id, allow);
  if (device.connection.listen !== undefined && allow.length === 0) {
    const fault = "no address may send: type the device's address, or its network such as 192.168.1.0/24";
    return { fault };
  }
  const edited = withDevice(text, device);
  const [problem] = check(edited);
  if (problem !== undefined) return { fault: problem };
  return { work: { do: "apply", text: edited, enter: { at: "first", device: id, since: now } } };
}

/** Makes the device's part of agent.yaml. */
export function deviceOf(state: At<"device">, id: string, allow: readonly string[]): DeviceConfig {
  const { before, profile, candidate } = state;
  const { line } = before;
  if (line.kind === "serial") {
    return { id, profile, connection: { serial: { path: line.path, ...candidate?.serial } } };
  }
  if (line.kind === "dial") return { id, profile, connection: { dial: line.address } };
  if (line.kind === "folder") {
    return { id, profile, connection: { folder: line.path, ...(line.leave ? { leave: true } : {}) } };
  }
  // If all callers are programs of this PC, the listener is not opened to the network.
  const host = allow.length > 0 && allow.every(isLoopback) ? "127.0.0.1" : "0.0.0.0";
  const device = { id, profile, connection: { listen: `${host}:${line.port}` }, allow: [...allow] };
  if (profile !== DICOM) return device;
  const { called, calling } = aeTitlesIn(String.fromCharCode(...(candidate?.bytes.subarray(0, 42) ?? [])));
  return {
    ...device,
    aeTitle: called === "" ? AE_TITLE : called,
    ...(calling === "" ? {} : { callingAeTitles: [calling] }),
  };
}

function firstNext({ device, since }: At<"first">, answer: Answer<"first">, { text, config }: Facts): Next {
  if ("next" in answer) return { to: { at: "line" } };
  const configured = config?.devices.find(({ id }) => id === device);
  if (text === null || configured === undefined) return { fault: `the device ${device} is gone: add it again` };
  if (profileById(answer.profile) === undefined)
    return { fault: `${answer.profile} is not a profile: choose one of the list` };
  return { work: { do: "change profile", text: withProfile(text, device, answer.profile), device, since } };
}

/** Returns a name for a new device that no other one has. */
export function freeId(profile: string, config: Config | null): string {
  const analyzer = profile.startsWith("generic-") ? "analyzer" : profile;
  const stem = profile === DICOM ? "imaging" : analyzer;
  const taken = new Set(config?.devices.map(({ id }) => id));
  for (let number = 1; ; number++) if (!taken.has(`${stem}-${number}`)) return `${stem}-${number}`;
}
