import fs from "node:fs";
import type { Running } from "./processes.ts";

const POLL_MS = 50;

/** Waits for the end of a process. @returns the peak of its resident memory in MB of 1024 kB. @throws unless its exit code is 0 */
export async function endedMegabytes({ process: child, output }: Running): Promise<number> {
  let megabytes = 0;
  const watching = setInterval(() => {
    // VmHWM is the peak, so it includes memory between two polls. A process that has just ended has none.
    megabytes = statusMegabytes(child.pid, "VmHWM") ?? megabytes;
  }, POLL_MS);
  const code = await new Promise<number | null>((resolve) => child.once("exit", resolve));
  clearInterval(watching);
  if (code !== 0) throw new Error(`expected exit code 0, got ${code}: ${output()}`);
  return megabytes;
}

/** @returns a value of /proc/PID/status in MB of 1024 kB; null if the process has ended */
export function statusMegabytes(pid: number | undefined, field: "VmHWM" | "RssAnon"): number | null {
  try {
    const status = fs.readFileSync(`/proc/${pid}/status`, "utf8");
    const kilobytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status)?.[1];
    return kilobytes === undefined ? null : Number(kilobytes) / 1024;
  } catch {
    return null;
  }
}
