import fs from "node:fs";
import { freePort, type Running, start, World } from "../../support/processes.ts";
import type { Figure } from "../figure.ts";

const DEVICES = 16;
const MEGABYTES_MAX = 120;
const STARTS = 4;

/** Measures the resident memory of an idle agent (VmRSS, MB of 1024 kB), beside an idle Node process. */
export async function* idleMemory(quick: boolean): AsyncGenerator<Figure> {
  const world = await World.create(8);
  const nothing = start("-e", ["setInterval(() => {}, 1000)"]);
  try {
    const ports = await Promise.all(Array.from({ length: DEVICES }, () => freePort()));
    world.writeConfig(
      ports.map((port, index) => ({
        id: `chem-${index}`,
        profile: index % 2 === 0 ? "abaxis-vetscan-vs2" : "generic-astm",
        connection: { listen: `127.0.0.1:${port}` },
      })),
      await freePort(),
    );
    const starts: number[] = [];
    while (starts.length < (quick ? 1 : STARTS)) {
      await world.startAgent();
      await new Promise((resolve) => setTimeout(resolve, quick ? 3_000 : 10_000));
      starts.push(residentMegabytes(world.agent));
      await world.agent.end();
    }
    // Starts differ by 15 MB, depending on garbage collection. The bar applies to each of them.
    const ours = Math.max(...starts);
    const bare = residentMegabytes(nothing);
    yield {
      name: `idle memory of the agent, ${DEVICES} devices`,
      ours: `${ours.toFixed(0)} MB resident, max of ${starts.length} starts (min ${Math.min(...starts).toFixed(0)})`,
      baseline: `node alone ${bare.toFixed(0)} MB`,
      ratio: ours / bare,
      bar: `< ${MEGABYTES_MAX} MB`,
      met: ours < MEGABYTES_MAX,
    };
  } finally {
    await nothing.end();
    await world.end();
  }
}

/** @returns VmRSS in MB of 1024 kB */
export function residentMegabytes({ process: { pid } }: Running): number {
  const status = fs.readFileSync(`/proc/${pid}/status`, "utf8");
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  if (kilobytes === undefined) throw new Error(`/proc/${pid}/status has no VmRSS`);
  return Number(kilobytes) / 1024;
}
