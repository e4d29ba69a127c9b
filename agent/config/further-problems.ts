import fs from "node:fs";
import path from "node:path";
import { profileById, usable } from "../devices/index.ts";
import type { OwnProfiles } from "../devices/own/own-profiles.ts";
import { isOwn } from "../devices/own/reference.ts";
import { endpointProblem, hostStyleProblem } from "../imaging/archive/s3/object-target.ts";
import { parseAddress } from "../transport/address.ts";
import { deviceProblems, type ProfileLookup } from "./device-problems.ts";
import { dotted } from "../runtime/yaml-lines.ts";
import type { LocatedProblem } from "./line-numbers.ts";
import { networkProblems } from "./network.ts";
import { asArray, asObject, contentProblem, type ReportProblem, reportZone } from "./values/problem-report.ts";
import { RESULT_KEYS, resultDestinationProblems } from "./values/read-result-destination.ts";
import { readSecret } from "./values/secret-file.ts";
import { sentFileProblem } from "./values/sent-file.ts";
import { tlsProblem } from "./values/tls-files.ts";

/**
 * Finds problems that the schema cannot express: names, addresses, files. Skips values of a wrong type. `own` are the profiles of
 * the data folder that the configuration names.
 */
export function furtherProblems(raw: unknown, folder: string, own: OwnProfiles): LocatedProblem[] {
  const found: LocatedProblem[] = [];
  const root = asObject(raw);
  const report: ReportProblem = (steps, message, code) => {
    found.push({ steps, message: `${dotted(steps)} ${message}`, ...(code && { code }) });
  };
  reportZone(root["timeZone"], ["timeZone"], report);
  const keyFile = asObject(root["server"])["keyFile"];
  if (typeof keyFile === "string" && keyFile !== "") {
    const outside = sentFileProblem(keyFile, folder);
    const problem = outside ?? contentProblem(path.resolve(folder, keyFile), readKey);
    if (problem !== null) report(["server", "keyFile"], problem, outside === null ? "KEY.MISSING" : undefined);
  }
  const { url, pin } = asObject(root["server"]);
  if (typeof pin === "string" && typeof url === "string" && url.startsWith("http://")) {
    report(["server", "pin"], `needs a url that begins with https://, got ${url}: pair again, or remove the pin`);
  }
  const listeners = new Map<string, string>();
  const listener: ReportProblem = (steps, value) => {
    const address = parseAddress(value);
    if (address === null) return report(steps, `is "${value}", expected host:port such as 127.0.0.1:2575`);
    const other = listeners.get(String(address.port));
    if (other !== undefined && address.port !== 0)
      report(steps, `is ${value}, but ${other} listens on that port already`);
    listeners.set(String(address.port), dotted(steps));
  };
  const status = asObject(root["status"])["listen"];
  if (typeof status === "string") listener(["status", "listen"], status);
  const profileOf: ProfileLookup = (id) => (isOwn(id) ? usable(own.read(id)) : profileById(id));
  const ids = new Map<string, number>();
  for (const [index, value] of asArray(root["devices"]).entries()) {
    const at = ["devices", String(index)];
    const device = asObject(value);
    const { id } = device;
    if (typeof id === "string") {
      const first = ids.get(id);
      if (first !== undefined) report([...at, "id"], `is ${id}, which devices[${first}] has already`);
      ids.set(id, first ?? index);
    }
    deviceProblems(device, at, folder, report, listener, profileOf);
  }
  destinationProblems(root["destinations"], folder, report);
  networkProblems(root, folder, report);
  return found;
}

function destinationProblems(destinations: unknown, folder: string, report: ReportProblem): void {
  const destinationIds: unknown[] = [];
  for (const [index, value] of asArray(destinations).entries()) {
    const at = ["destinations", String(index)];
    const destination = asObject(value);
    const { id } = destination;
    const first = destinationIds.indexOf(id);
    if (typeof id === "string" && first >= 0)
      report([...at, "id"], `is ${id}, which destinations[${first}] has already`);
    destinationIds.push(id);
    if ("kind" in destination) resultDestinationProblems(destination, at, folder, report);
    else wayProblems(destination, at, folder, report);
  }
}

/** The keys of each way to an archive. */
const WAYS = {
  dial: ["aeTitle", "callingAeTitle"],
  stow: ["authorizationFile"],
  s3: [],
} as const satisfies Record<string, readonly string[]>;

function wayProblems(
  destination: Record<string, unknown>,
  at: readonly string[],
  folder: string,
  report: ReportProblem,
): void {
  const ways = Object.keys(WAYS).filter((way) => way in destination);
  const keysOfResults = RESULT_KEYS.filter((key) => key in destination);
  for (const key of keysOfResults)
    report([...at, key], "belongs to destinations of results: add kind: hl7 or kind: csv");
  if (ways.length === 0 && keysOfResults.length === 0) report(at, "has none of dial, stow and s3, expected one");
  if (ways.length > 1) report(at, `has ${ways.join(" and ")}, expected one`);
  for (const [way, keys] of Object.entries(WAYS)) {
    if (ways.includes(way)) continue;
    for (const key of keys) {
      if (key in destination) report([...at, key], `belongs to destinations with ${way}`);
    }
  }
  const { dial, authorizationFile, s3 } = destination;
  if ("dial" in destination && !("aeTitle" in destination) && keysOfResults.length === 0) {
    report(at, "has no aeTitle, which C-STORE needs");
  }
  if (typeof dial === "string" && parseAddress(dial) === null) {
    report([...at, "dial"], `is "${dial}", expected host:port such as 192.168.1.10:104`);
  }
  fileProblem(authorizationFile, [...at, "authorizationFile"], folder, report, readAuthorization);
  bucketProblems(asObject(s3), [...at, "s3"], folder, report);
}

function bucketProblems(
  bucket: Record<string, unknown>,
  at: readonly string[],
  folder: string,
  report: ReportProblem,
): void {
  const { endpoint, bucket: name, encryption, pathStyle, secretFile, ca } = bucket;
  const problem = typeof endpoint === "string" ? endpointProblem(endpoint) : null;
  if (problem !== null) report([...at, "endpoint"], problem);
  if (pathStyle === false) {
    const fault = hostStyleProblem(String(endpoint), String(name));
    if (fault !== null) report([...at, "pathStyle"], fault);
  }
  if ("kmsKeyId" in bucket && encryption !== "aws:kms") {
    report([...at, "kmsKeyId"], "needs encryption: aws:kms");
  }
  fileProblem(secretFile, [...at, "secretFile"], folder, report);
  const fault = typeof ca === "string" ? tlsProblem({ ca }, false, folder) : null;
  if (fault !== null) report([...at, "ca"], fault);
}

function fileProblem(
  file: unknown,
  at: readonly string[],
  folder: string,
  report: ReportProblem,
  read: (file: string) => unknown = fs.accessSync,
): void {
  if (typeof file !== "string" || file === "") return;
  const problem = sentFileProblem(file, folder) ?? contentProblem(path.resolve(folder, file), read);
  if (problem !== null) report(at, problem);
}

/** The agent's key opens the clinic's results, and no archive may get it. */
function readAuthorization(file: string): void {
  if (!readSecret(file).includes("sk_live_")) return;
  throw new Error("it holds an API key of Vetwire, expected what the archive asks for");
}

function readKey(file: string): void {
  if (!readSecret(file).startsWith("sk_live_")) throw new Error("it holds no API key (one line that begins sk_live_)");
}
