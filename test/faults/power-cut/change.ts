import fs from "node:fs";
import path from "node:path";
import { temporaryFolder } from "../../support/machine/processes.ts";
import type { Told } from "./cut-moments.ts";
import type { DiskCall, Tree } from "./disk-call.ts";
import { callsOf, readTree, runTraced } from "./traced-program.ts";

/** A change of a disk by programs that end. */
export interface Change {
  readonly name: string;
  record(): Promise<ChangeRecording>;
  /** @returns what is neither as before nor as after the change. `told` is what the programs had reported as done */
  check(root: string, told: ReadonlySet<string>): Promise<string[]>;
}

export interface ToldWord extends Told {
  readonly word: string;
}

export interface ChangeRecording {
  readonly calls: readonly DiskCall[];
  readonly initial: Tree;
  readonly told: readonly ToldWord[];
}

/** Statements of a program: that its work is done, at its end, or each line of its output. */
export const toldLines = Symbol("lines");
/** One program under strace. */
interface Traced {
  readonly told: string | typeof toldLines;
  readonly script: readonly string[];
}

export async function recordChange(
  prepare: (root: string) => Promise<void>,
  programs: (root: string, trace: (told: Traced["told"], script: readonly string[]) => Traced) => readonly Traced[],
): Promise<ChangeRecording> {
  const [root, logs] = [temporaryFolder(), temporaryFolder()];
  try {
    await prepare(root);
    const initial = readTree(root);
    const told: ToldWord[] = [];
    const files: string[] = [];
    for (const traced of programs(root, (word, script) => ({ told: word, script }))) {
      // The next program may undo what the last one did.
      const startedAt = Date.now();
      for (const [index, each] of told.entries()) told[index] = { until: startedAt, ...each };
      files.push(path.join(logs, `${files.length}.log`));
      const output = await runTraced(files.at(-1)!, traced.script);
      if (typeof traced.told === "string") told.push({ word: traced.told, at: Date.now() });
      const lines = traced.told === toldLines ? output.matchAll(/^told (\S+) (\d+)$/gm) : [];
      for (const [, word, at] of lines) told.push({ word: word!, at: Number(at) });
    }
    return { calls: callsOf(files, root, initial), initial, told };
  } finally {
    for (const folder of [root, logs]) fs.rmSync(folder, { recursive: true, force: true });
  }
}
