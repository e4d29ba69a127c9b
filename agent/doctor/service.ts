import { execFile } from "node:child_process";
import type { Check } from "./check.ts";
import type { Finding } from "../../shared/local/doctor.ts";
import { ok, problem, skipped, warning } from "./finding.ts";

/** The name of the service on Linux and on Windows. */
const SERVICE = "vetwire-agent";
const ANSWER_MS = 5_000;

/** Asks the system's service manager whether it starts the agent. */
export const service: Check = {
  id: "service",
  title: "Service",
  run: async () => (process.platform === "win32" ? windowsService() : systemdService()),
};

async function systemdService(): Promise<Finding[]> {
  const shown = await answerOf("systemctl", ["show", SERVICE, "--property=LoadState,ActiveState,UnitFileState"]);
  if ("missing" in shown) return [skipped("service.no-manager", "this machine has no systemctl")];
  const states = Object.fromEntries(shown.text.split("\n").map((line) => line.split("="))) as Record<string, string>;
  if (states["LoadState"] === undefined) return [skipped("service.no-manager", "systemd does not run on this machine")];
  if (states["LoadState"] === "not-found") return [notInstalled(`/etc/systemd/system/${SERVICE}.service`)];
  if (states["ActiveState"] === "failed") {
    const remedy = `read why with journalctl -u ${SERVICE}, correct it, then run systemctl restart ${SERVICE}`;
    return [problem("service.failed", `the service ${SERVICE} has failed`, remedy)];
  }
  if (states["UnitFileState"] === "disabled") {
    const remedy = `systemctl enable --now ${SERVICE}`;
    return [warning("service.disabled", `the service ${SERVICE} does not start with the machine`, remedy)];
  }
  return [ok("service.installed", `the service ${SERVICE} is ${states["ActiveState"] ?? "installed"}`)];
}

async function windowsService(): Promise<Finding[]> {
  const shown = await answerOf("sc.exe", ["query", SERVICE]);
  if ("missing" in shown) return [skipped("service.no-manager", "sc.exe is missing")];
  if (/STATE\s+:\s+\d/.test(shown.text)) return [ok("service.installed", `the service ${SERVICE} is installed`)];
  return [notInstalled("the Task Scheduler, at the start of the machine")];
}

function notInstalled(place: string): Finding {
  const sentence = "no service is installed: after a restart of this machine nobody starts the agent";
  return warning("service.missing", sentence, `let ${place} run: vetwire agent run --config FILE`);
}

/** @returns the output of the program, also of a failed one */
function answerOf(program: string, args: readonly string[]): Promise<{ text: string } | { missing: true }> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: ANSWER_MS }, (error, stdout) =>
      resolve(error?.code === "ENOENT" ? { missing: true } : { text: stdout }),
    );
  });
}
