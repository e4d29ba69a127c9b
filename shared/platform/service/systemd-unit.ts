import path from "node:path";
import { launcherWords, type ServiceDescription, writtenFolders } from "./description.ts";

// The unit of systemd, also of the Debian package. `systemd-analyze security` judges it in a test.

/** Time between the end of the program and its next start. */
const RESTART_S = 5;
/** Time for the program's own stop: an agent finishes a change of its configuration first. */
const STOP_S = 30;

/** The user of both programs. The Debian package makes it, so that they share /etc/vetwire. */
export const SERVICE_USER = "vetwire";

/** Folders that ProtectHome=tmpfs hides. A source checkout is often in one. */
const HIDDEN = ["/home", "/root", "/run/user"];

/** The file with further options of `run` and LOG_LEVEL. An administrator edits it; it may be missing. */
function defaultsFile(name: string): string {
  return `/etc/default/${name}`;
}

/** Returns the text of NAME.service. */
export function systemdUnit(service: ServiceDescription): string {
  const isAgent = service.program === "agent";
  const words = launcherWords(service, null).map(quoted);
  return [
    "[Unit]",
    `Description=Vetwire ${service.program} (${(service.config ?? service.state).replaceAll("%", "%%")})`,
    "Wants=network-online.target",
    "After=network-online.target time-sync.target",
    // DeviceAllow knows only drivers that are loaded when the service starts. An adapter may be plugged in later.
    ...(isAgent ? ["Wants=modprobe@usbserial.service modprobe@cdc_acm.service"] : []),
    ...(isAgent ? ["After=modprobe@usbserial.service modprobe@cdc_acm.service"] : []),
    // Without a limit of starts, because nobody is there to start an unattended machine's service again.
    "StartLimitIntervalSec=0",
    "",
    "[Service]",
    "Type=exec",
    // systemd 254 and later warn at each start of a variable that is not set.
    "Environment=RUN_OPTIONS=",
    `EnvironmentFile=-${defaultsFile(service.name)}`,
    // systemd splits the options of the file into words.
    `ExecStart=${words.join(" ")} $RUN_OPTIONS`,
    "Restart=always",
    `RestartSec=${RESTART_S}`,
    // The configuration is refused: only a person can correct it.
    "RestartPreventExitStatus=78",
    // The launcher alone gets the signal, and passes it on once.
    "KillMode=mixed",
    // A process that reads an image may be ended for want of memory; the program goes on.
    "OOMPolicy=continue",
    `TimeoutStopSec=${STOP_S}`,
    "",
    "DynamicUser=yes",
    `User=${SERVICE_USER}`,
    ...places(service),
    ...(isAgent ? SERIAL_PORTS : ["PrivateDevices=yes"]),
    ...HARDENING,
    "",
    "[Install]",
    "WantedBy=multi-user.target",
    "",
  ].join("\n");
}

const SERIAL_PORTS = [
  "SupplementaryGroups=dialout",
  "DevicePolicy=closed",
  ...["ttyUSB", "ttyACM", "ttyS", "ttyAMA", "rfcomm"].map((driver) => `DeviceAllow=char-${driver} rw`),
];

const HARDENING = [
  // Modalities and browsers may know only ports below 1024, such as 104 of DICOM.
  "AmbientCapabilities=CAP_NET_BIND_SERVICE",
  "CapabilityBoundingSet=CAP_NET_BIND_SERVICE",
  "NoNewPrivileges=yes",
  "ProtectSystem=strict",
  "ProtectHome=tmpfs",
  "PrivateTmp=yes",
  "ProtectClock=yes",
  "ProtectControlGroups=yes",
  "ProtectHostname=yes",
  "ProtectKernelLogs=yes",
  "ProtectKernelModules=yes",
  "ProtectKernelTunables=yes",
  "ProtectProc=invisible",
  // Node reads /proc/meminfo and its own entries.
  "ProcSubset=all",
  "LockPersonality=yes",
  "RemoveIPC=yes",
  "RestrictNamespaces=yes",
  "RestrictRealtime=yes",
  "RestrictSUIDSGID=yes",
  "RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK",
  "SystemCallArchitectures=native",
  "SystemCallFilter=@system-service",
  "SystemCallFilter=~@privileged @resources",
  "SystemCallErrorNumber=EPERM",
  // V8 writes machine code at run time, so MemoryDenyWriteExecute is not possible.
  "UMask=0077",
  // A core dump would hold results and keys.
  "LimitCORE=0",
];

/** The folders that the program may write, and hidden folders that it needs. */
function places(service: ServiceDescription): string[] {
  const { state, node, main } = service;
  const relative = path.posix.relative("/var/lib", state);
  const isManaged = relative !== "" && !relative.startsWith("..");
  const written = writtenFolders(service).filter((folder) => folder !== state || !isManaged);
  // dist/shared/main.js of a checkout, app/shared/main.js of a package: its folder is two above.
  const read = [node, path.posix.resolve(main, "../../..")].filter(isHidden);
  // systemd 257 lets no program run from this folder of a dynamic user, where an upgrade has its versions.
  const managed = [`StateDirectory=${quoted(relative)}`, "StateDirectoryMode=0700", `ExecPaths=${quoted(state)}`];
  return [
    ...(isManaged ? managed : []),
    ...read.map((place) => `BindReadOnlyPaths=${quoted(place)}`),
    ...[...new Set(written)].map((place) => `${isHidden(place) ? "BindPaths" : "ReadWritePaths"}=${quoted(place)}`),
  ];
}

function isHidden(place: string): boolean {
  return HIDDEN.some((folder) => place.startsWith(`${folder}/`));
}

/** Quotes a word for a line of a unit. `%` and `$` start expansions of systemd. */
function quoted(word: string): string {
  const escaped = word.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%").replaceAll("$", "$$$$");
  return /[\s"'\\;]/.test(word) ? `"${escaped}"` : escaped;
}

/** Reads the command line of a unit's text, without its variables. */
export function unitWords(text: string): string[] {
  const [, line = ""] = /^ExecStart=(.*)$/m.exec(text) ?? [];
  const words = Array.from(line.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g), ([, inner, plain]) =>
    (inner?.replaceAll(/\\(.)/g, "$1") ?? plain ?? "").replaceAll("%%", "%"),
  );
  return words.filter((word) => !/^\$\w/.test(word)).map((word) => word.replaceAll("$$", "$"));
}
