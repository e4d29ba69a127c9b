import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { VERSION } from "../../../../shared/files/program-files.ts";
import { BootedSystem, SYSTEMS } from "../../../support/machine/booted-system.ts";
import { makePackages } from "../../../support/machine/packages.ts";
import { patiently } from "../../../support/runner/patience.ts";
import { ROOT, temporaryFolder, until } from "../../../support/machine/processes.ts";

// Goal: the packages work in the systems that README.md names, as their users meet them. Method: each system boots with its own
// systemd and apt. The commands are those of README.md. No version before this one was released as a file, so the earlier packages
// are of this tree, under a lower number.

const EARLIER = "0.0.9";
/** The server comes to this version by `vetwire upgrade`, and to that of the next package by apt. */
const BETWEEN = "0.1.5";
const ARCHIVE = `vetwire-server-${BETWEEN}-linux-x64.tar.gz`;
const SERVICES = ["server", "agent"].map((program) => `vetwire-${program}.service`).join(" ");
/** The files that each start, use of apt and log makes. */
const CHANGING = String.raw`^/(proc|sys|dev|run|tmp|var/(log|tmp|cache)|var/lib/(apt|systemd))/|-(old|$)|/etc/.*-$`;

let folder: string;

beforeAll(() => {
  folder = temporaryFolder();
  const [key, secret] = ["release.pub", "release.key"].map((name) => path.join(folder, name)) as [string, string];
  execFileSync("minisign", ["-G", "-W", "-p", key, "-s", secret], { stdio: "ignore" });
  const options = ["--platform", "linux-x64", "--public-key", key];
  for (const version of [EARLIER, VERSION]) makePackages("deb", folder, ...options, "--release-version", version);
  const between = ["--program", "server", "--release-version", BETWEEN, "--sign-key", secret];
  makePackages("tar", folder, ...options, ...between);
}, patiently(600_000));

afterAll(() => fs.rmSync(folder, { recursive: true }));

/** The commands of README.md for files in this folder, for another version and without a question. */
function readmeCommands(version: string): string[] {
  const readme = fs.readFileSync(path.join(ROOT, "README.md"), "utf8");
  const [, block = ""] = /```bash debian\n([^]*?)\n```/.exec(readme) ?? [];
  const lines = block.split("\n").filter((line) => line.startsWith("sudo "));
  return lines.map((line) =>
    line
      .replaceAll("sudo ", "")
      .replaceAll(/_\d+\.\d+\.\d+_/g, `_${version}_`)
      .replace("apt-get install", "apt-get install --yes"),
  );
}

describe.each(SYSTEMS)("$name", { timeout: patiently(300_000) }, (system) => {
  let booted: BootedSystem;
  let before: string;
  let reason: string | null = null;
  let code: string;

  beforeAll(async () => {
    const made = await BootedSystem.boot(system);
    if (typeof made === "string") {
      reason = made;
      process.stderr.write(`the packages are not tried on ${system.name}: ${reason}\n`);
      return;
    }
    booted = made;
    for (const name of fs.readdirSync(folder).filter((each) => /\.(deb|gz|minisig)$/.test(each))) {
      fs.copyFileSync(path.join(folder, name), booted.at(`/root/${name}`));
    }
    before = files();
  }, patiently(600_000));

  beforeEach((context) => context.skip(reason !== null, reason ?? ""));
  afterAll(async () => booted?.end());

  const files = () => booted.run(`find / -xdev | grep -vE '${CHANGING}' | sort`);
  const install = (version: string) => readmeCommands(version).map((line) => booted.run(`cd /root && ${line}`));
  const page = (address: string) => `curl -fsSL -o /dev/null -w '%{http_code}' http://127.0.0.1:${address}`;
  const codesIn = (text: string) => [...text.matchAll(/set-up code (\S+)/g)].map(([, each]) => each);

  async function serves(version: string): Promise<void> {
    await until("both pages", () => {
      const both = booted.run(`${page("8080/dashboard")}; ${page("8081")} || true`);
      return both === "200200";
    });
    expect(booted.run(`systemctl is-active ${SERVICES}`)).toBe("active\nactive\n");
    expect(booted.run("vetwire --version")).toBe(`${version}\n`);
    const status = booted.run("vetwire service status");
    for (const program of ["agent", "server"]) expect(status).toContain(`vetwire-${program}: running since`);
  }

  test("the commands of README.md install both services, and print the set-up code once", async () => {
    const [server = "", shown = "", agent = ""] = install(EARLIER);
    code = shown.trim();
    expect(code).toMatch(/^(\w{4}-){2}\w{4}$/);
    expect([codesIn(server), codesIn(agent)]).toEqual([[code], []]);
    await serves(EARLIER);
    booted.run("vetwire server clinics create --name Moda");
  });

  test("the services start with the machine, without a warning in the journal", async () => {
    expect(booted.run(`systemctl is-enabled ${SERVICES}`)).toBe("enabled\nenabled\n");
    booted.run(`systemctl restart ${SERVICES}`);
    await serves(EARLIER);
    // The code that a person wrote down at the installation.
    expect(booted.run("cat /var/lib/vetwire/server/setup-code").trim()).toBe(code);
    expect(booted.run("journalctl --boot --output=cat --priority=warning")).not.toContain("RUN_OPTIONS");
    expect(booted.run("systemctl list-units --failed --no-legend --plain")).toBe("");
  });

  test("both packages have their equal files once on the disk", () => {
    const size = (...programs: string[]) =>
      Number(
        booted.run(`du -skc ${programs.map((each) => `/usr/lib/vetwire-${each}`).join(" ")} | tail -n 1 | cut -f 1`),
      );
    const [agent, both] = [size("agent"), size("agent", "server")];
    expect(agent).toBeGreaterThan(100_000);
    expect(both).toBeLessThan(1.2 * agent);
    expect(booted.run("dpkg --verify vetwire-agent vetwire-server")).toBe("");
  });

  test("after `vetwire upgrade` the commands run the version in force, by a copy that the service cannot write", () => {
    booted.run("echo VETWIRE_PROBATION_MS=10000 >> /etc/default/vetwire-server; systemctl restart vetwire-server");
    expect(booted.run("vetwire server --version")).toBe(`${EARLIER}\n`);
    expect(booted.run(`vetwire upgrade server --from /root/${ARCHIVE}`)).toContain(`version ${BETWEEN} runs\n`);
    expect(booted.run("vetwire server --version")).toBe(`${BETWEEN}\n`);
    expect(booted.run("vetwire server clinics list")).toContain("Moda");
    expect(booted.run("vetwire server clinics list --wrong || echo code $?")).toMatch(/unknown option[^]*code 1\n$/);
    expect(booted.run("vetwire --version; vetwire agent --version")).toBe(`${EARLIER}\n${EARLIER}\n`);
    const foreign = "find /usr/lib/vetwire-server ! -user root -o ! -type l -perm /022";
    expect(booted.run(foreign)).toBe("");
  });

  test("an upgrade keeps data, configuration and code, and prints no code", async () => {
    booted.run("echo LOG_LEVEL=info >> /etc/default/vetwire-agent");
    const outputs = ["agent", "server"].map((name) =>
      booted.run(`apt-get install --yes /root/vetwire-${name}_${VERSION}_amd64.deb`),
    );
    expect(outputs.flatMap(codesIn)).toEqual([]);
    await serves(VERSION);
    expect(booted.run("vetwire server --version")).toBe(`${VERSION}\n`);
    expect(booted.run("ls /usr/lib/vetwire-server/app")).not.toContain("later");
    expect(booted.run("vetwire server clinics list")).toContain("Moda");
    expect(booted.run("cat /var/lib/vetwire/server/setup-code").trim()).toBe(code);
    expect(booted.run("cat /etc/default/vetwire-agent")).toContain("LOG_LEVEL=info");
    expect(booted.run("dpkg --verify vetwire-agent vetwire-server || true")).toContain("/etc/default/vetwire-agent");
  });

  test("a purge leaves no file, no user and no unit", () => {
    booted.run("apt-get purge --yes vetwire-agent vetwire-server");
    expect(files()).toBe(before);
    expect(booted.run("getent passwd vetwire || echo gone")).toBe("gone\n");
    expect(booted.run("systemctl list-units --all --no-legend --plain 'vetwire*'")).toBe("");
  });

  test("an installation whose service cannot start ends, and says what to do", () => {
    booted.run("ln -s /dev/null /etc/systemd/system/vetwire-server.service");
    const [server = ""] = readmeCommands(VERSION);
    const output = booted.run(`cd /root && ${server}`);
    expect(output).toContain("vetwire-server: the service has not started yet. See: systemctl status vetwire-server");
    expect(codesIn(output.replaceAll("set-up code:", ""))).toEqual([]);
    booted.run("apt-get purge --yes vetwire-server && rm -f /etc/systemd/system/vetwire-server.service");
  });
});
