import fs from "node:fs";
import path from "node:path";
import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readRunning, readUpgrades } from "../../shared/upgrade/version-store.ts";
import { Load, studiesOf } from "../support/crash.ts";
import { startProgram, until, World } from "../support/processes.ts";
import { canMount, mountDisk } from "../support/small-disk.ts";
import { soakCount } from "../support/soak.ts";
import { type Patch, releaseProblem, Releases } from "../support/staged-release.ts";

// Goal: an upgrade that fails in whatever way leaves a running version, and no acknowledged message is lost or filed twice. Method:
// the staged program runs under its launcher, while an ASTM device sends without end over TCP. Releases with planted faults are
// ordered one after the other. At the end every acknowledged message is exactly one study of its patient.

/** The probation of the tests. The launcher reads it from its environment, since a minute for each upgrade is too long. */
const PROBATION_MS = 20_000;

interface Kind {
  readonly name: string;
  readonly patch: Patch;
  /** Changes the archive after its signature. */
  readonly spoil?: (releases: Releases, file: string) => void;
  /** Words of the reason; null for an upgrade that is done. */
  readonly reason: RegExp | null;
  readonly outcome: "done" | "rolled back" | "refused";
}

const KINDS: readonly Kind[] = [
  { name: "is good", patch: {}, reason: null, outcome: "done" },
  {
    name: "does not start",
    patch: { code: 'throw new Error("planted: it does not start");' },
    reason: /ended with code 1: .*planted: it does not start/,
    outcome: "rolled back",
  },
  {
    name: "is never ready",
    patch: { code: "await new Promise(() => setInterval(() => undefined, 1000));" },
    reason: /it did not become ready in time/,
    outcome: "rolled back",
  },
  {
    name: "crashes while it proves itself",
    patch: { code: 'setTimeout(() => { throw new Error("planted: a crash"); }, 6000);' },
    reason: /ended with code 1: .*planted: a crash/,
    outcome: "rolled back",
  },
  {
    name: "is corrupt",
    patch: {},
    spoil: (_, file) => flip(file),
    reason: /does not match its signature: fetch it again/,
    outcome: "refused",
  },
  {
    name: "is signed by a stranger",
    patch: {},
    spoil: (releases, file) => releases.signAsStranger(file),
    reason: /is signed with the key [0-9A-F]{16}, expected [0-9A-F]{16}/,
    outcome: "refused",
  },
  {
    name: "fills the disk",
    patch: { ballast: 600e6 },
    reason: /the disk is full: make room there/,
    outcome: "refused",
  },
];

const problem = releaseProblem() ?? (canMount() ? null : "no disk can be mounted here");
if (problem !== null) process.stderr.write(`no upgrade is tried: ${problem}\n`);

const COUNT = Math.max(KINDS.length, soakCount(50));

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
      const words = ["service", "run", "agent", "--name", "vetwire-agent", "--versions", versions];
      const env = { ...process.env, VETWIRE_PROBATION_MS: String(PROBATION_MS) };
      world.agent = startProgram(releases.node, [releases.main, ...words, "--", "--config", world.config], env);
      load.start();
      let inForce = "0.1.0";
      for (let turn = 1; turn <= COUNT; turn++) {
        const kind = KINDS[(turn - 1) % KINDS.length]!;
        const version = `0.1.${turn}`;
        await acknowledgedAgain(load);
        const file = releases.make(releases.folder, version, kind.patch);
        kind.spoil?.(releases, file);
        const command = startProgram(
          releases.node,
          [releases.main, "upgrade", "agent", "--from", file, "--versions", versions],
          process.env,
        );
        const code = await new Promise<number | null>((resolve) => command.process.once("close", resolve));
        fs.rmSync(file);
        const heard = `${kind.name}: ${command.output()}\n${world.agent.output()}`;
        expect(code, heard).toBe(kind.reason === null ? 0 : 1);
        if (kind.reason !== null) expect(command.output(), heard).toMatch(kind.reason);
        expect(readUpgrades(versions).at(-1)).toMatchObject({ from: inForce, to: version, outcome: kind.outcome });
        if (kind.outcome === "done") inForce = version;
        await until(`${inForce} runs`, () => readRunning(versions)?.version === inForce);
        process.stdout.write(
          `upgrades: ${turn} of ${COUNT}: ${version} ${kind.name}, ${load.acknowledged.length} sent\n`,
        );
      }
      await acknowledgedAgain(load);
      await load.stop();
      await world.drained();
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
