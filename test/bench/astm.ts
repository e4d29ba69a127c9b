import fs from "node:fs";
import path from "node:path";
import { freePort, temporaryFolder } from "../support/machine/processes.ts";
import { startScript } from "./build.ts";
import { type Figure, median, whole } from "./figure.ts";
import { sessionOfFrames } from "./astm/frames.ts";
import { framesPerSecond } from "./astm/sender.ts";

const FRAME_BYTES = 60;
const FRAMES_PER_SESSION = 100;
/** Nine tenths of the ratios of November 28. */
const LOADS = [
  { connections: 8, ratioMin: 0.5 },
  { connections: 64, ratioMin: 0.56 },
] as const;
type Load = (typeof LOADS)[number];

/** Measures durable frames per second of the agent and of the bare loop in turn, with the same disk and sender. */
export async function* astm(quick: boolean): AsyncGenerator<Figure> {
  for (const load of LOADS) yield await stopAndWait(load, quick);
}

async function stopAndWait(load: Load, quick: boolean): Promise<Figure> {
  const { connections } = load;
  const [rounds, seconds] = quick ? [4, 0.7] : [20, 1];
  const folder = temporaryFolder();
  const bareFolder = path.join(folder, "bare");
  fs.mkdirSync(bareFolder);
  const barePort = await freePort();
  const ports = await Promise.all(Array.from({ length: connections }, () => freePort()));
  const barePorts = ports.map(() => barePort);
  const bare = await startScript("astm/bare-loop.ts", bareFolder, String(barePort));
  const agent = await startScript("spool-loop.ts", path.join(folder, "agent"), "generic-astm", ...ports.map(String));
  try {
    const session = sessionOfFrames(FRAMES_PER_SESSION, FRAME_BYTES);
    const rates: Rates[] = [];
    const ofBare = () => framesPerSecond(barePorts, session, seconds);
    const ofAgent = () => framesPerSecond(ports, session, seconds);
    for (let round = 0; round <= rounds; round++) {
      // The order alternates, so that other load on the machine affects both alike.
      const [first, second] = round % 2 === 0 ? [ofBare, ofAgent] : [ofAgent, ofBare];
      const [one, other] = [await first(), await second()];
      if (round > 0) rates.push(round % 2 === 0 ? { bare: one, ours: other } : { bare: other, ours: one });
    }
    return figure(load, rates);
  } finally {
    await Promise.all([bare.end(), agent.end()]);
    fs.rmSync(folder, { recursive: true });
  }
}

interface Rates {
  readonly bare: number;
  readonly ours: number;
}

function figure({ connections, ratioMin }: Load, rates: readonly Rates[]): Figure {
  const bare = median(rates.map((rate) => rate.bare));
  const ours = median(rates.map((rate) => rate.ours));
  const ratio = median(rates.map((rate) => rate.ours / rate.bare));
  return {
    name: `stop-and-wait, ${FRAME_BYTES}-byte frames, durable, ${connections} connections`,
    ours: `${whole(ours)} frames/s`,
    baseline: `bare loop ${whole(bare)} frames/s (medians of ${rates.length} rounds)`,
    ratio,
    bar: `ratio >= ${ratioMin}`,
    met: ratio >= ratioMin,
  };
}
