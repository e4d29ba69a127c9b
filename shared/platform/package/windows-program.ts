import crypto from "node:crypto";
import type { ServiceDescription } from "../service/description.ts";
import { shawlWords, windows } from "../service/windows.ts";
import type { PackOrder } from "./pack.ts";

// Names a program and its service on Windows.

export interface WindowsProgram {
  readonly title: string;
  readonly description: string;
  /** The code by which Windows knows all versions of the program. It never changes. */
  readonly upgradeCode: string;
  /** The service, with drives in place of the folders that the installer knows. */
  readonly service: ServiceDescription;
  /** The page that the start menu opens. */
  readonly page: string;
}

/** Placeholders for the folders that the installer knows: the rules for paths of Windows need a drive. */
const PROGRAM_DRIVE = "P:\\";
const DATA_DRIVE = "D:\\";

const AGENT = serviceOf("agent", "agent");
const SERVER = serviceOf("server", "server");

export const WINDOWS_PROGRAMS: Readonly<Record<PackOrder["program"], WindowsProgram>> = {
  agent: {
    title: "Vetwire Agent",
    description: "Takes results from the clinic's devices to its records",
    upgradeCode: "6F0D0C5A-33C1-4D2B-9C4F-0B1E5D3A7A11",
    service: AGENT,
    page: "http://127.0.0.1:8081/",
  },
  server: {
    title: "Vetwire Server",
    description: "Keeps the clinic's records and shows them",
    upgradeCode: "B2A6F6C8-8E0E-4B57-8A53-6B6A3F2C9D22",
    service: SERVER,
    page: "http://127.0.0.1:8080/",
  },
};

function serviceOf(program: PackOrder["program"], folder: string): ServiceDescription {
  return {
    program,
    name: `vetwire-${program}`,
    node: `${PROGRAM_DRIVE}runtime\\node.exe`,
    main: `${PROGRAM_DRIVE}app\\shared\\main.js`,
    config: program === "agent" ? `${DATA_DRIVE}Vetwire\\agent.yaml` : null,
    state: `${DATA_DRIVE}Vetwire\\${folder}`,
    writable: [],
    options: [],
  };
}

/** Returns the options of shawl and the command that it runs, as `vetwire service install` writes them. */
export function serviceArguments({ service }: WindowsProgram): string {
  return installerLine(shawlWords(service).slice(1));
}

/** Returns the commands that make Windows start shawl again if it dies. shawl itself starts the program again. */
export function recoveryLines({ service }: WindowsProgram): string[] {
  return windows.install(service).flatMap((step) => {
    if (step.do !== "run" || !step.words[1]?.startsWith("failure")) return [];
    return [`[System64Folder]${installerLine(step.words)}`];
  });
}

/** Writes the folders in the way of the installer: a name in brackets, whose value ends in a backslash and may have spaces. */
function installerLine(words: readonly string[]): string {
  return words
    .map((word) => {
      const folders = word.replace(PROGRAM_DRIVE, "[INSTALLDIR]").replace(DATA_DRIVE, "[CommonAppDataFolder]");
      return folders === word ? word : `"${folders}"`;
    })
    .join(" ");
}

/**
 * Returns the SDDL of a data folder: full rights for the system, administrators and the service alone, also for what is made in
 * it. Nothing is inherited from ProgramData, where every user may read.
 */
export function dataFolderRights({ service }: WindowsProgram): string {
  const full = ["SY", "BA", serviceSid(service.name)].map((who) => `(A;OICI;FA;;;${who})`);
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
