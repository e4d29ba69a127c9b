import net from "node:net";
import { dialFault } from "../../states/line-state.ts";
import { type Address, parseAddress } from "../../transport/address.ts";
import { configCheck } from "../check/check.ts";
import type { Finding } from "../../page/types/doctor.ts";
import { ok, skipped, warning } from "../check/finding.ts";

/** Max wait for a device or an archive. */
const ANSWER_MS = 5_000;

/** Connects to every device, archive and receiver of results that the agent dials, unless the running agent holds their connections. */
export const dialled = configCheck("dial", "Devices that the agent dials", async (config, facts) => {
  const devices = config.devices.flatMap(({ id, connection: { dial, replyConnection } }) =>
    [dial, replyConnection?.dial].flatMap((text) => targetOf(id, text)),
  );
  const archives = config.destinations.flatMap((destination) =>
    destination.way === "store" ? [{ name: destination.id, address: destination.address }] : [],
  );
  // Practice software may serve one connection at a time, which the running agent has.
  const receivers = config.resultDestinations.flatMap((one) =>
    one.kind === "hl7" && !facts.isAgentRunning ? [{ name: one.id, address: one.address }] : [],
  );
  const targets = [...(facts.isAgentRunning ? [] : devices), ...archives, ...receivers];
  if (targets.length === 0) return [skipped("dial.none", "no device has to be dialled now")];
  if (facts.isOffline) return [skipped("dial.offline", "not dialled, because of --offline")];
  return await Promise.all(targets.map(tryDialling));
});

interface Target {
  readonly name: string;
  readonly address: Address;
}

function targetOf(name: string, text: string | undefined): Target[] {
  const address = text === undefined ? null : parseAddress(text);
  return address === null ? [] : [{ name, address }];
}

/** A device may be switched off, so a failure proves no wrong set-up. */
function tryDialling({ name, address: { host, port } }: Target): Promise<Finding> {
  return new Promise((resolve) => {
    const socket = net.connect({ host, port, timeout: ANSWER_MS });
    const failed = (error: NodeJS.ErrnoException) => {
      socket.destroy();
      const { fault, remedy } = dialFault(host, port, error, false);
      const general = `compare the address of ${name} in agent.yaml with the device`;
      resolve(warning("dial.fault", `${name} cannot be dialled: ${fault}`, remedy ?? general));
    };
    socket.once("connect", () => {
      socket.destroy();
      resolve(ok("dial.reached", `${name} takes connections at ${host}:${port}`));
    });
    socket.once("timeout", () => failed(Object.assign(new Error("timed out"), { code: "ETIMEDOUT" })));
    socket.on("error", failed);
  });
}
