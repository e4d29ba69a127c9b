import path from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT, type Running, start, until } from "../support/machine/processes.ts";

/**
 * Imports a module of the program: `fromBuild<typeof spools>("agent/spool/spool.ts")`. The build bundles its modules, so they
 * come from the sources, through the same compiler.
 */
export async function fromBuild<Module>(source: string): Promise<Module> {
  return (await import(pathToFileURL(path.join(ROOT, source)).href)) as Module;
}

/** Starts a script of this folder as a process and waits until it prints "ready". */
export async function startScript(file: string, ...args: readonly string[]): Promise<Running> {
  const running = start(path.join(import.meta.dirname, file), args);
  await until(`${file} is ready`, () => {
    if (running.process.exitCode !== null) throw new Error(`${file} ended: ${running.output()}`);
    return running.output().includes("ready");
  });
  return running;
}
