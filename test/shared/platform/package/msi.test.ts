import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { packMsi } from "../../../../shared/platform/package/msi.ts";
import type { PackOrder } from "../../../../shared/platform/package/pack.ts";
import { serviceSid } from "../../../../shared/platform/package/windows-program.ts";
import { wixl } from "../../../support/machine/wine.ts";
import { temporaryFolder } from "../../../support/machine/processes.ts";

// Goal: the tables of a Windows package. Method: a program of a few files, and msiinfo. msi.long.test.ts installs a complete one.

const TIME_S = 1_700_000_000;

let folder: string;

beforeAll(() => {
  folder = temporaryFolder();
  const files = ["bin/vetwire.cmd", "runtime/node.exe", "runtime/shawl.exe", "app/shared/main.js", "app/a & b.js"];
  for (const name of files) {
    const file = path.join(folder, "staged", name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, name);
    fs.utimesSync(file, TIME_S, TIME_S);
  }
});

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

async function pack(changes: Partial<PackOrder> = {}, version = "0.1.0"): Promise<string> {
  const [work, out] = ["work-", "out-"].map((name) => fs.mkdtempSync(path.join(folder, name)));
  const release = { version, time: TIME_S, publicKey: null };
  const staged = path.join(folder, "staged");
  return packMsi({
    ...{ program: "agent", platform: "win-x64", release, staged, work: work!, out: out!, authenticode: null },
    ...changes,
  });
}

/** Returns the rows of a table, each by its columns. */
function rows(file: string, table: string): Record<string, string>[] {
  const [columns = "", , , ...lines] = execFileSync("msiinfo", ["export", file, table], { encoding: "utf8" })
    .replaceAll("\r", "")
    .trimEnd()
    .split("\n");
  const names = columns.split("\t");
  return lines.map((line) => Object.fromEntries(line.split("\t").map((cell, index) => [names[index], cell])));
}

function property(file: string, name: string): string | undefined {
  return rows(file, "Property").find(({ Property }) => Property === name)?.["Value"];
}

test("the SID of a service equals that of Windows", () => {
  // The known one of a service that every Windows has.
  expect(serviceSid("TrustedInstaller")).toBe("S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464");
});

describe.skipIf(!wixl)("a Windows package", () => {
  test("the same sources give the same bytes, whenever and wherever they are packed", async () => {
    const first = await pack();
    // The times of a summary and of a cabinet count seconds and two seconds.
    await new Promise((resolve) => setTimeout(resolve, 2100));
    expect(fs.readFileSync(await pack()).equals(fs.readFileSync(first))).toBe(true);
    const summary = execFileSync("msiinfo", ["suminfo", first], {
      encoding: "utf8",
      env: { ...process.env, TZ: "UTC" },
    });
    expect(summary).toContain("Created: Tue Nov 14 22:13:20 2023");
    expect(summary).toContain("Template: x64;1033");
  });

  test("versions of a program share its code and the codes of their files, and no other code", async () => {
    const [older, newer] = [await pack(), await pack({}, "0.2.0")];
    expect(property(newer, "UpgradeCode")).toBe(property(older, "UpgradeCode"));
    expect(property(newer, "ProductCode")).not.toBe(property(older, "ProductCode"));
    const codes = (file: string) => rows(file, "Component").map(({ ComponentId }) => ComponentId);
    expect(codes(newer)).toEqual(codes(older));
    const server = await pack({ program: "server" });
    expect(property(server, "UpgradeCode")).not.toBe(property(older, "UpgradeCode"));
    expect(codes(server).filter((code) => codes(older).includes(code))).toEqual([]);
  });

  test("a lower version is refused with what to do, and a failed upgrade brings the old version back", async () => {
    const file = await pack();
    expect(rows(file, "LaunchCondition")).toEqual([
      {
        Condition: "NOT WIX_DOWNGRADE_DETECTED",
        Description:
          "A newer version of Vetwire Agent is installed. Uninstall it first if you want this older one: its configuration and its data stay.",
      },
    ]);
    const at = (name: string) =>
      Number(rows(file, "InstallExecuteSequence").find(({ Action }) => Action === name)?.["Sequence"]);
    expect(at("RemoveExistingProducts")).toBeGreaterThan(at("InstallInitialize"));
    expect(at("RemoveExistingProducts")).toBeLessThan(at("InstallFiles"));
    expect(property(file, "REINSTALLMODE")).toBe("amus");
  });

  test("the service has an account of its own, and starts with the machine and after a failure", async () => {
    const file = await pack();
    const [service] = rows(file, "ServiceInstall");
    expect(service).toMatchObject({ Name: "vetwire-agent", StartType: "2", StartName: "NT SERVICE\\vetwire-agent" });
    expect(service!["Arguments"]).toMatch(
      /^run --name vetwire-agent --restart-if-not 78 .* -- "\[INSTALLDIR\]runtime\\node\.exe" /,
    );
    expect(service!["Arguments"]).toMatch(/ -- --set-up --config "\[CommonAppDataFolder\]Vetwire\\agent\.yaml"$/);
    const actions = rows(file, "CustomAction").filter(({ Action }) => Action?.startsWith("Recovery"));
    expect(actions.map(({ Target }) => Target)).toEqual([
      "[System64Folder]sc.exe failure vetwire-agent reset= 86400 actions= restart/5000/restart/30000/restart/300000",
      "[System64Folder]sc.exe failureflag vetwire-agent 1",
    ]);
  });

  test("an uninstallation removes the copies of later versions, before the folders that must be empty", async () => {
    const file = await pack();
    expect(rows(file, "CustomAction").find(({ Action }) => Action === "RemoveLater")).toMatchObject({
      ...{ Source: "INSTALLDIR", Target: '[System64Folder]cmd.exe /c rd /s /q "app\\later"' },
    });
    const steps = rows(file, "InstallExecuteSequence")
      .filter(({ Action = "" }) => ["RemoveFiles", "RemoveLater", "RemoveFolders"].includes(Action))
      .toSorted((one, other) => Number(one["Sequence"]) - Number(other["Sequence"]));
    expect(steps.map(({ Action, Condition }) => [Action, Condition])).toEqual([
      ["RemoveLater", 'REMOVE="ALL"'],
      ["RemoveFiles", ""],
      ["RemoveFolders", ""],
    ]);
  });

  test("only the system, administrators and the service have rights to its data", async () => {
    const rights = (sid: string) => `D:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;FA;;;${sid})`;
    const agent = { LockObject: "DATADIR", Table: "CreateFolder", SDDLText: rights(serviceSid("vetwire-agent")) };
    const server = { LockObject: "SERVERDIR", Table: "CreateFolder", SDDLText: rights(serviceSid("vetwire-server")) };
    expect(rows(await pack(), "MsiLockPermissionsEx")).toMatchObject([agent]);
    expect(rows(await pack({ program: "server" }), "MsiLockPermissionsEx")).toMatchObject([agent, server]);
  });

  test("a certificate signs the package", async () => {
    const [certificate, key] = ["certificate.pem", "key.pem"].map((name) => path.join(folder, name)) as [
      string,
      string,
    ];
    const usage = ["-addext", "extendedKeyUsage=codeSigning", "-subj", "/CN=Test clinic software"];
    execFileSync(
      "openssl",
      ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", ...usage, "-keyout", key, "-out", certificate],
      { stdio: "ignore" },
    );
    const file = await pack({ authenticode: { certificate, key } });
    const verify = (trusted: string) =>
      execFileSync("osslsigncode", ["verify", "-CAfile", trusted, "-in", file], { encoding: "utf8", stdio: "pipe" });
    expect(verify(certificate)).toContain("Signature verification: ok");
    const bytes = fs.readFileSync(file);
    bytes[bytes.indexOf("A newer version")]! ^= 1;
    fs.writeFileSync(file, bytes);
    expect(() => verify(certificate)).toThrow("Command failed: osslsigncode verify");
  });

  test.each(["1.2", "1.2.3-rc.1", "256.0.0", "1.2.65536"])(
    "the version %s is refused with the form that Windows takes",
    async (version) => {
      await expect(pack({}, version)).rejects.toThrow(
        `the version ${version} is not possible on Windows: give three numbers, such as 1.2.3, at most 255.255.65535`,
      );
    },
  );

  test("a file whose name wixl cannot read is refused by name", async () => {
    const staged = fs.mkdtempSync(path.join(folder, "staged-"));
    fs.writeFileSync(path.join(staged, "snow ☃.txt"), "");
    await expect(pack({ staged })).rejects.toThrow("snow ☃.txt has a name that wixl cannot read");
  });
});
