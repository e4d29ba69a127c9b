import crypto from "node:crypto";
import type { PackOrder } from "./pack.ts";

// Names a program and its service on Windows.

export interface WindowsProgram {
  readonly program: PackOrder["program"];
  readonly title: string;
  readonly description: string;
  /** The code by which Windows knows all versions of the program. It never changes. */
  readonly upgradeCode: string;
  readonly service: string;
  readonly account: string;
  /** The options of shawl and the command that it runs, with the folders of the installer in brackets. */
  readonly serviceArguments: string;
  /** The page that the start menu opens. */
  readonly page: string;
}

const DATA = "[CommonAppDataFolder]Vetwire";

/** Windows ends a service 5 s after the machine began to shut down (WaitToKillServiceTimeout). */
const STOP_MS = 4_500;
/** A stop on purpose, and a configuration that only a person can correct. */
const NO_RESTART = [0, 78];

export const WINDOWS_PROGRAMS: Readonly<Record<PackOrder["program"], WindowsProgram>> = {
  agent: {
    program: "agent",
    title: "Vetwire Agent",
    description: "Takes results from the clinic's devices to its records",
    upgradeCode: "6F0D0C5A-33C1-4D2B-9C4F-0B1E5D3A7A11",
    service: "vetwire-agent",
    account: virtualAccount("vetwire-agent"),
    serviceArguments: serviceArguments("agent", DATA, `--set-up --config "${DATA}\\agent.yaml"`),
    page: "http://127.0.0.1:8081/",
  },
  server: {
    program: "server",
    title: "Vetwire Server",
    description: "Keeps the clinic's records and shows them",
    upgradeCode: "B2A6F6C8-8E0E-4B57-8A53-6B6A3F2C9D22",
    service: "vetwire-server",
    account: virtualAccount("vetwire-server"),
    serviceArguments: serviceArguments("server", `${DATA}\\server`, `--data "${DATA}\\server"`),
    page: "http://127.0.0.1:8080/",
  },
};

/** Windows makes this account with the service: no password, no rights of its own, and no other service has it. */
function virtualAccount(service: string): string {
  return `NT SERVICE\\${service}`;
}

function serviceArguments(program: PackOrder["program"], state: string, run: string): string {
  const shawl = [
    `run --name vetwire-${program} --restart-if-not ${NO_RESTART.join(",")} --stop-timeout ${STOP_MS}`,
    // A quoted folder must not end in a backslash, which would quote the quote.
    `--log-dir "${state}\\logs" --cwd "${state}"`,
  ];
  const node = `"[INSTALLDIR]runtime\\node.exe" "[INSTALLDIR]app\\shared\\main.js"`;
  return `${shawl.join(" ")} -- ${node} ${program} run ${run}`;
}

/**
 * Returns the SDDL of a data folder: full rights for the system, administrators and the service alone, also for what is made in
 * it. Nothing is inherited from ProgramData, where every user may read.
 */
export function dataFolderRights(service: string): string {
  const full = ["SY", "BA", serviceSid(service)].map((who) => `(A;OICI;FA;;;${who})`);
  return `D:PAI${full.join("")}`;
}

/** The SID of a service follows from its name, so it is known before the service exists. [MS-DTYP] 2.4.2.4 */
export function serviceSid(service: string): string {
  const digest = crypto.createHash("sha1").update(Buffer.from(service.toUpperCase(), "utf16le")).digest();
  return `S-1-5-80-${[0, 4, 8, 12, 16].map((at) => digest.readUInt32LE(at)).join("-")}`;
}

/** Returns the GUID of a name within a namespace. (RFC 9562, 5.8) */
export function nameGuid(namespace: string, name: string): string {
  const bytes = crypto.createHash("sha256").update(`${namespace}\n${name}`).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString("hex").toUpperCase();
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
