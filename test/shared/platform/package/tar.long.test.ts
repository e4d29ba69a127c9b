import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { session, vetScanRecords } from "../../../support/protocols/astm.ts";
import { DebianRoot, debianRootProblem } from "../../../support/machine/debian-root.ts";
import { type Installation, InstalledWorld } from "../../../support/machine/installed-world.ts";
import { makePackages } from "../../../support/machine/packages.ts";
import { temporaryFolder } from "../../../support/machine/processes.ts";

// Goal: the archives need neither Node nor a compiler. Method: they are unpacked in a Debian that has only the C and C++
// libraries and the certificates; agent and server run as a user who owns nothing else.

const problem = debianRootProblem();
if (problem !== null) process.stderr.write(`the tests of the archives do not run: ${problem}\n`);

const PROGRAMS = "/opt/vetwire";
const USER = "nobody";

let root: DebianRoot;
let world: InstalledWorld | undefined;

const installed: Installation = {
  user: USER,
  config: "/srv/vetwire/agent.yaml",
  agentData: "/srv/vetwire/agent",
  serverData: "/srv/vetwire/server",
  vetwire: `${PROGRAMS}/server/bin/vetwire`,
  run(program, serverPort) {
    const places =
      program === "agent" ? ["--config", this.config] : ["--data", this.serverData, "--port", `${serverPort}`];
    const words = [`${PROGRAMS}/${program}/bin/vetwire`, program, "run", ...places];
    return ["setpriv", `--reuid=${USER}`, "--regid=nogroup", "--clear-groups", ...words];
  },
};

beforeAll(() => {
  if (problem !== null) return;
  root = DebianRoot.create();
  const folder = temporaryFolder();
  for (const file of makePackages("tar", folder, "--release-version", "0.1.0")) {
    const program = path.basename(file).split("-")[1] ?? "";
    const place = root.at(`${PROGRAMS}/${program}`);
    fs.mkdirSync(place, { recursive: true });
    execFileSync("tar", ["-xzf", file, "-C", place, "--strip-components=1"]);
  }
  fs.rmSync(folder, { recursive: true });
}, 600_000);

afterAll(async () => {
  await world?.end();
  root?.end();
});

describe.skipIf(problem !== null)("the archives", { timeout: 300_000 }, () => {
  test("unpacked without Node, a VetScan session over TCP becomes a study", async () => {
    expect(root.run("sh", "-c", "command -v node || echo missing")).toBe("missing\n");
    world = await InstalledWorld.install(root, installed, 2);
    const [port] = await world.configureDevices(1, "abaxis-vetscan-vs2");
    await world.startAgent();
    await world.waitForPatients();
    const run = { patient: "5001", species: "Cat", collected: "20251231120000", alt: 87 } as const;
    fs.writeFileSync(root.at("/tmp/cat.astm"), session(vetScanRecords(run)));
    root.run(installed.vetwire, "agent", "simulate", "/tmp/cat.astm", "--to", `tcp://127.0.0.1:${port}`);
    const study = await world.getStudy(await world.firstFiled("device-0"));
    expect(study).toMatchObject({ status: 200, body: { success: true, data: { status: "COMPLETED" } } });
    expect(world.serverStudies()).toMatchObject([{ patient: world.patients[1]?.fp, results: [{ value: 87 }, {}] }]);
  });
});
