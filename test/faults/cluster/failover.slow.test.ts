import { describe, expect, test } from "vitest";
import { type Dice, diceOf } from "../../support/dice.ts";
import { until } from "../../support/processes.ts";
import { ClusterClinic, SERVERS } from "./clinic.ts";
import { Pusher, Reader } from "./load.ts";
import { clusterProblem, type Node } from "./patroni.ts";

// Goal: no failure of a node loses an acknowledged study, files one twice, or shows a key less than before. Method: three
// nodes under Patroni, two servers, two agents, pushes and reads without pause; primaries are killed or frozen at random moments,
// and servers restarted. `SOAK=1` does all of it; `SEED=7` repeats the order and the moments.

const SOAK = process.env["SOAK"] === "1";
const SEED = Number(process.env["SEED"] ?? 1);
const KILLS = SOAK ? 50 : 3;
const CUTS = SOAK ? 10 : 1;
const ROLLS = SOAK ? 5 : 1;
/** Time in which pushes and reads run undisturbed before each fault. */
const CALM_MS_MAX = 1_500;
/** Time in which the agents send what waited at the end. */
const DRAIN_MS = 240_000;

const problem = clusterProblem();
if (problem !== null) process.stderr.write(`the tests of the PostgreSQL cluster do not run: ${problem}\n`);

type Fault =
  | "postgres killed"
  | "node killed"
  | "killed before its standbys had the log"
  | "node frozen"
  | "servers restarted";

const KILL_WAYS = ["postgres killed", "node killed", "killed before its standbys had the log"] as const;

function faults(dice: Dice): Fault[] {
  const list: Fault[] = [
    ...Array.from({ length: KILLS }, (_, index) => KILL_WAYS[index % KILL_WAYS.length]!),
    ...Array.from({ length: CUTS }, () => "node frozen" as const),
    ...Array.from({ length: ROLLS }, () => "servers restarted" as const),
  ];
  return list
    .map((fault) => ({ fault, at: dice(1_000_000) }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ fault }) => fault);
}

describe.skipIf(problem !== null)("a cluster of PostgreSQL", () => {
  test(
    `${KILLS} kills of the primary, ${CUTS} cuts and ${ROLLS} rolling restarts lose nothing and never go back in time`,
    async () => {
      const dice = diceOf(SEED);
      const clinic = await ClusterClinic.open(true);
      try {
        const { pusher, readers, running } = startLoad(clinic);
        clinic.startDevices();
        const recoveriesMs: number[] = [];
        for (const fault of faults(dice)) {
          await clinic.cluster.settled();
          await pause(dice(CALM_MS_MAX));
          recoveriesMs.push(await strike(clinic, pusher, fault));
        }
        await clinic.cluster.settled();
        const sent = await clinic.stopDevices();
        await allFiled(clinic, sent);
        for (const each of [pusher, ...readers]) each.stop();
        await Promise.all(running);
        report({ pusher, readers, recoveriesMs, sent });

        expect([...pusher.problems, ...readers.flatMap(({ problems }) => problems)].slice(0, 20)).toEqual([]);
        expect(await lostStudies(clinic, pusher)).toEqual([]);
        expect(pusher.acknowledged.length).toBeGreaterThan(50);
      } finally {
        await clinic.end();
      }
    },
    SOAK ? 3_600_000 : 600_000,
  );

  test("without synchronous replication a kill loses acknowledged studies", async () => {
    const clinic = await ClusterClinic.open(false);
    try {
      const { pusher, readers, running } = startLoad(clinic);
      for (let tries = 0; tries < 5; tries += 1) {
        await clinic.cluster.settled();
        await strike(clinic, pusher, "killed before its standbys had the log");
        if (readers.some(({ problems }) => problems.length > 0)) break;
      }
      for (const each of [pusher, ...readers]) each.stop();
      await Promise.all(running);
      const found = readers.flatMap(({ problems }) => problems).length + (await lostStudies(clinic, pusher)).length;
      expect(found).toBeGreaterThan(0);
    } finally {
      await clinic.end();
    }
  }, 300_000);
});

function startLoad(clinic: ClusterClinic) {
  const pusher = new Pusher(clinic);
  const running = [pusher.run()];
  const readers = clinic.readKeys.map((key) => new Reader(clinic, key, pusher.counterFp));
  running.push(
    ...readers.map(async (reader) => {
      await until("the first push", () => pusher.number > 0);
      await reader.run();
    }),
  );
  return { pusher, readers, running };
}

/** Does one fault, and waits for an acknowledged push after it. @returns the milliseconds from the fault to that push */
async function strike(clinic: ClusterClinic, pusher: Pusher, fault: Fault): Promise<number> {
  const { cluster } = clinic;
  const primary = await cluster.settled();
  const from = performance.now();
  switch (fault) {
    case "postgres killed":
      primary.killPostgres();
      break;
    case "node killed":
      primary.kill();
      break;
    case "killed before its standbys had the log":
      primary.freezeReplication();
      await pause(700);
      primary.kill();
      break;
    case "node frozen":
      primary.freeze();
      break;
    case "servers restarted":
      for (let server = 0; server < SERVERS; server += 1) await clinic.restartServer(server);
      break;
  }
  await nextPush(pusher);
  const recoveryMs = performance.now() - from;
  await bringBack(clinic, primary, fault);
  return recoveryMs;
}

async function bringBack({ cluster }: ClusterClinic, primary: Node, fault: Fault): Promise<void> {
  if (fault === "node frozen") {
    await until("another primary", async () => (await cluster.primary()) !== undefined, 60_000, 100);
    primary.thaw();
  } else if (!primary.isRunning) primary.start();
}

/** Waits until the agents have sent what waited. */
async function allFiled(clinic: ClusterClinic, sent: readonly number[]): Promise<void> {
  let filed: readonly number[] = [];
  try {
    await until(
      "the results of the devices are filed",
      async () => String((filed = await clinic.filed())) === String(sent),
      DRAIN_MS,
    );
  } catch (error) {
    throw new Error(`sent ${String(sent)}, filed ${String(filed)}; spools:\n${clinic.waiting()}\n${clinic.state()}`, {
      cause: error,
    });
  }
}

/** Waits for a push that began after this call. */
async function nextPush(pusher: Pusher): Promise<void> {
  const number = pusher.number + 1;
  await until("an acknowledged push", () => pusher.number > number, 60_000);
}

/** @returns the acknowledged studies that are missing or doubled, and a correction that is lost */
async function lostStudies(clinic: ClusterClinic, pusher: Pusher): Promise<string[]> {
  await clinic.cluster.settled();
  const rows = (await clinic.query("select fp, revision, dedupe_key from study")) as { fp: string; revision: number }[];
  const stored = new Map<string, number>();
  for (const { fp } of rows) stored.set(fp, (stored.get(fp) ?? 0) + 1);
  const wrong = pusher.acknowledged.filter((fp) => stored.get(fp) !== 1);
  const counter = rows.find(({ fp }) => fp === pusher.counterFp)?.revision ?? 0;
  return counter < pusher.number ? [...wrong, `revision ${counter}, acknowledged ${pusher.number}`] : wrong;
}

function report(figures: { pusher: Pusher; readers: Reader[]; recoveriesMs: number[]; sent: number[] }): void {
  const { pusher, readers, recoveriesMs, sent } = figures;
  const sorted = recoveriesMs.toSorted((a, b) => a - b);
  const at = (share: number) => ((sorted[Math.floor((sorted.length - 1) * share)] ?? 0) / 1000).toFixed(1);
  const reads = new Map<number, number>();
  for (const { statuses } of readers)
    for (const [status, count] of statuses) reads.set(status, (reads.get(status) ?? 0) + count);
  process.stdout.write(
    `${recoveriesMs.length} faults: ${pusher.number} pushes acknowledged, results of devices ${sent.join(" and ")}; ` +
      `pushes by status ${JSON.stringify([...pusher.statuses])}, reads ${JSON.stringify([...reads])}; ` +
      `time to the next acknowledged push: median ${at(0.5)} s, p90 ${at(0.9)} s, longest ${at(1)} s\n`,
  );
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
