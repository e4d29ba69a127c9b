import { expect, test } from "vitest";
import { agentYaml, callerYaml } from "../../../../server/web/screens/devices/agent-yaml.ts";
import type { CallerShown, DeviceShown } from "../../../../server/dashboard/types/devices/devices.ts";

const caller: CallerShown = {
  device: "hema-1",
  address: "192.168.1.77",
  at: "2026-11-21T11:00:00.000Z",
  count: 1,
  why: "not understood",
  protocol: "HL7 over MLLP",
};

const device = (id: string, connection: string | null): DeviceShown => ({
  id,
  name: null,
  profile: null,
  protocol: null,
  connection,
  state: { is: "ready" },
  last_message_at: null,
  last_warning: null,
  study_name: null,
  today: null,
});

test("a caller gets lines for agent.yaml: its address, or a device at the next free port", () => {
  const devices = [device("hema-1", "0.0.0.0:2575"), device("chem-1", "0.0.0.0:2576")];
  expect(callerYaml(caller, devices)).toBe(
    '  - { id: new-1, profile: generic-hl7, connection: { listen: "0.0.0.0:2577" }, allow: ["192.168.1.77"] }',
  );
  expect(callerYaml({ ...caller, why: "not allowed" }, devices)).toBe('    allow: ["192.168.1.77"] # hema-1');
  expect(callerYaml({ ...caller, protocol: "HTTP" }, devices)).toBe(null);
  expect(callerYaml({ ...caller, why: "not allowed", address: '"] }\nx: [' }, devices)).toBe(
    '    allow: ["\\"] }\\nx: ["] # hema-1',
  );
});

test("the lines for a new clinic PC name this server and the time zone", () => {
  expect(agentYaml("https://vetwire.example", "Europe/Istanbul").split("\n").slice(0, 3)).toEqual([
    'server: { url: "https://vetwire.example", keyFile: ./agent.key }',
    "data: ./data",
    "timeZone: Europe/Istanbul",
  ]);
});
