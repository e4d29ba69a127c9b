import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Worker, type WorkerOptions } from "node:worker_threads";
import { moduleFile } from "./program-files.ts";

/** Starts a module of the program as a thread. `name` is its path from the code folder without extension. */
export function startWorker(name: string, options: WorkerOptions): Worker {
  const file = moduleFile(name);
  if (!file.endsWith(".ts")) return new Worker(file, options);
  // The program runs from source. A new thread does not inherit the loader for TypeScript.
  const tsx = JSON.stringify(
    createRequire(import.meta.url)
      .resolve("tsx/esm/api")
      .replace(/\.cjs$/, ".mjs"),
  );
  const module = JSON.stringify(pathToFileURL(file).href);
  return new Worker(`import(${tsx}).then(({ register }) => (register(), import(${module})))`, {
    ...options,
    eval: true,
  });
}
