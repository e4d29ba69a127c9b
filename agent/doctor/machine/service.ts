import type { Finding } from "../../page/types/doctor.ts";
import { findService, thisMachine } from "../../../shared/platform/service/manage.ts";
import type { Check } from "../check/check.ts";
import { ok, problem, skipped, warning } from "../check/finding.ts";

/** The name of the service, unless several agents run on this machine. */
export const SERVICE = "vetwire-agent";

/** Queries the system's service manager: does it start the agent? */
export const service: Check = {
  id: "service",
  title: "Service",
  run: async () => [await judge()],
};

async function judge(): Promise<Finding> {
  const machine = thisMachine();
  const { asAdministrator } = machine.platform;
  const found = await findService(SERVICE, machine);
  if (found.is === "no manager") return skipped("service.no-manager", found.reason);
  if (found.is === "not installed") {
    const sentence = "no service is installed: after a restart of this machine nobody starts the agent";
    return warning("service.missing", sentence, asAdministrator("vetwire service install agent"));
  }
  const { state, startsWithMachine } = found;
  // A service that a person wrote is for its service manager alone.
  const isOwn = found.is === "installed";
  if (state.is === "failed" || state.is === "waiting") {
    const [read, start] = ["status", "start"].map((word) => asAdministrator(`vetwire service ${word} agent`));
    const remedy = isOwn
      ? `read why with ${read}, correct it, then run ${start}`
      : "read why in its log, and correct it";
    return problem("service.failed", `the service ${SERVICE} has failed`, remedy);
  }
  if (!startsWithMachine) {
    const sentence = `the service ${SERVICE} does not start with the machine`;
    const own = asAdministrator("vetwire service start agent");
    return warning("service.disabled", sentence, isOwn ? own : "enable it at its service manager");
  }
  return ok("service.installed", `the service ${SERVICE} is ${state.is}`);
}
