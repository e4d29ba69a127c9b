import { installedService, launcherWords, logFile, type ServiceDescription, writtenFolders } from "./description.ts";
import type { Answer, Found, Platform, ServiceState } from "./platform.ts";

// The service manager of macOS.

/** An account of every Mac with no rights of its own. Serial ports are open to all users there. */
const USER = "daemon";
/** Least time between two starts, also after a refused configuration: launchd cannot tell exit codes apart. */
const RESTART_S = 10;
const STOP_S = 30;
const OWNER_ONLY = 0o077;

export const launchd: Platform = {
  folder: "/Library/Application Support/Vetwire",
  asAdministrator: (command) => `sudo ${command}`,
  questions: (name) => [
    ["cat", plistFile(name)],
    ["launchctl", "print", `system/${name}`],
  ],
  judge,
  needs: () => [],
  install: (service) => [
    ...writtenFolders(service).map((folder) => ({ do: "folder", folder, owner: USER }) as const),
    { do: "write", file: plistFile(service.name), text: launchdPlist(service) },
    { do: "run", words: ["launchctl", "bootstrap", "system", plistFile(service.name)] },
  ],
  uninstall: (name) => [
    { do: "run", words: ["launchctl", "bootout", `system/${name}`], mayFail: true },
    { do: "remove", file: plistFile(name) },
  ],
  // A stopped service is not loaded; a loaded one refuses to be loaded again.
  start: (name) => [
    { do: "run", words: ["launchctl", "bootstrap", "system", plistFile(name)], mayFail: true },
    { do: "run", words: ["launchctl", "kickstart", `system/${name}`] },
  ],
  // KeepAlive starts a service again that only ends. At the start of the machine it is loaded again.
  stop: (name) => [{ do: "run", words: ["launchctl", "bootout", `system/${name}`] }],
  logReader: null,
  user: USER,
};

function plistFile(name: string): string {
  return `/Library/LaunchDaemons/${name}.plist`;
}

/** Returns the text of NAME.plist. */
export function launchdPlist(service: ServiceDescription): string {
  const words = launcherWords(service, logFile(service.state)).map((word) => `      <string>${escaped(word)}</string>`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
  <dict>
    <key>Label</key>
    <string>${service.name}</string>
    <key>ProgramArguments</key>
    <array>
${words.join("\n")}
    </array>
    <key>UserName</key>
    <string>${USER}</string>
    <key>RunAtLoad</key>
    <true/>
    <key>KeepAlive</key>
    <true/>
    <key>ThrottleInterval</key>
    <integer>${RESTART_S}</integer>
    <key>ExitTimeOut</key>
    <integer>${STOP_S}</integer>
    <key>Umask</key>
    <integer>${OWNER_ONLY}</integer>
    <key>ProcessType</key>
    <string>Interactive</string>
  </dict>
</plist>
`;
}

const ENTITIES = [
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
] as const;

function escaped(text: string): string {
  return ENTITIES.reduce((result, [character, entity]) => result.replaceAll(character, entity), text);
}

function plistWords(text: string): string[] {
  const [, list = ""] = /<key>ProgramArguments<\/key>\s*<array>(.*?)<\/array>/s.exec(text) ?? [];
  return Array.from(list.matchAll(/<string>(.*?)<\/string>/gs), ([, word = ""]) =>
    ENTITIES.reduceRight((result, [character, entity]) => result.replaceAll(entity, character), word),
  );
}

function judge(name: string, [plist, print]: readonly Answer[]): Found {
  if (print?.code == null) return { is: "no manager", reason: "this machine has no launchctl" };
  const isLoaded = print.code === 0;
  if (plist?.code !== 0 && !isLoaded) return { is: "not installed" };
  const course = { state: isLoaded ? stateOf(print.text) : STOPPED, startsWithMachine: plist?.code === 0 };
  const service = installedService(plistWords(plist?.text ?? ""));
  if (service === null || service.name !== name) return { is: "foreign", ...course };
  return { is: "installed", service, ...course, packaged: null };
}

const STOPPED: ServiceState = { is: "stopped" };

function stateOf(text: string): ServiceState {
  const [, state] = /^\s*state = (.+)$/m.exec(text) ?? [];
  const [, id] = /^\s*pid = (\d+)$/m.exec(text) ?? [];
  if (state === "running") return { is: "running", since: null, process: id === undefined ? null : Number(id) };
  const [, code] = /^\s*last exit code = (\d+)/m.exec(text) ?? [];
  return { is: "waiting", code: code === undefined ? null : Number(code), at: null };
}
