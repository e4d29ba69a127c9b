import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { type Dice, diceOf, pick } from "../../support/runner/dice.ts";
import { soakCount } from "../../support/runner/soak.ts";
import { agentProblems, serverProblems } from "./after-cut.ts";
import { momentsOf } from "./cut-moments.ts";
import type { DiskCall } from "./disk-call.ts";
import { Disk } from "./disk-model.ts";
import { type Acknowledged, type Recording, recordAgent, recordServer, recordUpkeep } from "./recordings.ts";
import { straceProblem, writeTree } from "./traced-program.ts";

// Goal: a cut of the power loses nothing that was acknowledged (P2). Method: strace records the disk calls of the programs under
// load; the disk after a cut at any call is made from them, and the program's own start reads it. `SEED=7` repeats the cuts.

const SEED = Number(process.env["SEED"] ?? 1);
const problem = straceProblem();
if (problem !== null) process.stderr.write(`no power cuts: strace cannot record (${problem})\n`);

/** The load. A cut writes and reads the complete disk, so its duration grows with the load. */
const [AGENT_MS, SERVER_REQUESTS] = process.env["ALL"] === "1" ? [12_000, 200] : [4_000, 80];

/** Removes the syncs that a broken program would not make. */
type Without = (call: DiskCall, nameOf: (file: number) => string) => boolean;

interface Cut {
  readonly count: number;
  readonly acknowledged: readonly Acknowledged[];
}

const PROGRAMS = {
  agent: {
    record: () => recordAgent(AGENT_MS),
    cuts: soakCount(600),
    check: inFolder("agent", agentProblems),
  },
  upkeep: { record: recordUpkeep, cuts: soakCount(200), check: inFolder("agent", agentProblems) },
  server: {
    record: () => recordServer(SERVER_REQUESTS),
    cuts: soakCount(200),
    check: inFolder("server", serverProblems),
  },
} as const;

type Program = keyof typeof PROGRAMS;

describe.runIf(problem === null)("cuts of the power", () => {
  const recordings = new Map<Program, Promise<Recording>>();
  const recordingOf = (name: Program) => {
    const recording = recordings.get(name) ?? PROGRAMS[name].record();
    recordings.set(name, recording);
    return recording;
  };

  test.each(["agent", "upkeep", "server"] as const)(
    `a cut loses nothing that was acknowledged: %s`,
    async (name) => {
      const recording = await recordingOf(name);
      const checkpoint = checkpointCalls(recording);
      expect(checkpoint.length).toBeGreaterThan(0);
      // The log is emptied while nothing happens, and not by the end of the program alone.
      expect(name === "upkeep" || checkpoint.some((call) => recording.calls[call]!.is === "truncate")).toBe(true);
      const { lost, checked } = await cutOften(recording, name);
      process.stdout.write(`${name}: ${PROGRAMS[name].cuts} cuts, ${checked} acknowledgements checked\n`);
      expect(lost).toEqual([]);
      expect(checked).toBeGreaterThan(PROGRAMS[name].cuts);
    },
    3_600_000,
  );

  const isLog: Without = (call, nameOf) => call.is === "sync" && nameOf(call.file).endsWith("-wal");
  const isImage: Without = (call, nameOf) => call.is === "sync" && /\.(part|dcm)$/.test(nameOf(call.file));
  test.each([
    ["commits with synchronous=NORMAL", "agent", isLog],
    ["commits with synchronous=NORMAL", "server", isLog],
    ["does not sync the files of images", "agent", isImage],
    ["does not sync folders", "agent", (call) => call.is === "sync folder"],
  ] as [string, Program, Without][])(
    "a program that %s loses results: %s",
    async (_fault, name, without) => {
      const { lost } = await cutOften(await recordingOf(name), name, without);
      expect(lost).not.toEqual([]);
    },
    3_600_000,
  );
});

/** Cuts the power after random calls: anywhere, right after an acknowledgement, and in a checkpoint. */
async function cutOften(
  recording: Recording,
  program: Program,
  without: Without | null = null,
): Promise<{ lost: string[]; checked: number }> {
  const { calls, initial } = recording;
  const { cuts: count, check } = PROGRAMS[program];
  const dice = diceOf(SEED);
  const disk = new Disk(without === null ? calls : withoutSyncs(calls, without), initial);
  let checked = 0;
  const lost: string[] = [];
  for (const cut of cutsOf(recording, count, dice)) {
    disk.advance(cut.count);
    checked += cut.acknowledged.length;
    const folder = fs.mkdtempSync(path.join(fs.existsSync("/dev/shm") ? "/dev/shm" : os.tmpdir(), "vetwire-cut-"));
    try {
      writeTree(folder, disk.afterCut(dice));
      const problems = await check(folder, cut.acknowledged).catch((error: unknown) => [String(error)]);
      if (problems.length > 0)
        lost.push(`SEED=${SEED}, cut after call ${cut.count}: ${problems.slice(0, 3).join("; ")}`);
    } finally {
      fs.rmSync(folder, { recursive: true, force: true });
    }
    if (without !== null && lost.length > 0) break;
  }
  return { lost, checked };
}

function cutsOf(recording: Recording, count: number, dice: Dice): Cut[] {
  const { calls, acknowledged } = recording;
  const checkpoint = checkpointCalls(recording);
  const moments = momentsOf(calls, acknowledged);
  const cutAt = (): number => {
    const kind = dice(5);
    if (kind < 2) return dice(calls.length + 1);
    if (kind === 2) return pick(dice, checkpoint) + dice(2);
    return Math.min(calls.length, moments.callsBy(pick(dice, acknowledged).at) + dice(8));
  };
  const at = Array.from({ length: count }, cutAt).toSorted((a, b) => a - b);
  return at.map((done) => ({ count: done, acknowledged: moments.toldBefore(done) }));
}

/** Returns the calls of checkpoints: writes and syncs of the database itself, and the writes that empty its log. */
function checkpointCalls({ calls, initial }: Recording): number[] {
  const names = new Map<number, string>();
  for (const [name, content] of initial) if (content !== null) names.set(names.size + 1, name);
  return calls.flatMap((call, index) => {
    if (call.is === "create") names.set(call.file, call.path);
    const name = "file" in call ? (names.get(call.file) ?? "") : "";
    const isDatabase = name.endsWith(".db") && (call.is === "write" || call.is === "sync");
    return isDatabase || (name.endsWith(".db-wal") && call.is === "truncate" && call.length === 0) ? [index] : [];
  });
}

/** Keeps the number of calls, so that a cut comes at the same moment. */
function withoutSyncs(calls: readonly DiskCall[], without: Without): DiskCall[] {
  const names = new Map<number, string>();
  return calls.map((call) => {
    if (call.is === "create") names.set(call.file, call.path);
    return without(call, (file) => names.get(file) ?? "") ? { is: "lost sync", at: call.at } : call;
  });
}

function inFolder(name: string, check: typeof agentProblems): typeof agentProblems {
  return (folder, acknowledged) => check(path.join(folder, name), acknowledged);
}
