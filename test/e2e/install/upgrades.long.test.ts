import fs from "node:fs";
import path from "node:path";
import { execFileSync, spawnSync } from "node:child_process";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SCHEMA_VERSION } from "../../../server/database/migrations.ts";
import { storedSchema } from "../../../shared/platform/care/sqlite-schema.ts";
import { readRunning, readUpgrades } from "../../../shared/platform/upgrade/version-store.ts";
import { Load, studiesOf } from "../../support/machine/crash.ts";
import {
  AGENT_KEY_OPTIONS,
  CLINIC,
  clinicFile,
  type Running,
  startProgram,
  temporaryFolder,
  testPatients,
  until,
  World,
} from "../../support/machine/processes.ts";
import { canMount, mountDisk } from "../../support/machine/small-disk.ts";
import { type Patch, releaseProblem, Releases } from "../../support/releases/staged-release.ts";

// Goal: an upgrade that fails in any way leaves a running version, and no acknowledged message is lost or filed twice. Method:
// the staged program runs under its launcher, while an ASTM device sends without end over TCP. Releases with planted faults are
// ordered one after the other. At the end every acknowledged message is exactly one study of its patient.

/** The probation of the tests. The launcher reads it from its environment, since a minute for each upgrade is too long. */
const PROBATION_MS = 10_000;

interface Kind {
  readonly name: string;
  readonly patch: Patch;
  /** Changes the archive after its signature. */
  readonly spoil?: (releases: Releases, file: string) => void;
  /** Words of the command that ordered the upgrade. */
  readonly says: RegExp;
  readonly outcome: "done" | "rolled back" | "refused";
  /** Whether npm test tries it. */
  readonly always?: true;
}

const KINDS: readonly Kind[] = [
  { name: "is good", patch: {}, says: /version 0\.1\.\d+ runs\n/, outcome: "done", always: true },
  {
    name: "does not start",
    patch: { code: 'throw new Error("planted: it does not start");' },
    says: /ended with code 1: .*planted: it does not start/,
    outcome: "rolled back",
  },
  {
    name: "is never ready",
    patch: { code: "await new Promise(() => setInterval(() => undefined, 1000));" },
    says: /it did not become ready in time/,
    outcome: "rolled back",
  },
  {
    name: "crashes while it proves itself",
    patch: { code: 'setTimeout(() => { throw new Error("planted: a crash"); }, 3000);' },
    says: /ended with code 1: .*planted: a crash/,
    outcome: "rolled back",
    always: true,
  },
  {
    name: "is corrupt",
    patch: {},
    spoil: (_, file) => flip(file),
    says: /does not match its signature: fetch it again/,
    outcome: "refused",
    always: true,
  },
  {
    name: "is signed by a stranger",
    patch: {},
    spoil: (releases, file) => releases.signAsStranger(file),
    says: /is signed with the key [0-9A-F]{16}, expected [0-9A-F]{16}/,
    outcome: "refused",
  },
  {
    name: "fills the disk",
    patch: { ballast: 600e6 },
    says: /the disk is full: make room there/,
    outcome: "refused",
  },
];

const problem = releaseProblem() ?? (canMount() ? null : "no disk can be mounted here");
if (problem !== null) process.stderr.write(`no upgrade is tried: ${problem}\n`);

/** The launcher's own tests know the other faults, so npm test tries one of each outcome. */
const TRIED = process.env["ALL"] === "1" ? KINDS : KINDS.filter(({ always }) => always);
const COUNT = process.env["ALL"] === "1" ? 50 : TRIED.length;

let releases: Releases;
let disk: string;

beforeAll(async () => {
  if (problem !== null) return;
  releases = await Releases.create();
  disk = path.join(releases.folder, "disk");
  fs.mkdirSync(disk);
  mountDisk(disk, 560);
}, 300_000);

afterAll(() => {
  if (problem !== null) return;
  execFileSync("umount", ["-l", disk]);
  releases.remove();
});

test.skipIf(problem !== null)(
  `${COUNT} upgrades, most with a fault, leave a running version and lose no acknowledged message of a sending device`,
  { timeout: 3_000_000 },
  async () => {
    const versions = path.join(disk, "versions");
    const world = await World.create(8);
    const [port] = await world.configureDevices(1, "abaxis-vetscan-vs2");
    const load = new Load(world, [port!]);
    load.pauseMs = 100;
    try {
      world.agent = launch("agent", versions, "--config", world.config);
      load.start();
      let inForce = "0.1.0";
      for (let turn = 1; turn <= COUNT; turn++) {
        const kind = TRIED[(turn - 1) % TRIED.length]!;
        const version = `0.1.${turn}`;
        await acknowledgedAgain(load);
        const file = releases.make(releases.folder, version, kind.patch);
        kind.spoil?.(releases, file);
        const { code, output } = await order(versions, "agent", "--from", file);
        fs.rmSync(file);
        if (!kind.says.test(output)) process.stderr.write(`${output}\n${world.agent.output()}\n`);
        expect([code, kind.says.test(output)]).toEqual([kind.outcome === "done" ? 0 : 1, true]);
        expect(readUpgrades(versions).at(-1)).toMatchObject({ from: inForce, to: version, outcome: kind.outcome });
        if (kind.outcome === "done") inForce = version;
        await until(`${inForce} runs`, () => readRunning(versions)?.version === inForce);
        process.stdout.write(
          `upgrades: ${turn} of ${COUNT}: ${version} ${kind.name}, ${load.acknowledged.length} sent\n`,
        );
      }
      await acknowledgedAgain(load);
      await load.stop();
      await world.placed();
      expect(await world.agent.end()).toBe(0);

      const { numbers, ...found } = studiesOf(world);
      const lost = load.acknowledged.filter(({ number }) => !numbers.has(number));
      expect({ lost, ...found }).toMatchObject({ lost: [], twice: [], wrongPatient: [] });
      expect(load.acknowledged.length).toBeGreaterThan(COUNT);
    } finally {
      await load.stop();
      await world.end();
    }
  },
);

test.skipIf(problem !== null)(
  "a server is upgraded from a file with a copy of its database, and goes back from a version that does not start",
  { timeout: 300_000 },
  async () => {
    const folder = temporaryFolder();
    const [data, versions] = [path.join(folder, "server"), path.join(folder, "versions")];
    const server = launch("server", versions, "--data", data, "--port", "0");
    try {
      await until("the server listens", () => server.output().includes("listening on"));
      const good = releases.make(folder, "0.2.0", {}, "server");
      const done = await order(versions, "server", "--from", good);
      expect(done.output).toContain("version 0.2.0 runs\n");
      expect(fs.existsSync(path.join(data, "vetwire.db.before-upgrade"))).toBe(true);
      const bad = releases.make(folder, "0.3.0", { code: 'throw new Error("planted");' }, "server");
      const failed = await order(versions, "server", "--from", bad);
      expect(failed.output).toContain("version 0.3.0 was rolled back: it ended with code 1: Error: planted");
      await until("0.2.0 runs again", () => readRunning(versions)?.version === "0.2.0");
      expect(await server.end()).toBe(0);
    } finally {
      await server.end("SIGKILL");
      fs.rmSync(folder, { recursive: true, force: true });
    }
  },
);

test.skipIf(problem !== null)(
  "after an upgrade over a migration, commands of the package run the later version's signed copy, and nothing else",
  { timeout: 300_000 },
  async () => {
    const folder = temporaryFolder();
    const data = path.join(folder, "server");
    const versions = path.join(data, "versions");
    const copies = path.join(releases.program, "app/later");
    const file = path.join(folder, "clinic.ndjson");
    fs.writeFileSync(file, clinicFile(testPatients(1)));
    expect(vetwire("server", "import", file, "--data", data).code).toBe(0);
    const server = launch("server", versions, "--data", data, "--port", "0");
    try {
      await until("the server listens", () => server.output().includes("listening on"));
      const patch = {
        code: 'process.stderr.write("planted: version 0.2.0\\n");',
        migration: "alter table clinic add column planted text not null default 'here'",
      };
      const archive = releases.make(folder, "0.2.0", patch, "server");
      expect((await order(versions, "server", "--from", archive)).output).toContain("version 0.2.0 runs\n");
      const schema = SCHEMA_VERSION + 1;
      expect(schemaOf(path.join(data, "vetwire.db"))).toBe(schema);

      // The program of the package by its own entry, without the hand-over.
      const own = path.join(releases.program, "app/server/main.js");
      const refusal = `has schema ${schema} of version 0.2.0, this version 0.1.0 knows schemas up to ${SCHEMA_VERSION}`;
      expect(ended(releases.node, own, "users", "list", "--data", data)).toMatchObject({
        ...{ code: 1, stderr: expect.stringContaining(refusal) },
      });

      // A version that the service's user unpacked, and may have changed, does not run.
      const unpacked = path.join(versions, "0.2.0/app/server/main.js");
      fs.appendFileSync(unpacked, '\nprocess.stderr.write("tampered\\n");');
      const backup = path.join(folder, "one.backup");
      for (const [words, printed] of [
        [["clinics", "list"], CLINIC],
        [["users", "list", "--json"], "[]"],
        [["keys", "create", ...AGENT_KEY_OPTIONS], "sk_"],
        [["keys", "list", "--clinic", CLINIC], "agent"],
        [["audit", "--since", "24h"], ""],
        [["export"], CLINIC],
        [["backup", backup], ""],
      ] as const) {
        expect(vetwire("server", ...words, "--data", data)).toMatchObject({
          ...{ code: 0, stdout: expect.stringContaining(printed) },
          stderr: expect.stringMatching(/^planted: version 0\.2\.0\n(?![^]*(tampered|note:))/),
        });
      }
      expect(fs.readdirSync(copies)).toEqual(["server"]);
      const restored = path.join(folder, "restored");
      const words = ["restore", backup, "--data"] as const;
      // The new folder has no version of its own, so the package's program reads it, and names the version it needs.
      expect(vetwire("server", ...words, restored)).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/0\.2\.0/),
      });

      // Without its archive, and with one that is changed, nothing of the version runs.
      const kept = path.join(versions, "0.2.0", path.basename(archive));
      for (const [change, reason] of [
        [() => flip(kept), "does not match its signature"],
        [() => fs.rmSync(kept), `${path.basename(kept)} is missing in ${versions}: install the package of 0.2.0`],
      ] as const) {
        fs.rmSync(copies, { recursive: true });
        change();
        const { code, stdout, stderr } = vetwire("server", "users", "list", "--data", data);
        expect([code, stdout]).toEqual([1, ""]);
        const [note, ...rest] = stderr.split("\n");
        expect(note).toMatch(/^note: the upgraded version of the service does not run this command: /);
        expect(note).toContain(reason);
        expect(rest.join("\n")).toContain(refusal);
        expect(stderr).not.toMatch(/planted|tampered/);
      }
      expect(await server.end()).toBe(0);
    } finally {
      await server.end("SIGKILL");
      fs.rmSync(folder, { recursive: true, force: true });
    }
  },
);

/** Runs `vetwire` of the package. */
function vetwire(...words: readonly string[]) {
  return ended(releases.node, releases.main, ...words);
}

function ended(file: string, ...words: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(file, words, { encoding: "utf8", cwd: releases.folder });
  return { code: status, stdout, stderr };
}

function schemaOf(file: string): number {
  const db = new Database(file, { readonly: true });
  const { version } = storedSchema(db);
  db.close();
  return version;
}

/** Starts the staged program under its launcher. */
function launch(program: "agent" | "server", versions: string, ...options: readonly string[]): Running {
  const words = ["service", "run", program, "--name", `vetwire-${program}`, "--versions", versions, "--", ...options];
  const env = { ...process.env, VETWIRE_PROBATION_MS: String(PROBATION_MS) };
  return startProgram(releases.node, [releases.main, ...words], env);
}

/** Runs `vetwire upgrade` to its end. */
async function order(
  versions: string,
  ...words: readonly string[]
): Promise<{ readonly code: number | null; readonly output: string }> {
  const command = startProgram(
    releases.node,
    [releases.main, "upgrade", ...words, "--versions", versions],
    process.env,
  );
  const code = await new Promise<number | null>((resolve) => command.process.once("close", resolve));
  return { code, output: command.output() };
}

/** Waits for a message that is acknowledged from now on. */
async function acknowledgedAgain(load: Load): Promise<void> {
  const count = load.acknowledged.length;
  await until("the running version acknowledges a message", () => load.acknowledged.length > count, 60_000);
}

/** Flips a bit in the middle of a file. */
function flip(file: string): void {
  const bytes = fs.readFileSync(file);
  bytes[bytes.length >> 1]! ^= 1;
  fs.writeFileSync(file, bytes);
}
