import net from "node:net";
import { once } from "node:events";
import { expect, test } from "vitest";
import { ACK, ENQ, EOT } from "../../../agent/protocols/bytes.ts";
import { frames, vetScanRecords } from "../../support/protocols/astm.ts";
import { freePort, until } from "../../support/machine/processes.ts";
import { type TestAgent, useAgent } from "../../support/peers/running-agent.ts";

let agent: TestAgent;
useAgent((created) => (agent = created));

test("a device is within a message from its first byte until the last reply has left", async () => {
  const port = await freePort();
  await agent.run([{ profile: "abaxis-vetscan-vs2", connection: { listen: `127.0.0.1:${port}` } }]);
  const [device] = agent.host.agent!.devices;
  expect(device!.isWithinMessage()).toBe(false);
  const socket = net.connect(port, "127.0.0.1");
  await once(socket, "connect");
  await until("the agent knows the wire", () => device!.state().connected);
  expect(device!.isWithinMessage()).toBe(false);
  const records = vetScanRecords({ patient: "5000", species: "Dog", collected: "20260101090000", alt: 40 });
  for (const bytes of [Uint8Array.of(ENQ), ...frames(records)]) {
    socket.write(bytes);
    const [reply] = (await once(socket, "data")) as [Buffer];
    expect(reply).toEqual(Buffer.of(ACK));
    expect(device!.isWithinMessage()).toBe(true);
  }
  socket.write(Uint8Array.of(EOT));
  await until("the message has ended", () => !device!.isWithinMessage());
  socket.destroy();
});
