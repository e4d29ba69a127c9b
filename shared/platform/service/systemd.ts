import { installedService, writtenFolders } from "./description.ts";
import type { Answer, Found, Platform, ServiceState } from "./platform.ts";
import { SERVICE_USER, systemdUnit, unitWords } from "./systemd-unit.ts";

// The service manager of Linux.

const UNITS = "/etc/systemd/system";
const PROPERTIES = [
  ...["LoadState", "ActiveState", "SubState", "UnitFileState", "FragmentPath", "MainPID"],
  ...["ActiveEnterTimestamp", "StateChangeTimestamp", "RestartUSec", "ExecMainStatus"],
];

export const systemd: Platform = {
  folder: "/etc/vetwire",
  asAdministrator: (command) => `sudo ${command}`,
  questions: (name) => [
    ["systemctl", "show", `${name}.service`, `--property=${PROPERTIES.join(",")}`],
    ["systemctl", "cat", `${name}.service`],
  ],
  judge,
  needs: () => [],
  install: (service) => [
    // 9: there is such a user, as the package makes it. The kernel then shows a name for what the service writes.
    {
      do: "run",
      words: [
        ...["useradd", "--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"],
        ...["--shell", "/usr/sbin/nologin", SERVICE_USER],
      ],
      mayFail: true,
    },
    ...writtenFolders(service)
      // systemd makes the state folder itself.
      .filter((folder) => !folder.startsWith("/var/lib/"))
      .map((folder) => ({ do: "folder", folder, owner: SERVICE_USER }) as const),
    { do: "write", file: `${UNITS}/${service.name}.service`, text: systemdUnit(service) },
    { do: "run", words: ["systemctl", "daemon-reload"] },
    { do: "run", words: ["systemctl", "enable", "--now", `${service.name}.service`] },
  ],
  uninstall: (name) => [
    { do: "run", words: ["systemctl", "disable", "--now", `${name}.service`] },
    { do: "remove", file: `${UNITS}/${name}.service` },
    { do: "run", words: ["systemctl", "daemon-reload"] },
    { do: "run", words: ["systemctl", "reset-failed", `${name}.service`], mayFail: true },
  ],
  start: (name) => [{ do: "run", words: ["systemctl", "enable", "--now", `${name}.service`] }],
  stop: (name) => [{ do: "run", words: ["systemctl", "stop", `${name}.service`] }],
  logReader: (name, lines, follow) => [
    ...["journalctl", "--unit", `${name}.service`, "--lines", String(lines), "--no-pager"],
    ...(follow ? ["--follow"] : []),
  ],
  user: SERVICE_USER,
};

function judge(name: string, answers: readonly Answer[]): Found {
  const [shown, unit] = answers;
  if (shown?.code == null) return { is: "no manager", reason: "this machine has no systemctl" };
  const values = new Map(shown.text.split("\n").map((line) => line.split(/=(.*)/s, 2) as [string, string]));
  const load = values.get("LoadState");
  if (load === undefined) return { is: "no manager", reason: "systemd does not run on this machine" };
  // A stopped unit without a file is not loaded.
  if (load === "not-found") return { is: "not installed" };
  const course = { state: stateOf(values), startsWithMachine: values.get("UnitFileState") === "enabled" };
  const service = installedService(unitWords(unit?.text ?? ""));
  if (service === null || service.name !== name) return { is: "foreign", ...course };
  const file = values.get("FragmentPath") ?? "";
  return { is: "installed", service, ...course, packaged: file.startsWith(`${UNITS}/`) ? null : `apt remove ${name}` };
}

function stateOf(values: ReadonlyMap<string, string>): ServiceState {
  const code = Number(values.get("ExecMainStatus") ?? 0);
  switch (values.get("ActiveState")) {
    case "active":
    case "reloading":
      return {
        is: "running",
        since: instantOf(values.get("ActiveEnterTimestamp")),
        process: numberOf(values, "MainPID"),
      };
    case "failed":
      return { is: "failed", code };
    case "inactive":
      return { is: "stopped" };
    default: {
      if (values.get("SubState") !== "auto-restart") return { is: "changing" };
      const ended = instantOf(values.get("StateChangeTimestamp"));
      const pause = Number.parseInt(values.get("RestartUSec") ?? "0", 10) * 1000;
      return { is: "waiting", code, at: ended && new Date(Date.parse(ended) + pause).toISOString() };
    }
  }
}

/** Reads a time of systemctl, which the shell requests in UTC: `Mon 2026-11-23 17:00:00 UTC`. */
function instantOf(text = ""): string | null {
  const [, day, time] = /(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) UTC$/.exec(text) ?? [];
  return day === undefined ? null : `${day}T${time}.000Z`;
}

function numberOf(values: ReadonlyMap<string, string>, name: string): number | null {
  const number = Number(values.get(name) ?? 0);
  return number > 0 ? number : null;
}
