import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import {
  ROOT,
  runServerCommand,
  type Running,
  start,
  temporaryFolder,
  until,
} from "../../support/machine/processes.ts";
import { fill, fpOf } from "./data.ts";

/** A server with patients and a key of its first clinic. */
export interface Clinic {
  readonly url: string;
  readonly key: string;
  end(): Promise<void>;
}

const PERMISSIONS = "clinic.patient.view,clinic.calendar.view,clinic.inventory.view";

const SERVER_CORE = "0";
const CLIENT_CORE = "1";

export async function startClinic(patients: number): Promise<Clinic> {
  const data = temporaryFolder();
  await fill(data, patients);
  const described = ["--clinic", fpOf("clinic", 1), "--name", "bench", "--permissions", PERMISSIONS];
  const key = runServerCommand("keys", "create", ...described, "--data", data).trim();
  const server = path.join(ROOT, "dist/server/main.js");
  // The limit counts every request and refuses none.
  const limit = ["--rate-limit", "integration=999999999/999999999"];
  const running = start(server, ["run", "--port", "0", "--data", data, ...limit]);
  return {
    url: await listens(running),
    key,
    async end() {
      await running.end("SIGKILL");
      fs.rmSync(data, { recursive: true });
    },
  };
}

/** Waits for the address of a server. */
export async function addressOf(running: Running): Promise<string> {
  return until("the server listens", () => {
    if (running.process.exitCode !== null) throw new Error(`the server ended: ${running.output()}`);
    return /http:\/\/127\.0\.0\.1:\d+/.exec(running.output())?.[0];
  });
}

/** As addressOf(). Pins server and clients to a core each if the machine has two. */
export async function listens(running: Running): Promise<string> {
  const url = await addressOf(running);
  pin(running.process.pid, SERVER_CORE);
  // Load generators are children of this process and inherit its core.
  pin(process.pid, CLIENT_CORE);
  return url;
}

function pin(pid: number | undefined, core: string): void {
  try {
    execFileSync("taskset", ["-acp", core, String(pid)], { stdio: "ignore" });
  } catch {
    // Without taskset or a second core the figures vary slightly more.
  }
}
