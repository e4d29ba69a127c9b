import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { session, vetScanRecords } from "../../../support/protocols/astm.ts";
import { DebianRoot, debianRootProblem } from "../../../support/machine/debian-root.ts";
import { type Installation, InstalledWorld } from "../../../support/machine/installed-world.ts";
import { Load, studiesOf } from "../../../support/machine/crash.ts";
import { makePackages } from "../../../support/machine/packages.ts";
import { temporaryFolder, until } from "../../../support/machine/processes.ts";

// Goal: the Debian packages need neither Node nor a compiler, keep data and promises over an upgrade, and leave nothing after a
// purge. Method: dpkg installs them in a Debian without systemd. The test starts what the units start, as their user.

const problem = debianRootProblem();
if (problem !== null) process.stderr.write(`the tests of the Debian packages do not run: ${problem}\n`);

let folder: string;
let packages: { agent: string; server: string; newer: string };
let root: DebianRoot;
let ports: readonly number[];
let before: readonly string[];
let world: InstalledWorld;

/** Starts what the unit starts, as systemd does: with its user, its folder of state, and the variables of /etc/default. */
const installed: Installation = {
  user: "vetwire",
  config: "/etc/vetwire/agent.yaml",
  agentData: "/var/lib/vetwire/agent",
  serverData: "/var/lib/vetwire/server",
  vetwire: "/usr/bin/vetwire",
  run(program, serverPort) {
    const name = `vetwire-${program}`;
    const unit = fs.readFileSync(root.at(`/usr/lib/systemd/system/${name}.service`), "utf8");
    const setting = (key: string) => new RegExp(`^${key}=(.+)$`, "m").exec(unit)?.[1] ?? `no ${key}`;
    if (program === "server")
      fs.appendFileSync(root.at(`/etc/default/${name}`), `RUN_OPTIONS="--port ${serverPort}"\n`);
    root.run(
      "install",
      "-d",
      "-m",
      "0700",
      "-o",
      setting("User"),
      "-g",
      setting("User"),
      `/var/lib/${setting("StateDirectory")}`,
    );
    const user = `--reuid=${setting("User")} --regid=${setting("User")} --clear-groups --no-new-privs`;
    const variables = setting("EnvironmentFile").replace(/^-/, "");
    return ["sh", "-c", `set -a; . ${variables}; exec setpriv ${user} ${setting("ExecStart")}`];
  },
};

beforeAll(() => {
  if (problem !== null) return;
  folder = temporaryFolder();
  const [agent = "", server = ""] = makePackages("deb", folder, "--release-version", "0.1.0");
  const [newer = ""] = makePackages("deb", folder, "--program", "agent", "--release-version", "0.2.0-rc.1");
  packages = { agent, server, newer };
  root = DebianRoot.create();
  before = root.files();
}, 600_000);

afterAll(async () => {
  await world?.end();
  root?.end();
  if (folder !== undefined) fs.rmSync(folder, { recursive: true });
});

describe.skipIf(problem !== null)("the Debian packages", { timeout: 300_000 }, () => {
  test("systemd accepts the units", () => {
    const tree = path.join(folder, "tree");
    for (const file of [packages.agent, packages.server]) execFileSync("dpkg-deb", ["-x", file, tree]);
    const units = path.join(tree, "usr/lib/systemd/system");
    fs.cpSync("/usr/lib/systemd/system", units, { recursive: true, verbatimSymlinks: true });
    for (const name of ["vetwire-agent", "vetwire-server"]) {
      const words = ["verify", `--root=${tree}`, `${name}.service`];
      const { status, stderr } = spawnSync("systemd-analyze", words, { encoding: "utf8" });
      expect([name, status, stderr]).toEqual([name, 0, ""]);
      const options = ["security", "--offline=true", path.join(units, `${name}.service`)];
      const security = execFileSync("systemd-analyze", options, { encoding: "utf8" });
      expect(Number(/exposure level for \S+: ([\d.]+)/.exec(security)?.[1])).toBeLessThanOrEqual(3);
    }
    fs.rmSync(tree, { recursive: true });
  });

  test("dpkg installs both in a Debian without Node and without a compiler", () => {
    for (const tool of ["node", "npm", "cc", "gcc", "make", "python3", "systemctl"])
      expect(root.run("sh", "-c", `command -v ${tool} || echo missing`)).toBe("missing\n");
    root.install(packages.server, packages.agent);
    expect(root.run("dpkg-query", "-W", "-f", "${Package} ${Version} ${Status}\n", "vetwire-*")).toBe(
      "vetwire-agent 0.1.0 install ok installed\nvetwire-server 0.1.0 install ok installed\n",
    );
    expect(root.run("vetwire", "--version")).toBe("0.1.0\n");
    expect(root.run("dpkg", "--verify", "vetwire-agent", "vetwire-server")).toBe("");
    const wants = "/etc/systemd/system/multi-user.target.wants";
    expect(fs.readdirSync(root.at(wants))).toEqual(["vetwire-agent.service", "vetwire-server.service"]);
    expect(root.run("stat", "-c", "%U %a", "/etc/vetwire", "/etc/default/vetwire-server")).toBe(
      "vetwire 750\nroot 600\n",
    );
  });

  test("a first installation of the server prints the set-up code, an upgrade does not", () => {
    // As with systemd, whose service has written the code. The calls to systemctl fail, and the script goes on.
    const code = root.at("/var/lib/vetwire/server/setup-code");
    for (const place of [root.at("/run/systemd/system"), path.dirname(code)]) fs.mkdirSync(place, { recursive: true });
    fs.writeFileSync(code, "MELON-STONE\n");
    const configure = (...old: string[]) =>
      root.run("sh", "/var/lib/dpkg/info/vetwire-server.postinst", "configure", ...old);
    expect(configure("")).toBe(
      "vetwire-server: open http://127.0.0.1:8080/dashboard with the set-up code MELON-STONE\n",
    );
    expect(configure("0.1.0")).toBe("");
    // A service that does not start ends the wait.
    fs.rmSync(path.dirname(code), { recursive: true });
    expect(configure("")).toContain("has not started yet. See: systemctl status vetwire-server.service\n");
    fs.rmSync(root.at("/run/systemd"), { recursive: true });
  });

  test("a VetScan session over TCP becomes a study", async () => {
    world = await InstalledWorld.install(root, installed, 8);
    ports = await world.configureDevices(4, "abaxis-vetscan-vs2", "generic-hl7");
    await world.startAgent();
    await world.waitForPatients();
    const run = { patient: "5000", species: "Dog", collected: "20251231120000", alt: 80_000 } as const;
    fs.writeFileSync(root.at("/tmp/dog.astm"), session(vetScanRecords(run)));
    root.run("vetwire", "agent", "simulate", "/tmp/dog.astm", "--to", `tcp://127.0.0.1:${ports[0]}`);
    const study = await world.getStudy(await world.firstFiled("device-0"));
    expect(study).toMatchObject({ status: 200, body: { success: true, data: { status: "COMPLETED" } } });
    expect(world.serverStudies()).toMatchObject([{ patient: world.patients[0]?.fp, results: [{ value: 80_000 }, {}] }]);
  });

  test("an upgrade under sending devices loses no acknowledged message and files none twice", async () => {
    const load = new Load(world, ports);
    load.start();
    const sent = (count: number) => until("devices send", () => load.acknowledged.length >= count);
    await sent(10);
    // The old program runs from replaced files until its restart.
    root.install(packages.newer);
    await sent(load.acknowledged.length + 10);
    expect(await world.agent.end()).toBe(0);
    await world.startAgent();
    await sent(load.acknowledged.length + 10);
    await load.stop();
    await world.placed();
    const { numbers, twice, wrongPatient } = studiesOf(world);
    const lost = load.acknowledged.filter(({ number }) => !numbers.has(number));
    expect({ lost, twice, wrongPatient }).toEqual({ lost: [], twice: [], wrongPatient: [] });
    // The command is the server's, which is still of the version before, and which could not read what the agent has stored.
    const versions = [["--version"], ["agent", "--version"], ["server", "--version"]];
    expect(versions.map((words) => root.run("vetwire", ...words))).toEqual(["0.1.0\n", "0.2.0-rc.1\n", "0.1.0\n"]);
    expect(root.run("dpkg-query", "-W", "-f", "${Version}", "vetwire-agent")).toBe("0.2.0~rc.1");
    // The administrator's line of the conffile stays.
    expect(fs.readFileSync(root.at("/etc/default/vetwire-server"), "utf8")).toContain("--port");
  });

  test("removal keeps configuration and data", async () => {
    await world.end();
    const kept = () => [world.config, world.agentData, world.serverData].flatMap((place) => contents(place));
    const files = kept();
    root.run("dpkg", "--remove", "vetwire-agent", "vetwire-server");
    expect(kept()).toEqual(files);
    expect(fs.existsSync(root.at("/usr/bin/vetwire"))).toBe(false);
  });

  test("the agent's purge leaves the server's data and user, the server's purge leaves nothing", () => {
    root.run("dpkg", "--purge", "vetwire-agent");
    expect(fs.existsSync(world.agentData)).toBe(false);
    expect(contents(world.serverData)).toContain("vetwire.db");
    expect(root.run("id", "-un", "vetwire")).toBe("vetwire\n");
    root.run("dpkg", "--purge", "vetwire-server");
    expect(root.files()).toEqual(before);
    expect(root.run("sh", "-c", "id vetwire || echo gone")).toBe("gone\n");
  });

  // It installs and purges four times.
  test.runIf(process.env["ALL"] === "1")(
    "a purge leaves what others have in the folder, their user, and the key that a second agent has too",
    () => {
      const purged = () => {
        root.install(packages.agent);
        for (const name of ["agent.yaml", "agent.yaml.previous", "agent.key"]) fs.writeFileSync(etc(name), "");
        root.run("dpkg", "--purge", "vetwire-agent");
        return fs.existsSync(etc("")) ? contents(etc("")).toSorted() : null;
      };
      const etc = (name: string) => root.at(`/etc/vetwire/${name}`);
      const unit = root.at("/etc/systemd/system/vetwire-lab.service");
      fs.mkdirSync(etc(""));
      fs.writeFileSync(etc("server.pem"), "of a server from the archive");
      expect(purged()).toEqual(["server.pem"]);
      fs.writeFileSync(etc("agent-lab.yaml"), "server: { keyFile: agent.key }\n");
      expect(purged()).toEqual(["agent-lab.yaml", "agent.key", "server.pem"]);
      expect(root.run("id", "-un", "vetwire")).toBe("vetwire\n");
      for (const name of contents(etc(""))) fs.rmSync(etc(name));
      fs.writeFileSync(unit, "[Service]\nUser=vetwire\n");
      expect(purged()).toEqual([]);
      fs.rmSync(unit);
      expect(purged()).toBeNull();
      expect(root.files()).toEqual(before);
      expect(root.run("sh", "-c", "id vetwire || echo gone")).toBe("gone\n");
    },
  );
});

/** @returns the names below a folder, or of a file */
function contents(place: string): string[] {
  if (!fs.statSync(place).isDirectory()) return [path.basename(place)];
  return fs.readdirSync(place, { recursive: true, encoding: "utf8" });
}
