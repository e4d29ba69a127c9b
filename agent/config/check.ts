import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import type { Static } from "typebox";
import { Compile } from "typebox/compile";
import { LineCounter, parseDocument } from "yaml";
import { problems } from "../../shared/api/problems.ts";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import { parseAddress } from "../transport/address.ts";
import { CHARSETS as ASTM_CHARSETS } from "../protocols/astm/records.ts";
import type { Destination } from "./destination.ts";
import type { ImageLimits } from "./image-limits.ts";
import { profileById, profiles } from "../devices/index.ts";
import { CHARSETS as HL7_CHARSETS } from "../protocols/hl7/message.ts";
import { nearestWord } from "../runtime/did-you-mean.ts";
import { dotted, lineAt, locate, type Located } from "./line-numbers.ts";
import { readOperators } from "./operator-list.ts";
import type { DestinationConfig, Images } from "./schema.ts";
import { type Config, DICOM, DICOM_KEYS, type Raw, Schema } from "./schema.ts";
import { readSecret } from "./secret-file.ts";
import { tlsIn, tlsProblem } from "./tls-files.ts";

// agent.yaml: one schema is type, defaults and checks. Every problem is found in one go, each with its line.

interface ConfigProblem {
  readonly line: number;
  readonly message: string;
}

/** One answer for the whole file: the config, or every problem in the order of the lines. */
export type ConfigResult = { readonly config: Config } | { readonly problems: readonly ConfigProblem[] };

const validator = Compile(Schema);

/** Checks a configuration's text; relative paths in it are relative to `folder`. */
export function checkConfig(text: string, folder: string): ConfigResult {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const found: ConfigProblem[] = document.errors.map(({ pos, message }) => ({
    line: lines.linePos(pos[0]).line,
    message: message.split("\n")[0]!.replace(/ at line .*$/, ""),
  }));
  if (found.length > 0) return { problems: found };

  const raw: unknown = document.toJS();
  const lineOf = (steps: readonly string[]) => lineAt(document.contents, steps, lines);
  for (const sentence of problems(validator, raw)) {
    const { steps, message } = locate(sentence);
    found.push({ line: lineOf(steps), message });
  }
  for (const { steps, message } of furtherProblems(raw, folder)) found.push({ line: lineOf(steps), message });
  if (found.length > 0) return { problems: found.toSorted((a, b) => a.line - b.line) };

  const valid = raw as Raw;
  const inFolder = (name: string) => path.resolve(folder, name);
  return {
    config: {
      ...valid,
      data: inFolder(valid.data),
      server: { ...valid.server, keyFile: inFolder(valid.server.keyFile) },
      devices: valid.devices.map((device) => ({
        ...device,
        ...(device.tls === undefined ? {} : { tls: tlsIn(folder, device.tls) }),
        ...(device.operatorListFile === undefined ? {} : { operatorListFile: inFolder(device.operatorListFile) }),
      })),
      status: valid.status === undefined ? null : parseAddress(valid.status.listen),
      destinations: (valid.destinations ?? []).map((destination) => asDestination(destination, inFolder)),
      images: asLimits(valid.images ?? {}),
    },
  };
}

function asLimits({ retainDays, maxGigabytes, minFreeGigabytes }: Static<typeof Images>): ImageLimits {
  return {
    keepMs: retainDays === undefined ? null : retainDays * 24 * 60 * 60_000,
    bytesMax: maxGigabytes === undefined ? null : maxGigabytes * 1e9,
    freeBytes: minFreeGigabytes === undefined ? null : minFreeGigabytes * 1e9,
  };
}

function asDestination(
  { id, dial, aeTitle = "", callingAeTitle = "VETWIRE", stow, authorizationFile }: Static<typeof DestinationConfig>,
  inFolder: (name: string) => string,
): Destination {
  if (stow !== undefined) {
    const file = authorizationFile === undefined ? null : inFolder(authorizationFile);
    return { id, way: "stow", url: stow, authorizationFile: file };
  }
  const address = parseAddress(dial ?? "");
  if (address === null) throw new Error("a destination without an address: the configuration was not checked");
  return { id, way: "store", address, aeTitle, callingAeTitle };
}

type Say = (steps: readonly string[], message: string) => void;

/** Finds problems that the schema cannot express: names, addresses, files. Skips values of a wrong type. */
function furtherProblems(raw: unknown, folder: string): Located[] {
  const found: Located[] = [];
  const root = asObject(raw);
  const say: Say = (steps, message) => {
    found.push({ steps, message: `${dotted(steps)} ${message}` });
  };
  zoneProblem(root["timeZone"], ["timeZone"], say);
  const keyFile = asObject(root["server"])["keyFile"];
  if (typeof keyFile === "string" && keyFile !== "") {
    const problem = keyProblem(path.resolve(folder, keyFile));
    if (problem !== null) say(["server", "keyFile"], problem);
  }
  const listeners = new Map<string, string>();
  const listener: Say = (steps, value) => {
    const address = parseAddress(value);
    if (address === null) return say(steps, `is "${value}", expected host:port such as 127.0.0.1:2575`);
    const taken = listeners.get(String(address.port));
    if (taken !== undefined && address.port !== 0) say(steps, `is ${value}, but ${taken} listens on that port already`);
    listeners.set(String(address.port), dotted(steps));
  };
  const status = asObject(root["status"])["listen"];
  if (typeof status === "string") listener(["status", "listen"], status);
  const ids = new Map<string, number>();
  for (const [index, value] of asArray(root["devices"]).entries()) {
    const at = ["devices", String(index)];
    const device = asObject(value);
    const { id } = device;
    if (typeof id === "string") {
      const first = ids.get(id);
      if (first !== undefined) say([...at, "id"], `is ${id}, which devices[${first}] has already`);
      ids.set(id, first ?? index);
    }
    profileProblems(device, at, say);
    connectionProblems(device, at, say, listener);
    fileProblems(device, at, folder, say);
  }
  destinationProblems(root["destinations"], folder, say);
  return found;
}

function zoneProblem(value: unknown, steps: readonly string[], say: Say): void {
  if (typeof value === "string" && !isTimeZone(value)) {
    say(steps, `is "${value}", expected an IANA time zone such as Europe/Istanbul`);
  }
}

/** The profile, and what belongs to some profiles alone. */
function profileProblems(device: Record<string, unknown>, at: readonly string[], say: Say): void {
  const { profile, charset } = device;
  if (typeof profile === "string" && profile !== DICOM && profileById(profile) === undefined) {
    const names = [...profiles.map((known) => known.id), DICOM];
    const nearest = nearestWord(profile, names);
    say(
      [...at, "profile"],
      `is ${profile}, ${nearest === null ? `expected one of ${names.join(", ")}` : `did you mean ${nearest}?`}`,
    );
  }
  zoneProblem(device["timeZone"], [...at, "timeZone"], say);
  const protocol = typeof profile === "string" ? profileById(profile)?.protocol : undefined;
  const charsets: readonly string[] = protocol === "hl7" ? HL7_CHARSETS : ASTM_CHARSETS;
  if (typeof charset === "string" && protocol !== undefined && !charsets.includes(charset)) {
    say([...at, "charset"], `is ${charset}, expected one of ${charsets.join(", ")} for profile ${String(profile)}`);
  }
  if (device["ackMode"] !== undefined && (profile === DICOM || (protocol !== undefined && protocol !== "hl7"))) {
    say([...at, "ackMode"], `is for HL7 devices, profile ${String(profile)} is not HL7`);
  }
  for (const key of DICOM_KEYS) {
    if (key in device && profile !== DICOM) say([...at, key], `belongs to devices with the profile ${DICOM}`);
  }
}

/** Where the device is reached, and who may call. */
function connectionProblems(device: Record<string, unknown>, at: readonly string[], say: Say, listener: Say): void {
  const { profile, commitmentScp } = device;
  const connection = asObject(device["connection"]);
  const tcp = ({ listen, dial }: Record<string, unknown>, steps: readonly string[]) => {
    if (typeof listen === "string") listener([...steps, "listen"], listen);
    if (typeof dial === "string" && parseAddress(dial) === null) {
      say([...steps, "dial"], `is "${dial}", expected host:port such as 192.168.1.50:5500`);
    }
  };
  for (const [position, network] of asArray(device["allow"]).entries()) {
    if (typeof network === "string" && !isNetwork(network)) {
      say([...at, "allow", String(position)], `is "${network}", expected an address or network such as 192.168.1.0/24`);
    }
  }
  const ways = ["serial", "listen", "dial"].filter((way) => way in connection);
  if (device["connection"] !== undefined && ways.length !== 1) {
    say(
      [...at, "connection"],
      `has ${ways.length === 0 ? "none" : ways.join(" and ")}, expected exactly one of serial, listen, dial`,
    );
  }
  tcp(connection, [...at, "connection"]);
  if (profile === DICOM && ways.length === 1 && !("listen" in connection)) {
    say([...at, "connection"], `has ${ways[0]}, but a DICOM device is listened to: expected listen`);
  }
  if (typeof commitmentScp === "string" && parseAddress(commitmentScp) === null) {
    say([...at, "commitmentScp"], `is "${commitmentScp}", expected host:port such as 192.168.1.60:104`);
  }
  if (!("replyConnection" in connection)) return;
  const replies = asObject(connection["replyConnection"]);
  const place = [...at, "connection", "replyConnection"];
  if ("serial" in connection) say(place, "is for TCP: a serial line is answered on itself");
  if (profile === DICOM) say(place, "is for HL7: a DICOM device is answered on its own association");
  if ("listen" in replies === "dial" in replies) say(place, "has none or both, expected exactly one of listen, dial");
  tcp(replies, place);
}

function fileProblems(device: Record<string, unknown>, at: readonly string[], folder: string, say: Say): void {
  const { profile, operatorListFile: operators } = device;
  if (typeof operators === "string" && operators !== "") {
    const known = typeof profile === "string" ? profileById(profile) : undefined;
    const problem = operatorsProblem(path.resolve(folder, operators), known?.protocol === "poct1a");
    if (problem !== null) say([...at, "operatorListFile"], problem);
  }
  if ("tls" in device) {
    const connection = asObject(device["connection"]);
    const listens = [connection, asObject(connection["replyConnection"])].some((way) => "listen" in way);
    const problem = "serial" in connection ? "is for TCP" : tlsProblem(asObject(device["tls"]), listens, folder);
    if (problem !== null) say([...at, "tls"], problem);
  }
}

function destinationProblems(destinations: unknown, folder: string, say: Say): void {
  const destinationIds: unknown[] = [];
  for (const [index, value] of asArray(destinations).entries()) {
    const at = ["destinations", String(index)];
    const destination = asObject(value);
    const { id, dial } = destination;
    const first = destinationIds.indexOf(id);
    if (typeof id === "string" && first >= 0) say([...at, "id"], `is ${id}, which destinations[${first}] has already`);
    destinationIds.push(id);
    if ("dial" in destination === "stow" in destination) {
      say(at, `has ${"dial" in destination ? "both dial and stow" : "neither dial nor stow"}, expected one`);
    }
    const strangers = "stow" in destination ? ["aeTitle", "callingAeTitle"] : ["authorizationFile"];
    for (const key of strangers) {
      if (key in destination)
        say([...at, key], `belongs to destinations with ${"stow" in destination ? "dial" : "stow"}`);
    }
    if ("dial" in destination && !("aeTitle" in destination)) say(at, "has no aeTitle, which C-STORE needs");
    if (typeof dial === "string" && parseAddress(dial) === null) {
      say([...at, "dial"], `is "${dial}", expected host:port such as 192.168.1.10:104`);
    }
    const file = destination["authorizationFile"];
    if (typeof file === "string" && !fs.existsSync(path.resolve(folder, file))) {
      say([...at, "authorizationFile"], `names ${path.resolve(folder, file)}, which is not there`);
    }
  }
}

function keyProblem(file: string): string | null {
  try {
    const key = readSecret(file);
    return key.startsWith("sk_live_") ? null : `names ${file}, which holds no API key (one line that begins sk_live_)`;
  } catch (error) {
    return `names ${file}, which cannot be read: ${errorMessage(error)}`;
  }
}

function operatorsProblem(file: string, takesThem: boolean): string | null {
  if (!takesThem) return "is for devices that speak POCT1-A";
  try {
    readOperators(file);
    return null;
  } catch (error) {
    return `names ${file}, which cannot be used: ${errorMessage(error)}`;
  }
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

function isNetwork(text: string): boolean {
  const [address = "", prefix, ...rest] = text.split("/");
  const version = net.isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
