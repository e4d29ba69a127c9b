import { rmSync } from "node:fs";
import { makeTemplates, type Outcome, runWorld } from "./world.ts";

// Runs worlds in a process of its own, so that a soak takes all cores. argv: the first seed, the last one, the step between two. The
// output has a line of JSON for each world.

const [first, last, step] = process.argv.slice(2).map(Number) as [number, number, number];
const templates = await makeTemplates();
try {
  for (let seed = first; seed <= last; seed += step) {
    const outcome: Outcome = await runWorld(seed, templates);
    process.stdout.write(`${JSON.stringify(outcome)}\n`);
  }
} finally {
  rmSync(templates.folder, { recursive: true, force: true });
}
