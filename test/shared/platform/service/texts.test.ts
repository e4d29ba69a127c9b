import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { installedService, nameProblem } from "../../../../shared/platform/service/description.ts";
import { systemdUnit, unitWords } from "../../../../shared/platform/service/systemd-unit.ts";
import { shawlWords, windows } from "../../../../shared/platform/service/windows.ts";
import { windowsLine, windowsWords } from "../../../../shared/platform/service/windows-words.ts";
import { HOME_SERVER, LINUX_AGENT, WINDOWS_AGENT } from "./services.ts";

// Goal: the files and command lines of each platform are right. Method: systemd judges its units itself; each text is read back
// to the service that it describes.

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "vetwire-units-"));
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;
if (!hasSystemd) process.stderr.write("units are not judged: install systemd\n");

/** Writes a unit whose program exists, as systemd demands. */
function unitFile(text: string, name: string): string {
  const file = path.join(folder, `${name}.service`);
  fs.writeFileSync(file, text);
  return file;
}

describe("the unit of systemd", () => {
  test.skipIf(!hasSystemd).each([LINUX_AGENT, HOME_SERVER])(
    "of the $program is accepted, and safe by the measure of systemd",
    (service) => {
      const node = path.join(folder, "node with spaces");
      fs.writeFileSync(node, "", { mode: 0o755 });
      const file = unitFile(systemdUnit({ ...service, node }), service.name);
      const verified = spawnSync("systemd-analyze", ["verify", file], { encoding: "utf8" });
      expect([verified.status, verified.stderr]).toEqual([0, ""]);
      const security = execFileSync("systemd-analyze", ["security", "--offline=true", file], { encoding: "utf8" });
      const [, exposure = "10"] = /exposure level for \S+: ([\d.]+)/.exec(security) ?? [];
      expect(Number(exposure)).toBeLessThanOrEqual(3);
    },
  );

  test("restarts the program unless the configuration is refused, and opens serial ports to the agent alone", () => {
    const lines = systemdUnit(LINUX_AGENT).split("\n");
    expect(lines).toEqual(
      expect.arrayContaining([
        "Restart=always",
        "RestartPreventExitStatus=78",
        "SupplementaryGroups=dialout",
        "DeviceAllow=char-ttyUSB rw",
        "StateDirectory=vetwire/agent",
        "ExecPaths=/var/lib/vetwire/agent",
        "ReadWritePaths=/etc/vetwire",
        "Environment=RUN_OPTIONS=",
        "EnvironmentFile=-/etc/default/vetwire-agent",
        "ExecStart=/usr/lib/vetwire-agent/runtime/node /usr/lib/vetwire-agent/app/shared/main.js service run agent " +
          "--name vetwire-agent --versions /var/lib/vetwire/agent/versions -- --set-up --config /etc/vetwire/agent.yaml $RUN_OPTIONS",
      ]),
    );
    const server = systemdUnit(HOME_SERVER);
    expect(server).not.toMatch(/dialout|DeviceAllow/);
    expect(server).toContain("PrivateDevices=yes\n");
  });

  test("shows a program in a home folder to a service that sees no homes", () => {
    const lines = systemdUnit(HOME_SERVER)
      .split("\n")
      .filter((line) => /Paths=|^ProtectHome/.test(line));
    expect(lines).toEqual([
      'BindReadOnlyPaths="/home/ayşe/node v24/bin/node"',
      'BindReadOnlyPaths="/home/ayşe/vet & wire"',
      'ReadWritePaths="/srv/100%% \\"lab\\"/$$server"',
      'ReadWritePaths="/mnt/backups <nas>"',
      "ProtectHome=tmpfs",
    ]);
  });
});

describe("the command line of a Windows service", () => {
  test("quotes paths with spaces and closes no quote by a backslash", () => {
    const service = { ...WINDOWS_AGENT, state: "C:\\Program Data\\Vetwire\\" };
    expect(windowsLine(shawlWords(service))).toBe(
      '"C:\\Program Files\\Vetwire Agent\\runtime\\shawl.exe" run --name vetwire-agent --restart-if-not 78 --pass 0,78 ' +
        '--stop-timeout 25000 --log-dir "C:\\Program Data\\Vetwire\\\\" -- ' +
        '"C:\\Program Files\\Vetwire Agent\\runtime\\node.exe" "C:\\Program Files\\Vetwire Agent\\app\\shared\\main.js" ' +
        'service run agent --name vetwire-agent --versions "C:\\Program Data\\Vetwire\\versions" ' +
        '--log "C:\\Program Data\\Vetwire\\service.log" -- --set-up --config C:\\ProgramData\\Vetwire\\agent.yaml',
    );
  });

  test.each([
    ["a backslash before the closing quote", ["C:\\a b\\", "x"]],
    ["quotes, and backslashes before them", ['a"b', 'a\\"b c', 'a b\\\\"']],
    ["a share, an empty word and a plain path", ["\\\\srv\\share name", "", "C:\\a\\"]],
  ])("is split into the same words with %s", (_, words) => {
    expect(windowsWords(windowsLine(words))).toEqual(words);
  });

  test("lets administrators, the system and the service alone into its folders", () => {
    const steps = windows.install(WINDOWS_AGENT);
    const rights = steps.flatMap((step) => (step.do === "folder" && "made" in step ? [step.made] : []));
    const all = ["*S-1-5-18:(OI)(CI)F", "*S-1-5-32-544:(OI)(CI)F", "NT SERVICE\\vetwire-agent:(OI)(CI)M"];
    expect(rights).toEqual([
      ["icacls.exe", "C:\\ProgramData\\Vetwire", "/inheritance:r", "/grant:r", ...all],
      ["icacls.exe", "C:\\ProgramData\\Vetwire\\agent", "/inheritance:r", "/grant:r", ...all],
    ]);
  });
});

describe("an installed service", () => {
  test.each([LINUX_AGENT, HOME_SERVER])("of the $program is read from its unit", (described) => {
    const { writable: _, ...service } = described;
    expect(installedService(unitWords(systemdUnit({ ...service, writable: [] })))).toEqual(service);
  });

  test("is read from the command line of shawl", () => {
    const { writable: _, ...agent } = WINDOWS_AGENT;
    expect(installedService(windowsWords(windowsLine(shawlWords(agent))))).toEqual(agent);
  });

  test.each([
    "/usr/sbin/sshd -D",
    "",
    "/n /m service run",
    "/n /m service run printer --name a --versions /v -- x",
    "/n /m service run agent --name a",
  ])("is not read from another command line: %s", (line) => {
    expect(installedService(line.split(" "))).toBeNull();
  });
});

test("a name has letters, digits and hyphens, with a letter first", () => {
  const refused = ["", "Vetwire", "a b", "../a", "-a", "1a", "a.b", "a".repeat(41)];
  expect(refused.filter((name) => nameProblem(name) === null)).toEqual([]);
  expect(["a", "vetwire-agent-2"].map(nameProblem)).toEqual([null, null]);
  expect(nameProblem("a b")).toMatch(/^a b is not a name for a service: use up to 40 of a-z, 0-9 and -/);
});
