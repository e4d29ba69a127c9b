import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ServiceDescription } from "../../../../shared/platform/service/description.ts";
import {
  findService,
  installService,
  switchService,
  uninstallService,
} from "../../../../shared/platform/service/manage.ts";
import type { Platform } from "../../../../shared/platform/service/platform.ts";
import { systemd } from "../../../../shared/platform/service/systemd.ts";
import { systemdUnit } from "../../../../shared/platform/service/systemd-unit.ts";
import { shawlWords, windows } from "../../../../shared/platform/service/windows.ts";
import { windowsLine } from "../../../../shared/platform/service/windows-words.ts";
import { LINUX_AGENT, WINDOWS_AGENT } from "./services.ts";

// Goal: each command of `vetwire service` runs the right programs in order, and each failure names its remedy. Method:
// replacements on PATH record their words; a script for each of them prints what the real program does.

let root: string;
let realPath: string | undefined;

beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), "vetwire-service-"));
  fs.mkdirSync(path.join(root, "bin"));
  realPath = process.env["PATH"];
  process.env["PATH"] = `${path.join(root, "bin")}:/usr/bin:/bin`;
});

afterEach(() => {
  process.env["PATH"] = realPath;
  fs.rmSync(root, { recursive: true, force: true });
});

/** Puts a replacement on PATH. `script` sees the words as $*. */
function standIn(name: string, script = ""): void {
  const text = `#!/bin/sh\nprintf '%s\\n' "${name} $*" >> ${root}/words\n${script}\n`;
  fs.writeFileSync(path.join(root, "bin", name), text, { mode: 0o755 });
}

/** The words of the commands that changed something. */
function changes(): string[] {
  const file = path.join(root, "words");
  const lines = fs.existsSync(file) ? fs.readFileSync(file, "utf8").trimEnd().split("\n") : [];
  return lines.filter((line) => !/^(systemctl (show|cat)|sc.exe (queryex|qc)|id) /.test(line));
}

function answerFile(name: string, text: string): string {
  const file = path.join(root, name);
  fs.writeFileSync(file, text);
  return file;
}

const machineOf = (platform: Platform) => ({ platform, root });

/** Lets systemctl know no unit, or one in this state. */
function systemctl(service: ServiceDescription | null, state = "", script = ""): void {
  const unit = answerFile("unit", service === null ? "" : systemdUnit(service));
  const shown = answerFile("shown", service === null ? "LoadState=not-found\n" : `LoadState=loaded\n${state}`);
  standIn("systemctl", `case "$1" in show) cat ${shown};; cat) cat ${unit};; esac\n${script}`);
}

const RUNNING = [
  "ActiveState=active",
  "SubState=running",
  "UnitFileState=enabled",
  "FragmentPath=/etc/systemd/system/vetwire-agent.service",
  "MainPID=4711",
  "ActiveEnterTimestamp=Mon 2026-11-23 17:00:00 UTC",
  "ExecMainStatus=0",
  "",
].join("\n");

describe("systemd", () => {
  beforeEach(() => {
    standIn("useradd", "exit 9");
    standIn("chown");
    systemctl(null);
  });

  test("gets the user, the folders, the unit and the start", async () => {
    expect(await installService(LINUX_AGENT, machineOf(systemd))).toEqual([]);
    expect(changes()).toEqual([
      "useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin vetwire",
      `chown vetwire: ${root}/etc/vetwire`,
      "systemctl daemon-reload",
      "systemctl enable --now vetwire-agent.service",
    ]);
    const unit = path.join(root, "etc/systemd/system/vetwire-agent.service");
    expect(fs.readFileSync(unit, "utf8")).toBe(systemdUnit(LINUX_AGENT));
    expect(fs.existsSync(path.join(root, "var/lib"))).toBe(false);
  });

  test("notes an existing folder that the service cannot write", async () => {
    standIn("id", "echo 999");
    fs.mkdirSync(path.join(root, "etc/vetwire"), { recursive: true });
    expect(await installService(LINUX_AGENT, machineOf(systemd))).toEqual([
      `the service runs as the user vetwire, who has to read and write ${root}/etc/vetwire: chown -R vetwire: ${root}/etc/vetwire`,
    ]);
  });

  test("refuses a configuration in a home folder, unless that folder is the service's", async () => {
    const [uid, home] = [process.getuid?.() ?? 0, path.join(root, "home/me")];
    fs.mkdirSync(home, { recursive: true });
    for (const name of ["agent.yaml", ".bashrc"]) fs.writeFileSync(path.join(home, name), "");
    const service = { ...LINUX_AGENT, config: "/home/me/agent.yaml" };
    standIn("id", `echo ${uid + 1}`);
    await expect(installService(service, machineOf(systemd))).rejects.toThrow(
      "which also holds .bashrc: put agent.yaml into a folder of its own, such as /etc/vetwire/agent.yaml",
    );
    expect(changes()).toEqual([]);
    standIn("id", `echo ${uid}`);
    expect(await installService(service, machineOf(systemd))).toEqual([]);
  });

  test("loses what a failed installation left, and its reason is reported", async () => {
    const fails = `[ "$1" = enable ] && { echo "Failed to enable: Unit is masked." >&2; exit 1; }; exit 0`;
    systemctl(null, "", fails);
    await expect(installService(LINUX_AGENT, machineOf(systemd))).rejects.toThrow(
      "systemctl enable --now vetwire-agent.service failed with code 1: Failed to enable: Unit is masked.",
    );
    expect(fs.existsSync(path.join(root, "etc/systemd/system/vetwire-agent.service"))).toBe(false);
    expect(changes().slice(-3)).toEqual([
      "systemctl disable --now vetwire-agent.service",
      "systemctl daemon-reload",
      "systemctl reset-failed vetwire-agent.service",
    ]);
  });

  test("keeps a service that has the name, ours or another program's", async () => {
    systemctl(LINUX_AGENT, RUNNING);
    await expect(installService(LINUX_AGENT, machineOf(systemd))).rejects.toThrow(
      /vetwire-agent is installed already: remove/,
    );
    fs.writeFileSync(path.join(root, "unit"), "[Service]\nExecStart=/usr/sbin/other --name vetwire-agent\n");
    await expect(installService(LINUX_AGENT, machineOf(systemd))).rejects.toThrow(
      "another program's service has the name vetwire-agent: choose another one with --name",
    );
    await expect(uninstallService("vetwire-agent", machineOf(systemd))).rejects.toThrow(/belongs to another program/);
    await expect(switchService("vetwire-agent", "stop", machineOf(systemd))).rejects.toThrow(
      /belongs to another program/,
    );
    expect(changes()).toEqual([]);
  });

  test("refuses a wrong name before a query", async () => {
    await expect(installService({ ...LINUX_AGENT, name: "../x" }, machineOf(systemd))).rejects.toThrow(
      /is not a name for a service/,
    );
    expect(fs.existsSync(path.join(root, "words"))).toBe(false);
  });

  test("is missing on other machines, or does not run", async () => {
    systemctl(LINUX_AGENT, "", `echo "System has not been booted with systemd" >&2; exit 1`);
    fs.writeFileSync(path.join(root, "shown"), "");
    await expect(installService(LINUX_AGENT, machineOf(systemd))).rejects.toThrow(
      "no service can be installed: systemd does not run on this machine",
    );
    process.env["PATH"] = path.join(root, "nothing");
    await expect(installService(LINUX_AGENT, machineOf(systemd))).rejects.toThrow(/this machine has no systemctl/);
  });

  test("removes a service and keeps its data, but not that of a package", async () => {
    systemctl(LINUX_AGENT, RUNNING);
    const unit = path.join(root, "etc/systemd/system/vetwire-agent.service");
    fs.mkdirSync(path.dirname(unit), { recursive: true });
    fs.writeFileSync(unit, "");
    const { config, state } = await uninstallService("vetwire-agent", machineOf(systemd));
    expect([config, state, fs.existsSync(unit)]).toEqual(["/etc/vetwire/agent.yaml", "/var/lib/vetwire/agent", false]);
    systemctl(LINUX_AGENT, RUNNING.replace("/etc/systemd", "/usr/lib/systemd"));
    await expect(uninstallService("vetwire-agent", machineOf(systemd))).rejects.toThrow(
      "a package installed vetwire-agent: remove it with apt remove vetwire-agent",
    );
  });

  test("starts and stops a service that is not so already", async () => {
    systemctl(LINUX_AGENT, RUNNING);
    await switchService("vetwire-agent", "start", machineOf(systemd));
    await switchService("vetwire-agent", "stop", machineOf(systemd));
    systemctl(LINUX_AGENT, "ActiveState=inactive\nUnitFileState=enabled\n");
    await switchService("vetwire-agent", "stop", machineOf(systemd));
    await switchService("vetwire-agent", "start", machineOf(systemd));
    expect(changes()).toEqual(["systemctl stop vetwire-agent.service", "systemctl enable --now vetwire-agent.service"]);
  });

  test.each([
    [RUNNING, { is: "running", since: "2026-11-23T17:00:00.000Z", process: 4711 }],
    ["ActiveState=inactive\n", { is: "stopped" }],
    ["ActiveState=failed\nExecMainStatus=78\n", { is: "failed", code: 78 }],
    ["ActiveState=deactivating\nSubState=stop-sigterm\n", { is: "changing" }],
    [
      "ActiveState=activating\nSubState=auto-restart\nExecMainStatus=1\nRestartUSec=5s\nStateChangeTimestamp=Mon 2026-11-23 17:00:58 UTC\n",
      { is: "waiting", code: 1, at: "2026-11-23T17:01:03.000Z" },
    ],
  ])("reports the state of %s", async (shown, state) => {
    systemctl(LINUX_AGENT, shown);
    expect(await findService("vetwire-agent", machineOf(systemd))).toMatchObject({ is: "installed", state });
  });
});

describe("Windows", () => {
  /** Lets sc.exe know no service, or one in this state. */
  function sc(service: ServiceDescription | null, query = "", script = ""): void {
    const line = service === null ? "C:\\other.exe" : windowsLine(shawlWords(service));
    const shown = answerFile("query", query);
    const config = answerFile(
      "config",
      `[SC] QueryServiceConfig SUCCESS\r\n        START_TYPE         : 2   AUTO_START  (DELAYED)\r\n        BINARY_PATH_NAME   : ${line}\r\n`,
    );
    const missing = `echo "[SC] EnumQueryServicesStatus:OpenService FEHLER 1060:"; exit 36`;
    standIn(
      "sc.exe",
      `case "$1" in queryex) ${query === "" ? missing : `cat ${shown}`};; qc) cat ${config};; esac\n${script}`,
    );
  }

  const QUERY = (state: string, exit = "0", own = "0") =>
    [
      "SERVICE_NAME: vetwire-agent",
      "        TYPE               : 10  WIN32_OWN_PROCESS",
      `        STATE              : ${state}`,
      `        WIN32_EXIT_CODE    : ${exit}  (0x0)`,
      `        SERVICE_EXIT_CODE  : ${own}  (0x0)`,
      "        CHECKPOINT         : 0x0",
      "        WAIT_HINT          : 0x0",
      "        PID                : 4711",
      "        FLAGS              :",
    ].join("\r\n");

  beforeEach(() => {
    sc(null);
    standIn("icacls.exe");
    fs.writeFileSync(path.join(root, "C:\\Program Files\\Vetwire Agent\\runtime\\shawl.exe"), "");
  });

  test("gets the service, its restarts, the rights to its folders and the start", async () => {
    await installService(WINDOWS_AGENT, machineOf(windows));
    const lines = changes();
    expect(lines[0]).toBe(
      `sc.exe create vetwire-agent binPath= ${windowsLine(shawlWords(WINDOWS_AGENT))} start= delayed-auto ` +
        "obj= NT SERVICE\\vetwire-agent DisplayName= Vetwire agent (vetwire-agent)",
    );
    expect(lines.slice(2, 4)).toEqual([
      "sc.exe failure vetwire-agent reset= 86400 actions= restart/5000/restart/30000/restart/300000",
      "sc.exe failureflag vetwire-agent 1",
    ]);
    expect(lines.map((line) => line.split(" ").slice(0, 2).join(" "))).toEqual([
      ...["sc.exe create", "sc.exe description", "sc.exe failure", "sc.exe failureflag"],
      ...["icacls.exe C:\\ProgramData\\Vetwire", "icacls.exe C:\\ProgramData\\Vetwire\\agent", "sc.exe start"],
    ]);
  });

  test("closes only folders that it makes or that are Vetwire's; a folder of a person gets the service as a further user", async () => {
    fs.mkdirSync(path.join(root, "D:\\Backups"));
    fs.mkdirSync(path.join(root, "C:\\ProgramData\\Vetwire"));
    const config = "D:\\Vetwire\\agent.yaml";
    const writable = ["D:\\Backups", "C:\\programdata\\vetwire"];
    fs.mkdirSync(path.join(root, "C:\\programdata\\vetwire"));
    await installService({ ...WINDOWS_AGENT, config, writable }, machineOf(windows));
    const rights = changes().flatMap((line) => /^icacls\.exe (\S+ \S+)/.exec(line)?.[1] ?? []);
    expect(rights).toEqual([
      ...["D:\\Vetwire /inheritance:r", "C:\\ProgramData\\Vetwire\\agent /inheritance:r"],
      ...["D:\\Backups /grant", "C:\\programdata\\vetwire /inheritance:r"],
    ]);
    expect(changes()).toContain("icacls.exe D:\\Backups /grant NT SERVICE\\vetwire-agent:(OI)(CI)M");
  });

  test("refuses a configuration next to the files of a person, and takes one in a folder of its own", async () => {
    const documents = path.join(root, "C:\\Users\\me\\Documents");
    fs.mkdirSync(documents);
    for (const name of ["agent.yaml", "agent.yaml.previous", "agent.key", "data", "tax.xlsx"])
      fs.writeFileSync(path.join(documents, name), "");
    const service = { ...WINDOWS_AGENT, config: "C:\\Users\\me\\Documents\\agent.yaml" };
    await expect(installService(service, machineOf(windows))).rejects.toThrow(
      "the service would get rights to all of C:\\Users\\me\\Documents, which also holds tax.xlsx: " +
        "put agent.yaml into a folder of its own, such as C:\\ProgramData\\Vetwire\\agent.yaml",
    );
    expect(changes()).toEqual([]);
    fs.rmSync(path.join(documents, "tax.xlsx"));
    await installService(service, machineOf(windows));
    expect(changes().filter((line) => line.includes("Documents /inheritance"))).toEqual([]);
  });

  test("names the missing program, and who has to run the command", async () => {
    fs.rmSync(path.join(root, "C:\\Program Files\\Vetwire Agent\\runtime\\shawl.exe"));
    await expect(installService(WINDOWS_AGENT, machineOf(windows))).rejects.toThrow(
      /shawl\.exe is missing: install Vetwire by its \.msi package/,
    );
    sc(WINDOWS_AGENT, QUERY("4  RUNNING"), `[ "$1" = stop ] && { echo "[SC] OpenService FEHLER 5:"; exit 5; }; exit 0`);
    await expect(switchService("vetwire-agent", "stop", machineOf(windows))).rejects.toThrow(
      "an administrator has to do this: sc.exe stop vetwire-agent (in a command prompt that you start as administrator)",
    );
  });

  test("removes a service, also a stopped one", async () => {
    sc(WINDOWS_AGENT, QUERY("1  STOPPED"), `[ "$1" = stop ] && exit 38; exit 0`);
    await uninstallService("vetwire-agent", machineOf(windows));
    expect(changes()).toEqual(["sc.exe stop vetwire-agent", "sc.exe delete vetwire-agent"]);
  });

  test.each([
    [QUERY("4  RUNNING"), { is: "running", since: null, process: 4711 }],
    [QUERY("2  START_PENDING"), { is: "changing" }],
    [QUERY("1  STOPPED", "1077"), { is: "stopped" }],
    [QUERY("1  STOPPED", "1066", "3"), { is: "failed", code: 3 }],
    [QUERY("1  STOPPED", "1067"), { is: "failed", code: 1067 }],
  ])("reports the state of %s", async (query, state) => {
    sc(WINDOWS_AGENT, query);
    const { writable: _, ...service } = WINDOWS_AGENT;
    expect(await findService("vetwire-agent", machineOf(windows))).toEqual({
      ...{ is: "installed", service, state, startsWithMachine: true, packaged: null },
    });
  });

  test("leaves another program's service alone", async () => {
    sc(null, QUERY("4  RUNNING"));
    await expect(uninstallService("vetwire-agent", machineOf(windows))).rejects.toThrow(/belongs to another program/);
    expect(changes()).toEqual([]);
  });
});
