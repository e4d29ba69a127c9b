import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { playDevice } from "../../../../agent/tools/simulator/analyzer.ts";
import { FaultyLine, parseFaults } from "../../../../agent/tools/simulator/fault-injection.ts";
import { playHl7Device } from "../../../../agent/tools/simulator/hl7.ts";
import { playHost } from "../../../../agent/tools/simulator/host.ts";
import type { SimulatorLine } from "../../../../agent/tools/simulator/line.ts";
import type { ReceivedMessage } from "../../../../agent/tools/simulator/station.ts";
import { fixturesFolder } from "../../../support/fixtures.ts";
import { useLines } from "../../../support/lines.ts";
import { useSpool } from "../../../support/spool.ts";

// Method: the simulated device and the host are the two ends of one TCP connection.

const { twoEnds } = useLines(useSpool());
const astm = fs.readFileSync(path.join(fixturesFolder, "abaxis-vetscan-vs2/dog.astm"));
const hl7 = fs.readFileSync(path.join(fixturesFolder, "generic-hl7/oru-r01.hl7"));
const SESSION = { protocol: null, count: 1, reply: null, contend: false } as const;

const devices = {
  astm: (line: SimulatorLine) => playDevice(astm, line),
  hl7: (line: SimulatorLine) => playHl7Device(hl7, line, () => undefined),
};

test.each([
  ["astm", "", "H|"],
  ["hl7", "", "MSH|"],
  ["astm", "noise", "H|"],
  ["hl7", "noise", "MSH|"],
] as const)("a host without a fixture receives %s from a device with faults %j", async (protocol, faults, begin) => {
  const [device, host] = await twoEnds();
  const received: ReceivedMessage[] = [];
  const hosted = playHost(host, SESSION, (message) => received.push(message));
  const line = faults === "" ? device : new FaultyLine(device, parseFaults(faults), 3);
  expect(await devices[protocol](line)).toMatchObject({ accepted: true, reason: null });
  expect(await hosted).toBeNull();
  expect(received.map(({ message }) => Buffer.from(message).toString("latin1").slice(0, begin.length))).toEqual([
    begin,
  ]);
});

test("a host with a fixture's protocol does not wait for the first byte to choose one", async () => {
  const [device, host] = await twoEnds();
  const hosted = playHost(host, { ...SESSION, protocol: "hl7" }, () => undefined);
  expect(await devices.hl7(device)).toMatchObject({ accepted: true });
  expect(await hosted).toBeNull();
});

test("a line that closes before its first byte ends the session with the reason", async () => {
  const [device, host] = await twoEnds();
  const hosted = playHost(host, { ...SESSION, count: 2 }, () => undefined);
  await device.close();
  expect(await hosted).toBe("the line closed after 0 of 2 messages");
});
