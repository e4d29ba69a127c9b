import net from "node:net";
import path from "node:path";
import { expect, test } from "vitest";
import { freePort, until } from "../../support/machine/processes.ts";
import { type TestAgent, useAgent } from "../../support/peers/running-agent.ts";

// Goal: the state of a device and of the server shows in `status` and /readyz. Method: the test causes each one for real. The
// states that take longer are in device-service.slow.test.ts.

let agent: TestAgent;
useAgent((created) => (agent = created));

test("a missing serial port makes the agent unready", async () => {
  const tty = path.join(agent.folder, "usb-Tester");
  await agent.run([{ connection: { serial: { path: tty } } }]);
  const { reason, since, connected } = await agent.deviceIn("cannot open");
  expect([reason, connected]).toEqual([
    `no such port ${tty}: plug its adapter in, or take a path that "agent ports" lists`,
    false,
  ]);
  const problems = [{ what: "chem-1", reason: `cannot open: ${reason}`, since }];
  expect(await agent.readiness()).toEqual({ status: 503, ready: false, problems, warnings: [] });
});

test("a dialled device that is switched off causes a warning and leaves the agent ready", async () => {
  const port = await freePort();
  await agent.run([{ connection: { dial: `127.0.0.1:${port}` } }]);
  const { reason, since } = await agent.deviceIn("cannot connect");
  expect(reason).toBe(`refused by 127.0.0.1:${port}: switch the device on, and compare its port with ${port}`);
  const warnings = [{ what: "chem-1", reason: `cannot connect: ${reason}`, since }];
  expect(await agent.readiness()).toEqual({ status: 200, ready: true, problems: [], warnings });
});

test("status shows each connection state of a device with its counters", async () => {
  const port = await freePort();
  await agent.run([{ connection: { listen: `127.0.0.1:${port}` } }]);
  const none = { bytes: 0, messages: 0, warnings: 0, noise_bytes: 0 };
  expect(await agent.deviceIn("listening")).toEqual({
    id: "chem-1",
    connected: false,
    last_message_at: null,
    last_bytes_at: null,
    last_warning: null,
    reason: null,
    state: "listening",
    since: expect.any(String) as string,
    counters: none,
    counts: { pending: 0, filed: 0, unmatched: 0, "not-for-patients": 0, quarantined: 0 },
  });
  const socket = net.connect(port, "127.0.0.1");
  expect(await agent.deviceIn("connected")).toMatchObject({ connected: true, reason: null });
  socket.write(`\vMSH|^~\\&|Analyzer${"\rOBX|1|NM|GLU||95".repeat(200)}\x1c\r`);
  const noisy = await until("the warning", () => (agent.device()?.last_warning ? agent.device() : null));
  expect(noisy).toMatchObject({
    counters: { bytes: 3420, messages: 0, warnings: 1, noise_bytes: 3219 },
    last_warning: {
      reason: "3219 bytes outside a session: ignored; they look like HL7 over MLLP: compare the profile generic-astm",
    },
  });
  expect(noisy.last_bytes_at).not.toBe(null);
  socket.destroy();
  expect(await agent.deviceIn("listening")).toMatchObject({ connected: false, reason: null });
  await agent.stop();
  expect([agent.device()?.state, agent.device()?.last_bytes_at, agent.device()?.counters]).toEqual([
    "not served",
    noisy.last_bytes_at,
    null,
  ]);
});

test("a reached server leaves the agent ready", async () => {
  await agent.run([{ connection: { listen: `127.0.0.1:${await freePort()}` } }]);
  expect(await agent.serverIn("reached")).toMatchObject({ reason: null });
  expect(await agent.readiness()).toEqual({ status: 200, ready: true, problems: [], warnings: [] });
});

test("an unreachable server causes a warning", async () => {
  const listening = { connection: { listen: `127.0.0.1:${await freePort()}` } };
  await agent.runWith(`http://127.0.0.1:${await freePort()}`, [listening]);
  const { reason, since } = await agent.serverIn("cannot be reached");
  expect(reason).toBe("the server cannot be reached: nothing listens there (ECONNREFUSED)");
  const warnings = [{ what: "server", reason: `cannot be reached: ${reason}`, since }];
  expect(await agent.readiness()).toEqual({ status: 200, ready: true, problems: [], warnings });
});
