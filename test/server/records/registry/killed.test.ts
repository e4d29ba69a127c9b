import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";
import { until } from "../../../support/machine/processes.ts";
import { study } from "../../harness.ts";
import { ours, pamuk, practiceServer, timeless } from "../../practice-software.ts";

// A kill during an undo or a merge leaves the state before it or after it. Method: a process of its own does the work and gets
// SIGKILL before its commit, then at growing delays. Runs on both engines.

const WRITER = join(import.meta.dirname, "../../../support/clinic/registry-writer.ts");
const KILLS = 3;
const ANIMALS = 60;
const STUDIES = 40;

/** Runs the work in a process, and kills it. The first kill comes just before the commit. @returns whether it had ended before */
async function killed(kill: number, ...parameters: readonly string[]): Promise<boolean> {
  const env = { ...process.env, HOLD: kill === 0 ? "1" : "0" };
  const child = spawn(process.execPath, [WRITER, ...parameters], { env, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close");
  let output = "";
  child.stdout.on("data", (text: Buffer) => (output += text.toString()));
  await until("the work", () => output.includes(kill === 0 ? "held" : "start"));
  await new Promise((resolve) => setTimeout(resolve, kill * 30));
  child.kill("SIGKILL");
  await ended;
  return output.includes("end ");
}

test("an undo that SIGKILL interrupts is done completely or not at all", async () => {
  const { server, send, undo, last, exported, clinicOf } = await practiceServer();
  const clinicId = String(clinicOf(ours));
  const before = timeless(await exported());
  const items = Array.from({ length: ANIMALS }, (_, id) => ({ ...pamuk, external_id: String(id), identifiers: [] }));
  const kills: { isDone: boolean; isUndone: boolean }[] = [];
  for (let kill = 0; kill < KILLS; kill += 1) {
    if (kills.at(-1)?.isUndone !== false) await send(...items);
    const after = timeless(await exported());
    const isDone = await killed(kill, server.database, "undo", clinicId, await last());
    const found = timeless(await exported());
    const isUndone = found.length === before.length;
    expect(found).toEqual(isUndone ? before : after);
    kills.push({ isDone, isUndone });
  }
  expect(kills.filter(({ isDone, isUndone }) => isDone && !isUndone)).toEqual([]);
  expect(kills.map(({ isUndone }) => isUndone)).toContain(false);
  await undo(await last());
  expect(timeless(await exported())).toEqual(before);
});

test("a merge that SIGKILL interrupts is done completely or not at all", async () => {
  const { server, reader, send, undo, last, listed, exported, clinicOf } = await practiceServer();
  const clinicId = String(clinicOf(ours));
  const { items } = await send(pamuk, { ...pamuk, external_id: "2", identifiers: [] });
  const [survivor = "", merged = ""] = items.map(({ fp }) => fp ?? "");
  await server.push(reader, ...Array.from({ length: STUDIES }, () => study({ patient_fp: merged })));
  const before = timeless(await exported());
  const studiesOf = (fp: string, lines: readonly string[]) =>
    lines.filter((line) => line.startsWith('{"type":"study"') && line.includes(fp)).length;
  const kills: { isDone: boolean; isMerged: boolean }[] = [];
  for (let kill = 0; kill < KILLS; kill += 1) {
    const count = (await listed()).length;
    const isDone = await killed(kill, server.database, "merge", clinicId, survivor, merged);
    const isMerged = (await listed()).length > count;
    expect(studiesOf(isMerged ? survivor : merged, timeless(await exported()))).toBe(STUDIES);
    // Undoes the merge, if it was done. The batch before it created the patients, and has studies on it.
    expect(await undo(await last())).toMatchObject({ undone: isMerged });
    expect(timeless(await exported())).toEqual(before);
    kills.push({ isDone, isMerged });
  }
  expect(kills.filter(({ isDone, isMerged }) => isDone && !isMerged)).toEqual([]);
  expect(kills.map(({ isMerged }) => isMerged)).toContain(false);
});
