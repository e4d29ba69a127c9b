import { createRequire } from "node:module";
import { Worker, type WorkerOptions } from "node:worker_threads";

/** Starts a module as a thread. `name` has no extension and is relative to `from`, the URL of a module. */
export function startWorker(from: string, name: string, options: WorkerOptions): Worker {
  if (!from.endsWith(".ts")) return new Worker(new URL(`${name}.js`, from), options);
  // The program runs from source. A new thread does not inherit the loader for TypeScript.
  const tsx = JSON.stringify(
    createRequire(import.meta.url)
      .resolve("tsx/esm/api")
      .replace(/\.cjs$/, ".mjs"),
  );
  const file = JSON.stringify(new URL(`${name}.ts`, from).href);
  return new Worker(`import(${tsx}).then(({ register }) => (register(), import(${file})))`, { ...options, eval: true });
}
