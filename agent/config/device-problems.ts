import net from "node:net";
import path from "node:path";
import { profiles } from "../devices/index.ts";
import { isOwn, parseReference } from "../devices/own/reference.ts";
import type { Profile } from "../devices/profile.ts";
import { CHARSETS as ASTM_CHARSETS } from "../protocols/astm/records.ts";
import { CHARSETS as HL7_CHARSETS } from "../protocols/hl7/message/charset.ts";
import { foldNumber } from "../report/control.ts";
import { nearestWord } from "../runtime/did-you-mean.ts";
import { parseAddress } from "../transport/address.ts";
import { codeProblems, panelProblems } from "./code-problems.ts";
import { readOperators } from "./values/operator-list.ts";
import { asArray, asObject, contentProblem, type ReportProblem, reportZone } from "./values/problem-report.ts";
import { ANALYZER_KEYS, DICOM, DICOM_KEYS } from "./values/schema.ts";
import { sentFileProblem } from "./values/sent-file.ts";
import { tlsProblem } from "./values/tls-files.ts";

/** Finds a shipped profile, or an own one of the data folder that the configuration names; undefined for an unknown one. */
export type ProfileLookup = (id: string) => Profile | undefined;

/** Finds the problems of one device that the schema cannot express. `listener` reports the problems of an address to listen on. */
export function deviceProblems(
  device: Record<string, unknown>,
  at: readonly string[],
  folder: string,
  report: ReportProblem,
  listener: ReportProblem,
  profileById: ProfileLookup,
): void {
  profileProblems(device, at, report, profileById);
  connectionProblems(device, at, report, listener, profileById);
  fileProblems(device, at, folder, report, profileById);
}

/** Checks the profile, and the keys that only some profiles have. */
function profileProblems(
  device: Record<string, unknown>,
  at: readonly string[],
  report: ReportProblem,
  profileById: ProfileLookup,
): void {
  const { profile, charset } = device;
  if (typeof profile === "string" && isOwn(profile)) {
    // A missing or faulty one is a fault of its device alone; see profile-faults.ts.
    if (parseReference(profile) === null) {
      report([...at, "profile"], `is ${profile}, expected a name with its revision such as own/acme-x1@3`);
    }
  } else if (typeof profile === "string" && profile !== DICOM && profileById(profile) === undefined) {
    const names = [...profiles.map((known) => known.id), DICOM];
    const nearest = nearestWord(profile, names);
    report(
      [...at, "profile"],
      `is ${profile}, ${nearest === null ? `expected one of ${names.join(", ")}` : `did you mean ${nearest}?`}`,
    );
  }
  reportZone(device["timeZone"], [...at, "timeZone"], report);
  const protocol = typeof profile === "string" ? profileById(profile)?.protocol : undefined;
  const charsets: readonly string[] = protocol === "hl7" ? HL7_CHARSETS : ASTM_CHARSETS;
  if (typeof charset === "string" && protocol !== undefined && !charsets.includes(charset)) {
    report([...at, "charset"], `is ${charset}, expected one of ${charsets.join(", ")} for profile ${String(profile)}`);
  }
  if (device["ackMode"] !== undefined && (profile === DICOM || (protocol !== undefined && protocol !== "hl7"))) {
    report([...at, "ackMode"], `is for HL7 devices, profile ${String(profile)} is not HL7`);
  }
  for (const key of DICOM_KEYS) {
    if (key in device && profile !== DICOM) report([...at, key], `belongs to devices with the profile ${DICOM}`);
  }
  for (const key of ANALYZER_KEYS) {
    if (key in device && profile === DICOM) report([...at, key], `is for analyzers, the profile is ${DICOM}`);
  }
  if ("orders" in device && typeof profile === "string" && profile !== DICOM && !isOwn(profile)) {
    report([...at, "orders"], `is for a clinic's own profile, the profile is ${profile}`);
  }
  codeProblems(device["codes"], [...at, "codes"], report);
  controlProblems(device["controls"], [...at, "controls"], report);
  practiceProblems(device, at, report, profileById);
}

/** Checks the numbers of the clinic's controls: each is a number of its own. */
function controlProblems(controls: unknown, at: readonly string[], report: ReportProblem): void {
  const known = new Map<string, string>();
  for (const [index, number] of asArray(controls).entries()) {
    if (typeof number !== "string") continue;
    const folded = foldNumber(number);
    const first = known.get(folded);
    if (folded === "") report([...at, String(index)], "is empty, expected the number of a sample such as QC1");
    else if (first !== undefined) report([...at, String(index)], `is the same number as ${first}, expected each once`);
    known.set(folded, first ?? number);
  }
}

/** Keys that read results, which practice software does not send. */
const RESULT_KEYS = [...ANALYZER_KEYS, "model"];

/** Keys of a line, which a watched folder does not have. */
const LINE_KEYS = ["allow", "tls", "charset"];

function practiceProblems(
  device: Record<string, unknown>,
  at: readonly string[],
  report: ReportProblem,
  profileById: ProfileLookup,
): void {
  const { profile } = device;
  if (typeof profile !== "string") return;
  const known = profileById(profile);
  const isPractice = known?.protocol === "hl7" && known.registry !== undefined;
  if (!isPractice && (known !== undefined || profile === DICOM) && "practice" in device) {
    report([...at, "practice"], `is for practice software, the profile is ${profile}`);
  }
  const isList = known?.protocol === "file" && known.content === "registry";
  for (const key of known?.protocol === "file" ? [...(isList ? RESULT_KEYS : []), ...LINE_KEYS] : []) {
    if (key in device) report([...at, key], `has no effect on a watched folder, the profile is ${profile}`);
  }
  for (const key of isPractice ? RESULT_KEYS : []) {
    if (key in device) report([...at, key], `is for analyzers, the profile is ${profile}`);
  }
  panelProblems(asObject(device["practice"])["panels"], [...at, "practice", "panels"], report);
  if (isPractice && "serial" in asObject(device["connection"])) {
    report([...at, "connection"], "has serial, expected listen or dial for practice software");
  }
}

/** Checks the addresses of the device, and the networks that may connect. */
function connectionProblems(
  device: Record<string, unknown>,
  at: readonly string[],
  report: ReportProblem,
  listener: ReportProblem,
  profileById: ProfileLookup,
): void {
  const { profile, commitmentScp } = device;
  const connection = asObject(device["connection"]);
  const tcp = ({ listen, dial }: Record<string, unknown>, steps: readonly string[]) => {
    if (typeof listen === "string") listener([...steps, "listen"], listen);
    if (typeof dial === "string" && parseAddress(dial) === null) {
      report([...steps, "dial"], `is "${dial}", expected host:port such as 192.168.1.50:5500`);
    }
  };
  for (const [position, network] of asArray(device["allow"]).entries()) {
    if (typeof network === "string" && !isNetwork(network)) {
      report(
        [...at, "allow", String(position)],
        `is "${network}", expected an address or network such as 192.168.1.0/24`,
      );
    }
  }
  folderProblems(profile, connection, [...at, "connection"], report, profileById);
  const ways = ["serial", "listen", "dial", "folder"].filter((way) => way in connection);
  if (device["connection"] !== undefined && ways.length !== 1) {
    report(
      [...at, "connection"],
      `has ${ways.length === 0 ? "none" : ways.join(" and ")}, expected exactly one of serial, listen, dial, folder`,
    );
  }
  const { path: port } = asObject(connection["serial"]);
  if (typeof port === "string" && isNetworkPath(port)) {
    report([...at, "connection", "serial", "path"], `is ${port}, expected a port of this machine such as COM3`);
  }
  tcp(connection, [...at, "connection"]);
  if (profile === DICOM && ways.length === 1 && !("listen" in connection)) {
    report([...at, "connection"], `has ${ways[0]}, expected listen for a DICOM device`);
  }
  if (typeof commitmentScp === "string" && parseAddress(commitmentScp) === null) {
    report([...at, "commitmentScp"], `is "${commitmentScp}", expected host:port such as 192.168.1.60:104`);
  }
  if (!("replyConnection" in connection)) return;
  const replies = asObject(connection["replyConnection"]);
  const place = [...at, "connection", "replyConnection"];
  if ("serial" in connection) report(place, "is for TCP devices: replies to a serial device leave on its own line");
  if (profile === DICOM) report(place, "is for HL7 devices: replies to a DICOM device leave on its association");
  if ("listen" in replies === "dial" in replies)
    report(place, "has both or none, expected exactly one of listen, dial");
  tcp(replies, place);
}

/** A watched folder belongs to a device whose profile reads files. */
function folderProblems(
  profile: unknown,
  connection: Record<string, unknown>,
  at: readonly string[],
  report: ReportProblem,
  profileById: ProfileLookup,
): void {
  const { folder } = connection;
  const known = typeof profile === "string" ? profileById(profile) : undefined;
  if ("leave" in connection && folder === undefined) report([...at, "leave"], "is for a watched folder");
  if (typeof folder === "string") {
    if (profile === DICOM || (known !== undefined && known.protocol !== "file")) {
      report([...at, "folder"], `is for files, the profile is ${String(profile)}`);
    }
    if (!path.isAbsolute(folder) || isNetworkPath(folder)) {
      report(
        [...at, "folder"],
        `is ${folder}, expected a complete path of this machine such as C:\\Export or /srv/export`,
      );
    }
  } else if (known?.protocol === "file" && Object.keys(connection).length > 0) {
    report(at, `has no folder, expected one for the profile ${known.id}`);
  }
}

/** Windows sends the account's password hash to any machine that a path names. `\\\\.\\COM10` is a port of this machine. */
function isNetworkPath(port: string): boolean {
  return /^(\\\\|\/\/)(?![.?][\\/])/.test(port);
}

function fileProblems(
  device: Record<string, unknown>,
  at: readonly string[],
  folder: string,
  report: ReportProblem,
  profileById: ProfileLookup,
): void {
  const { profile, operatorListFile: operators } = device;
  if (typeof operators === "string" && operators !== "") {
    const known = typeof profile === "string" ? profileById(profile) : undefined;
    const problem =
      sentFileProblem(operators, folder) ??
      (known?.protocol === "poct1a"
        ? contentProblem(path.resolve(folder, operators), readOperators)
        : "is for POCT1-A devices");
    if (problem !== null) report([...at, "operatorListFile"], problem);
  }
  if ("tls" in device) {
    const connection = asObject(device["connection"]);
    const listens = [connection, asObject(connection["replyConnection"])].some((way) => "listen" in way);
    const problem = "serial" in connection ? "is for TCP" : tlsProblem(asObject(device["tls"]), listens, folder);
    if (problem !== null) report([...at, "tls"], problem);
  }
}

function isNetwork(text: string): boolean {
  const [address = "", prefix, ...rest] = text.split("/");
  const version = net.isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
}
