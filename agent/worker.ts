import { createRequire } from "node:module";
import { Worker, type WorkerOptions } from "node:worker_threads";

/** Starts a module of this folder, named without its ending, as a thread. */
export function startWorker(name: string, options: WorkerOptions): Worker {
  if (!import.meta.url.endsWith(".ts")) return new Worker(new URL(`./${name}.js`, import.meta.url), options);
  // Run from source: a new thread does not inherit the loader that reads TypeScript.
  const tsx = JSON.stringify(
    createRequire(import.meta.url)
      .resolve("tsx/esm/api")
      .replace(/\.cjs$/, ".mjs"),
  );
  const file = JSON.stringify(new URL(`./${name}.ts`, import.meta.url).href);
  return new Worker(`import(${tsx}).then(({ register }) => (register(), import(${file})))`, { ...options, eval: true });
}
