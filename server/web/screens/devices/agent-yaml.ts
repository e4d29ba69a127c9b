import type { CallerShown, DeviceShown } from "../../../dashboard/types/devices/devices.ts";

// Lines of agent.yaml that a user copies. Addresses are quoted, because they come from the network.

/** The agent.yaml of a new clinic PC, with one device as an example. */
export function agentYaml(serverUrl: string, timeZone: string): string {
  return [
    `server: { url: ${JSON.stringify(serverUrl)}, keyFile: ./agent.key }`,
    `data: ./data`,
    `timeZone: ${timeZone}`,
    `devices: [{ id: lab-1, profile: generic-hl7, connection: { listen: "0.0.0.0:2575" } }]`,
  ].join("\n");
}

/** The profiles of detected protocols. Other descriptions are uncertain. */
const profiles: readonly [RegExp, string][] = [
  [/^HL7/, "generic-hl7"],
  [/^LIS01/, "generic-astm"],
  [/^LIS02 records without/, "generic-astm-raw"],
  [/^POCT1-A/, "generic-poct1a"],
  [/^DICOM/, "dicom"],
];

/**
 * The lines that admit an unknown caller: its address in `allow`, or a new device at the next free port. Null for an unknown
 * protocol.
 */
export function callerYaml({ why, address, device, protocol }: CallerShown, devices: readonly DeviceShown[]) {
  if (why === "not allowed") return `    allow: [${JSON.stringify(address)}] # ${device}`;
  const profile = profiles.find(([mark]) => mark.test(protocol ?? ""))?.[1];
  if (profile === undefined) return null;
  const ports = devices.map(({ connection }) => Number(/:(\d+)$/.exec(connection ?? "")?.[1] ?? 0));
  const called = ports[devices.findIndex(({ id }) => id === device)] ?? 0;
  let port = (called === 0 ? 2575 : called) + 1;
  while (ports.includes(port)) port += 1;
  return `  - { id: new-1, profile: ${profile}, connection: { listen: "0.0.0.0:${port}" }, allow: [${JSON.stringify(address)}] }`;
}
