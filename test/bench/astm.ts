import { busyLines } from "./astm/busy.ts";
import { deviceToApi } from "./astm/device-to-api.ts";
import { ackLatency } from "./astm/latency.ts";
import { linkAlone } from "./astm/link.ts";
import { idleMemory } from "./astm/memory.ts";
import { stopAndWait } from "./astm/throughput.ts";
import type { Figure } from "./figure.ts";

/** Measures the agent of the build with ASTM devices over loopback. `quick` measures the same figures in less time. */
export async function* astm(quick: boolean): AsyncGenerator<Figure> {
  yield* stopAndWait(8, quick);
  yield* stopAndWait(64, quick);
  yield* linkAlone(quick);
  yield* ackLatency(quick);
  yield* deviceToApi(quick);
  yield* busyLines(quick);
  yield* idleMemory(quick);
}
