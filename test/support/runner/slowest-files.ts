import type { Reporter, TestModule } from "vitest/node";

/** Prints the ten slowest files after a run, which are where a faster suite starts. */
export const slowestFiles: Reporter = {
  onTestRunEnd(modules: readonly TestModule[]) {
    const timed = modules.map((module) => ({
      seconds: module.diagnostic().duration / 1000,
      name: `${module.relativeModuleId} (${module.project.name})`,
    }));
    const slowest = timed.toSorted((a, b) => b.seconds - a.seconds).slice(0, 10);
    const lines = slowest.map(({ seconds, name }) => `${seconds.toFixed(1).padStart(6)} s  ${name}\n`);
    process.stdout.write(`\nThe slowest files:\n${lines.join("")}`);
  },
};
