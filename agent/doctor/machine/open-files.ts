import { descriptorLimit, lackOfDescriptors } from "../../../shared/files/descriptors.ts";
import type { Finding } from "../../page/types/doctor.ts";
import { findService, thisMachine } from "../../../shared/platform/service/manage.ts";
import { CONNECTIONS_MAX } from "../../transport/tcp.ts";
import { configCheck } from "../check/check.ts";
import { ok, warning } from "../check/finding.ts";
import { SERVICE } from "./service.ts";

/** Checks that the limit of open files leaves each listener its connections. */
export const openFiles = configCheck("files", "Open files", async ({ devices }) => {
  const service = await serviceLimit();
  return [
    service === null
      ? judgeLimit(devices.length, descriptorLimit(), "this command")
      : judgeLimit(devices.length, service, `the service ${SERVICE}`),
  ];
});

/** The limit of the running service, which may differ from that of this command. @returns null if it is unknown */
async function serviceLimit(): Promise<number | null> {
  const found = await findService(SERVICE, thisMachine());
  if (found.is !== "installed" && found.is !== "foreign") return null;
  const { state } = found;
  return state.is === "running" && state.process !== null ? descriptorLimit(state.process) : null;
}

/** Judges a limit for an agent with that many devices and its page. */
export function judgeLimit(devices: number, limit: number | null, who: string): Finding {
  const lack = lackOfDescriptors(devices + 1, 2 * CONNECTIONS_MAX, limit, who);
  if (lack === null) return ok("files.enough", "the limit of open files leaves each device its connections");
  return warning("files.few", lack.fault, lack.remedy);
}
