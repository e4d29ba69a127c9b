import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { until } from "./processes.ts";

// A serial cable without hardware: socat joins two pseudo-terminals. Linux gives these eight bits and no parity, and refuses
// what else is asked (EINVAL): 7E1 and 7E2 show on a real port alone.

/** Tests over a cable are left out, and say so, where socat is missing. */
export const socat = isInstalled();
if (!socat) process.stdout.write("serial: left out, socat is not installed (apt-get install socat)\n");

function isInstalled(): boolean {
  try {
    execFileSync("socat", ["-V"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

export interface Cable {
  /** Paths of its two ends; what is written into one comes out of the other. */
  readonly ends: readonly [string, string];
  /** Whoever has an end open is hung up. */
  pull(): Promise<void>;
}

let cables = 0;

export async function newCable(folder: string): Promise<Cable> {
  cables += 1;
  const ends = [path.join(folder, `agent-${cables}`), path.join(folder, `device-${cables}`)] as const;
  const process = spawn(
    "socat",
    ends.map((end) => `pty,raw,echo=0,link=${end}`),
  );
  const gone = new Promise<void>((resolve) => process.once("exit", () => resolve()));
  await until("the cable", () => ends.every((end) => fs.existsSync(end)));
  return {
    ends,
    pull: async () => {
      process.kill("SIGKILL"); // it would tidy up first
      await gone;
      for (const end of ends) fs.rmSync(end, { force: true });
    },
  };
}

/** Whether a program has opened that end: what is sent to nobody is lost, as on a real line. */
export function isOpen(end: string): boolean {
  const tty = fs.realpathSync(end);
  return fs.readdirSync("/proc").some((pid) => {
    try {
      const isSocat = fs.readFileSync(`/proc/${pid}/comm`, "utf8").trim() === "socat";
      const files = fs.readdirSync(`/proc/${pid}/fd`);
      return !isSocat && files.some((fd) => fs.readlinkSync(`/proc/${pid}/fd/${fd}`) === tty);
    } catch {
      return false; // no process, or one that has ended
    }
  });
}
