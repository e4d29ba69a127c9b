import path from "node:path";
import {
  installedService,
  type InstalledService,
  isWithin,
  launcherWords,
  logFile,
  writtenFolders,
} from "./description.ts";
import type { Answer, Found, Platform, ServiceState, Step } from "./platform.ts";
import { windowsLine, windowsWords } from "./windows-words.ts";

// The service manager of Windows. Node is not a Windows service, so shawl is in between: it starts the launcher, and starts it
// again after its end.

/** Time that shawl leaves the program for its stop. */
const STOP_MS = 25_000;
/** Pauses before the next start, if shawl itself ended. */
const FAILURE_ACTIONS = "restart/5000/restart/30000/restart/300000";
const DAY_S = 86_400;

/** shawl is next to Node in the packages. */
function shawlFile(node: string): string {
  return path.win32.join(path.win32.dirname(node), "shawl.exe");
}

/** Returns the words of a Windows service: shawl, and the launcher that it starts. Also the .msi package installs them. */
export function shawlWords(service: InstalledService): string[] {
  return [
    ...[shawlFile(service.node), "run", "--name", service.name],
    // 78: the configuration is refused, only a person can correct it. It counts as success: the manager leaves it at that.
    ...["--restart-if-not", "78", "--pass", "0,78", "--stop-timeout", String(STOP_MS)],
    ...["--log-dir", service.state, "--"],
    ...launcherWords(service, logFile(service.state)),
  ];
}

/** The folder of both programs. The .msi packages close it to others too. */
const FOLDER = path.win32.join(process.env["ProgramData"] ?? "C:\\ProgramData", "Vetwire");

export const windows: Platform = {
  folder: FOLDER,
  asAdministrator: (command) => `${command} (in a command prompt that you start as administrator)`,
  questions: (name) => [
    ["sc.exe", "queryex", name],
    // The size of the result: a command line with long paths exceeds the usual one.
    ["sc.exe", "qc", name, "8192"],
  ],
  judge,
  needs: ({ node }) => [
    { file: shawlFile(node), remedy: "install Vetwire by its .msi package, which carries shawl.exe next to node.exe" },
  ],
  install: (service) => {
    const { name, program } = service;
    const account = `NT SERVICE\\${name}`;
    const folders = [...new Set(writtenFolders(service))];
    const create = ["binPath=", windowsLine(shawlWords(service)), "start=", "delayed-auto", "obj=", account];
    return [
      { do: "run", words: ["sc.exe", "create", name, ...create, "DisplayName=", `Vetwire ${program} (${name})`] },
      { do: "run", words: ["sc.exe", "description", name, `Vetwire ${program}: ${service.config ?? service.state}`] },
      { do: "run", words: ["sc.exe", "failure", name, "reset=", String(DAY_S), "actions=", FAILURE_ACTIONS] },
      { do: "run", words: ["sc.exe", "failureflag", name, "1"] },
      ...folders.map((folder) => folderStep(folder, account)),
      { do: "run", words: ["sc.exe", "start", name] },
    ];
  },
  uninstall: (name) => [
    // 1062: it does not run. A running service is removed at its end.
    { do: "run", words: ["sc.exe", "stop", name], mayFail: true },
    { do: "run", words: ["sc.exe", "delete", name] },
  ],
  start: (name) => [
    { do: "run", words: ["sc.exe", "config", name, "start=", "delayed-auto"] },
    { do: "run", words: ["sc.exe", "start", name] },
  ],
  stop: (name) => [{ do: "run", words: ["sc.exe", "stop", name] }],
  logReader: null,
  user: null,
};

/**
 * Opens a folder to system and administrators (by their SIDs, whose names have translations) and to the service. A folder that a
 * person made keeps the rights that it has.
 */
function folderStep(folder: string, account: string): Step {
  const service = `${account}:(OI)(CI)M`;
  const rights = ["*S-1-5-18:(OI)(CI)F", "*S-1-5-32-544:(OI)(CI)F", service];
  const made = ["icacls.exe", folder, "/inheritance:r", "/grant:r", ...rights];
  const found = isWithin(FOLDER, folder) ? made : ["icacls.exe", folder, "/grant", service];
  return { do: "folder", folder, made, found };
}

// The labels of sc.exe have translations; numbers and the order of the lines have none.

function judge(name: string, [query, config]: readonly Answer[]): Found {
  if (query?.code == null) return { is: "no manager", reason: "sc.exe is missing" };
  if (query.code !== 0) {
    if (/\b1060\b/.test(query.text)) return { is: "not installed" };
    return { is: "no manager", reason: `sc.exe gave no usable reply: ${query.text.trim().slice(0, 200)}` };
  }
  const lines = (config?.text ?? "").split(/\r?\n/);
  const line = lines.find((each) => each.includes("service run"))?.replace(/^.*?:\s+/, "") ?? "";
  const service = installedService(windowsWords(line));
  const course = {
    state: stateOf(query.text),
    startsWithMachine: lines.some((each) => /:\s+2\s+[A-Z_]+/.test(each)),
  };
  if (service === null || service.name !== name) return { is: "foreign", ...course };
  return { is: "installed", service, ...course, packaged: null };
}

function stateOf(text: string): ServiceState {
  const [, state] = /:\s+([1-7])\s+[A-Z_]{5,}/.exec(text) ?? [];
  switch (state) {
    case "1": {
      // WIN32_EXIT_CODE is 1066 if the program has a code of its own, which is in the next line.
      const [win32 = 0, own = 0] = Array.from(text.matchAll(/:\s+(\d+)\s+\(0x/g), ([, code]) => Number(code));
      // 1077: it was not started since the machine's start.
      if (win32 === 0 || win32 === 1077) return { is: "stopped" };
      return { is: "failed", code: win32 === 1066 ? own : win32 };
    }
    case "4": {
      const [, id] = /:\s+([1-9]\d*)\s*$/m.exec(text) ?? [];
      return { is: "running", since: null, process: id === undefined ? null : Number(id) };
    }
    default:
      return { is: "changing" };
  }
}
