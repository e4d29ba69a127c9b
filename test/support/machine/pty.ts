import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { until } from "./processes.ts";

// A serial cable without hardware: socat joins two pseudo-terminals. Linux supports only 8 data bits without parity on these
// and refuses other settings with EINVAL. Only a real port can test 7E1 and 7E2.

/** True if socat is installed. Tests over a cable are skipped without it, with a message. */
export const socat = isInstalled();
if (!socat) process.stdout.write("serial: skipped, socat is not installed (apt-get install socat)\n");

function isInstalled(): boolean {
  try {
    execFileSync("socat", ["-V"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

export interface Cable {
  /** Paths of the two ends. Each end receives the bytes that are written into the other. */
  readonly ends: readonly [string, string];
  /** Disconnects the cable: programs that have an end open get a hang-up. */
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
  const exited = new Promise<void>((resolve) => process.once("exit", () => resolve()));
  await until("the cable", () => ends.every((end) => fs.existsSync(end)));
  return {
    ends,
    pull: async () => {
      process.kill("SIGKILL"); // SIGTERM lets socat clean up first
      await exited;
      for (const end of ends) fs.rmSync(end, { force: true });
    },
  };
}

/** @returns whether a program has opened that end. Bytes sent before are lost, as on a real line. */
export function isOpen(end: string): boolean {
  const tty = fs.realpathSync(end);
  return fs.readdirSync("/proc").some((pid) => {
    try {
      if (fs.readFileSync(`/proc/${pid}/comm`, "utf8").trim() === "socat") return false;
      return fs.readdirSync(`/proc/${pid}/fd`).some((fd) => targetOf(`/proc/${pid}/fd/${fd}`) === tty);
    } catch {
      return false; // not a process, or a process that has ended
    }
  });
}

/** @returns null for a file that was closed since, as the listing of this process' own files was */
function targetOf(fd: string): string | null {
  try {
    return fs.readlinkSync(fd);
  } catch {
    return null;
  }
}
