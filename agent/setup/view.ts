import os from "node:os";
import net from "node:net";
import type { ProfileName, SetupLine, SetupPort, SetupStep } from "../page/types/setup.ts";
import { folderRisk } from "../../shared/files/folder-place.ts";
import { type Config, DICOM } from "../config/values/schema.ts";
import { lineText } from "../devices/detection/detect.ts";
import type { Host } from "../host.ts";
import { readSpool } from "../spool/access.ts";
import { readStatus } from "../spool/queries/status.ts";
import { listPorts } from "../transport/serial-ports.ts";
import { allProfiles } from "../devices/index.ts";
import { adviceFor } from "./advice.ts";
import { analyzerNames, candidatesOf, nameOf, shownBytes, tieOf } from "./candidates.ts";
import { likelyFolders } from "./folder.ts";
import type { Listening } from "./listening.ts";
import { firstMessage, studiesIn } from "./preview.ts";
import { type At, deviceOf, freeId, type State, usesLine } from "./steps.ts";

// Describes a state of the set-up as the step that people see, with what this PC knows: its ports, addresses and messages.

interface Surroundings {
  readonly config: Config | null;
  readonly host: Host;
  /** Set while the set-up listens. */
  readonly listening: Listening | null;
}

export async function describeStep(state: State, around: Surroundings): Promise<SetupStep> {
  switch (state.at) {
    case "server":
      return { at: "server", name: os.hostname() };
    case "place": {
      const { clinic, warnings } = state.server;
      const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
      // systemd names the state folder of a service; elsewhere data is in the configuration's folder.
      const data = process.env["STATE_DIRECTORY"] ?? "data";
      return { at: "place", clinic, warnings, timeZone, data };
    }
    case "line":
      return describeLine(around.config);
    case "listening":
      return describeListening(state.line, around.listening);
    case "heard": {
      const { line, heard, problem } = state;
      const found = candidatesOf(heard);
      const candidates = found.map(({ shown }) => shown);
      const advice = candidates.length > 0 || problem !== null ? [] : adviceFor(line, heard.length === 0);
      const takesImages = line.kind === "listen" || line.kind === "imaging";
      const profiles = takesImages ? [...analyzerNames(), nameOf(DICOM)] : analyzerNames();
      return { at: "heard", line, ...shownBytes(heard), candidates, tie: tieOf(found), profiles, problem, advice };
    }
    case "folder":
      return describeFolder(state);
    case "device":
      return describeDevice(state, around.config);
    case "first":
      return describeFirst(state, around);
  }
}

/** First port in the search for free ones, above the ports that systems give to outgoing connections. */
const PORT_MIN = 5600;
const IMAGING_PORT_MIN = 11_112;
const PORTS_MAX = 100;

async function describeLine(config: Config | null): Promise<At<"line"> & SetupStep> {
  const ports = await listPorts();
  const shown = ports.map(({ path, by_id, vendor, serial_number }): SetupPort => {
    const stable = by_id ?? path;
    const known = config?.devices.find(
      (device) => usesLine(device, { kind: "serial", path }) || usesLine(device, { kind: "serial", path: stable }),
    );
    const name = [vendor, serial_number, path].filter((part) => part !== null).join(", ");
    return { path: stable, name, device: known?.id ?? null };
  });
  const [freePort, imagingPort] = [await freeFrom(PORT_MIN), await freeFrom(IMAGING_PORT_MIN)];
  const folder = config === null ? null : folderRisk(config.data);
  const addresses = ownAddresses();
  return { at: "line", folder, ports: shown, addresses, freePort, imagingPort, folders: likelyFolders() };
}

function describeFolder({ line, problem, device, found }: At<"folder">): SetupStep {
  const candidates = found
    .filter(({ read }) => read > 0)
    .map(({ profile, files, read, results }) => {
      return { ...nameOf(profile), files, read, results };
    });
  return { at: "folder", path: line.path, problem, device, candidates, profiles: fileProfiles() };
}

/** Returns the first port that no program listens on. */
async function freeFrom(first: number): Promise<number> {
  for (let port = first; port < first + PORTS_MAX; port++) if (await isFree(port)) return port;
  return first;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "0.0.0.0", () => server.close(() => resolve(true)));
  });
}

/** The addresses by which devices reach this PC; its own alone if it has no network. */
function ownAddresses(): string[] {
  const all = Object.values(os.networkInterfaces()).flatMap((of) => of ?? []);
  const outer = all.filter(({ family, internal }) => family === "IPv4" && !internal).map(({ address }) => address);
  return outer.length > 0 ? outer : ["127.0.0.1"];
}

/** Returns the networks of this PC, where a device without a known address probably is. */
function ownNetworks(): string[] {
  const all = Object.values(os.networkInterfaces()).flatMap((of) => of ?? []);
  return all.flatMap(({ family, internal, address, cidr }) => {
    if (family !== "IPv4" || internal || cidr === null) return [];
    return [`${address.split(".").slice(0, 3).join(".")}.0/24`];
  });
}

function describeListening(line: SetupLine, listening: Listening | null): SetupStep {
  const setting = listening?.setting ?? null;
  return {
    at: "listening",
    line,
    addresses: ownAddresses(),
    setting: setting === null ? null : lineText(setting),
    unread: (listening?.unread ?? []).map(lineText),
    ...shownBytes(listening?.heard ?? []),
    secondsLeft: listening?.secondsLeft ?? 0,
    problem: listening?.problem ?? null,
  };
}

async function describeDevice(state: At<"device">, config: Config | null): Promise<SetupStep> {
  const { before, profile, candidate } = state;
  const id = freeId(profile, config);
  const callers = before.line.kind === "listen" || before.line.kind === "imaging";
  const caller = candidate?.shown.caller ?? null;
  const allow = !callers ? [] : caller === null ? ownNetworks() : [caller];
  const studies =
    config === null || candidate === null || profile === DICOM
      ? []
      : await studiesIn(candidate.bytes, deviceOf(state, id, allow), config);
  const setting = candidate?.shown.setting ?? null;
  return { at: "device", profile: nameOf(profile), line: before.line, setting, id, allow, callers, studies };
}

async function describeFirst({ device, since }: At<"first">, { config, host }: Surroundings): Promise<SetupStep> {
  const configured = config?.devices.find(({ id }) => id === device);
  if (config === null || configured === undefined) {
    const problem = `the device ${device} is gone from agent.yaml: add it again`;
    return {
      at: "first",
      device,
      profile: nameOf(""),
      place: "",
      isFolder: false,
      problem,
      message: null,
      profiles: [],
    };
  }
  const { listen, dial, serial, folder } = configured.connection;
  const port = listen?.slice(listen.lastIndexOf(":")) ?? "";
  const addresses = listen?.startsWith("127.") ? ["127.0.0.1"] : ownAddresses();
  const place =
    listen === undefined ? (serial?.path ?? dial ?? folder ?? "") : addresses.map((own) => own + port).join(", ");
  const message = await firstMessage(configured, since, config);
  const status =
    host.agent === null
      ? undefined
      : readSpool(config.data, (db) => readStatus(db, config.data)).devices.find(({ id }) => id === device);
  const noise = status?.noise ?? null;
  const foreign =
    noise === null || message !== null
      ? null
      : `${noise.bytes} bytes came that this profile does not read${noise.protocol === null ? "" : `, they look like ${noise.protocol}`}: choose another profile, or compare the device's settings`;
  return {
    at: "first",
    device,
    profile: nameOf(configured.profile),
    place,
    isFolder: folder !== undefined,
    problem: status?.reason ?? foreign,
    message,
    profiles: folder === undefined ? profilesOfLine(configured.profile) : fileProfiles(),
  };
}

/** No other profile serves a device of DICOM. */
function profilesOfLine(profile: string): readonly ProfileName[] {
  return profile === DICOM ? [] : analyzerNames();
}

function fileProfiles(): ProfileName[] {
  const found = allProfiles().filter((each) => each.protocol === "file" && each.content === "results");
  return found.map(({ id }) => nameOf(id));
}
