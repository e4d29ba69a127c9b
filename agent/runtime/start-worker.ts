import { createRequire } from "node:module";
import { Worker, type WorkerOptions } from "node:worker_threads";

/** Starts the module `name`, given without its extension and relative to the module `from` (an URL), as a thread. */
export function startWorker(from: string, name: string, options: WorkerOptions): Worker {
  if (!from.endsWith(".ts")) return new Worker(new URL(`${name}.js`, from), options);
  // Run from source: a new thread does not inherit the loader that reads TypeScript.
  const tsx = JSON.stringify(
    createRequire(import.meta.url)
      .resolve("tsx/esm/api")
      .replace(/\.cjs$/, ".mjs"),
  );
  const file = JSON.stringify(new URL(`${name}.ts`, from).href);
  return new Worker(`import(${tsx}).then(({ register }) => (register(), import(${file})))`, { ...options, eval: true });
}
