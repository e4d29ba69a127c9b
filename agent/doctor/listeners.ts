import net from "node:net";
import type { Config } from "../config/schema.ts";
import { listenFault } from "../states/line-state.ts";
import { type Address, parseAddress } from "../transport/address.ts";
import { configCheck } from "./check.ts";
import { type Finding, ok, problem, skipped, splitAdvice } from "./finding.ts";

/** Tries every port that the configuration listens on, unless the running agent holds them. */
export const listeners = configCheck("ports", "Network ports of this machine", async (config, { isAgentRunning }) => {
  const wanted = addressesOf(config);
  if (wanted.length === 0) return [skipped("ports.none", "no device connects to this machine")];
  // The agent's own listeners would be in the way. It knows the faults of its ports.
  if (isAgentRunning) return [ok("ports.agent", "the running agent holds its ports: see the devices for its faults")];
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

function tryListening({ name, address: { host, port } }: Listener): Promise<Finding> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once("error", (error) => {
      const { reason } = listenFault(host, port, error);
      const { sentence, remedy } = splitAdvice(reason, `choose another port for ${name} in agent.yaml`);
      resolve(problem("ports.taken", `${name} cannot listen: ${sentence}`, remedy));
    });
    server.listen(port, host, () =>
      server.close(() => resolve(ok("ports.free", `${name} can listen on ${host}:${port}`))),
    );
  });
}
