import { lackOfDescriptors } from "../../shared/runtime/descriptors.ts";
import { CONNECTIONS_MAX } from "../transport/tcp.ts";
import { configCheck } from "./check.ts";
import { ok, warning } from "./finding.ts";

/** Checks that the limit of open files leaves each listener its connections. A service may have another limit than this command. */
export const openFiles = configCheck("files", "Open files", ({ devices }) => {
  const lack = lackOfDescriptors(devices.length + 1, 2 * CONNECTIONS_MAX);
  if (lack === null) return [ok("files.enough", "the limit of open files leaves each device its connections")];
  const [sentence, remedy] = lack.split(": ") as [string, string];
  return [warning("files.few", sentence, remedy)];
});
