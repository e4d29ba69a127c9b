import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { diceOf } from "../../support/runner/dice.ts";
import { soakCount } from "../../support/runner/soak.ts";
import { CARE_CHANGES } from "./care-changes.ts";
import type { Change, ChangeRecording } from "./change.ts";
import { momentsOf } from "./cut-moments.ts";
import type { DiskCall } from "./disk-call.ts";
import { Disk } from "./disk-model.ts";
import { SETUP_CHANGES } from "./setup-changes.ts";
import { straceProblem, writeTree } from "./traced-program.ts";

// Goal: a cut of the power during a backup, a restore, an upgrade and the like leaves the state before or the one after, and what was
// reported as done stays. Method: as in power-cut.long.test.ts. `SEED=7` repeats the cuts.

const SEED = Number(process.env["SEED"] ?? 1);
const CUTS = soakCount(1_000);
const problem = straceProblem();
if (problem !== null) process.stderr.write(`no power cuts: strace cannot record (${problem})\n`);

describe.runIf(problem === null)("cuts of the power during a change", () => {
  test.each([...CARE_CHANGES, ...SETUP_CHANGES].map((change) => [change.name, change] as const))(
    "a cut leaves the old state or the new one: %s",
    async (name, change) => {
      const recording = await change.record();
      const problems = await cutOften(change, recording, recording.calls);
      process.stdout.write(`${name}: ${CUTS} cuts of ${recording.calls.length} calls\n`);
      expect(problems).toEqual([]);
      // A program that syncs nothing leaves a half within as many cuts.
      const unsynced = recording.calls.map((call) =>
        call.is.startsWith("sync") ? ({ is: "lost sync", at: call.at } as const) : call,
      );
      expect(await cutOften(change, recording, unsynced)).not.toEqual([]);
    },
    600_000,
  );
});

/** Cuts the power after random calls, and at the end. Returns at the first problem of unsynced calls. */
async function cutOften(change: Change, recording: ChangeRecording, calls: readonly DiskCall[]): Promise<string[]> {
  const dice = diceOf(SEED);
  const disk = new Disk(calls, recording.initial);
  const moments = momentsOf(recording.calls, recording.told);
  const counts = Array.from({ length: CUTS }, () => dice(Math.ceil(calls.length * 1.1)));
  const found: string[] = [];
  for (const count of counts.map((each) => Math.min(each, calls.length)).toSorted((a, b) => a - b)) {
    disk.advance(count);
    const folder = fs.mkdtempSync(path.join(fs.existsSync("/dev/shm") ? "/dev/shm" : os.tmpdir(), "vetwire-cut-"));
    try {
      writeTree(folder, disk.afterCut(dice));
      const told = new Set(moments.toldBefore(count).map(({ word }) => word));
      const problems = await change.check(folder, told).catch((error: unknown) => [String(error)]);
      if (problems.length > 0) found.push(`SEED=${SEED}, cut after call ${count}: ${problems.slice(0, 3).join("; ")}`);
    } finally {
      fs.rmSync(folder, { recursive: true, force: true });
    }
    if (calls !== recording.calls && found.length > 0) break;
  }
  return found;
}
