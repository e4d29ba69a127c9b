import type { Config } from "../../config/values/schema.ts";
import { type Address, parseAddress } from "../../transport/address.ts";
import { listenProblem } from "../../transport/probe.ts";
import { configCheck } from "../check/check.ts";
import type { Finding } from "../../page/types/doctor.ts";
import { ok, problem, skipped } from "../check/finding.ts";

/** Tries every port that the configuration listens on, unless the running agent holds them. */
export const listeners = configCheck("ports", "Network ports of this machine", async (config, { isAgentRunning }) => {
  const wanted = addressesOf(config);
  if (wanted.length === 0) return [skipped("ports.none", "no device connects to this machine")];
  // The agent's own listeners would be in the way. It knows the faults of its ports.
  if (isAgentRunning)
    return [skipped("ports.agent", "the ports are the running agent's: see Devices for their faults")];
  return await Promise.all(wanted.map(tryListening));
});

interface Listener {
  readonly name: string;
  readonly address: Address;
}

function addressesOf({ devices, status }: Config): Listener[] {
  const ofDevices = devices.flatMap(({ id, connection: { listen, replyConnection } }) =>
    [listen, replyConnection?.listen].flatMap((text) => {
      const address = text === undefined ? null : parseAddress(text);
      return address === null ? [] : [{ name: id, address }];
    }),
  );
  return status === null ? ofDevices : [...ofDevices, { name: "status", address: status }];
}

async function tryListening({ name, address }: Listener): Promise<Finding> {
  const found = await listenProblem(address);
  if (found === null) return ok("ports.free", `${name} can listen on ${address.host}:${address.port}`);
  const { fault, remedy } = found;
  const general = `choose another port for ${name} in agent.yaml`;
  return problem("ports.taken", `${name} cannot listen: ${fault}`, remedy ?? general);
}
