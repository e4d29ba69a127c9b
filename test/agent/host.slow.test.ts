import fs from "node:fs";
import net from "node:net";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { startAgent } from "../../agent/agent.ts";
import { markOf } from "../../agent/config/config-file.ts";
import { freePort } from "../support/machine/processes.ts";
import { type TestAgent, useAgent } from "../support/peers/running-agent.ts";

// Goal: a new configuration is applied completely, or the earlier one goes on.

let agent: TestAgent;
useAgent((made) => {
  agent = made;
});

/** Returns the text of the file with other devices. */
function withListeners(text: string, ...places: readonly string[]): string {
  const settings = JSON.parse(text) as object;
  const devices = places.map((listen, index) => ({
    id: `chem-${index + 1}`,
    profile: "generic-astm",
    connection: { listen },
  }));
  return JSON.stringify({ ...settings, devices });
}

async function started() {
  const [first, second] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
  await agent.run([{ connection: { listen: first } }]);
  const { host } = agent;
  const text = host.text();
  if (text === null) throw new Error("expected a configuration");
  return { host, text, first, second };
}

/** Whether something listens at a place of this machine. */
function isOpen(place: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(Number(place.split(":")[1]), "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    onTestFinished(() => void socket.destroy());
  });
}

test("an applied configuration serves its devices and is stored, and the earlier text is kept", async () => {
  const { host, text, first, second } = await started();
  const next = withListeners(text, second, first);
  expect(await host.apply(next, markOf(text))).toEqual({ outcome: "applied" });
  expect([await isOpen(first), await isOpen(second)]).toEqual([true, true]);
  expect(fs.readFileSync(host.file, "utf8")).toBe(next);
  expect(fs.readFileSync(`${host.file}.previous`, "utf8")).toBe(text);
  expect(host.agent?.config.devices.map(({ id }) => id)).toEqual(["chem-1", "chem-2"]);
  const { status, ready } = await agent.readiness();
  expect([status, ready]).toEqual([200, true]);
});

test("a faulty configuration names its lines, and the agent is not touched", async () => {
  const { host, text, first } = await started();
  const running = host.agent;
  const faulty = text.replace("generic-astm", "generic-astmm");
  expect(await host.apply(faulty)).toEqual({
    outcome: "refused",
    problems: [
      { line: 1, steps: ["devices", "0", "profile"], message: expect.stringContaining("generic-astm") as string },
    ],
  });
  expect([host.agent, host.text(), await isOpen(first)]).toEqual([running, text, true]);
});

test("a port that another program uses is refused with its line", async () => {
  const { host, text, first } = await started();
  const other = net.createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => other.once("listening", resolve));
  onTestFinished(() => void other.close());
  const { port } = other.address() as net.AddressInfo;
  const running = host.agent;
  const outcome = await host.apply(withListeners(text, first, `127.0.0.1:${port}`));
  expect(outcome).toEqual({
    outcome: "refused",
    problems: [
      {
        line: 1,
        steps: ["devices", "1", "connection"],
        message: expect.stringMatching(`^chem-2: port ${port} is in use by .*end that program`) as string,
      },
    ],
  });
  expect(host.agent).toBe(running);
});

test("a text that was edited on an older file does not overwrite the newer one", async () => {
  const { host, text, second } = await started();
  const newer = `${text}\n`;
  fs.writeFileSync(host.file, newer);
  const outcome = await host.apply(withListeners(text, second), markOf(text));
  expect(outcome).toMatchObject({
    outcome: "refused",
    problems: [{ message: expect.stringContaining("changed meanwhile") as string }],
  });
  expect(host.text()).toBe(newer);
});

test("a configuration whose agent does not start is rolled back", async () => {
  const { host, text, first } = await started();
  // The data folder would be a file, which no check of the text can know.
  fs.writeFileSync(`${agent.folder}/blocked`, "");
  const next = JSON.stringify({ ...(JSON.parse(text) as object), data: "blocked/data" });
  expect(await host.apply(next)).toMatchObject({
    outcome: "rolled back",
    reason: expect.stringContaining("blocked") as string,
  });
  expect([host.text(), await isOpen(first)]).toEqual([text, true]);
  expect((await agent.readiness()).status).toBe(200);
});

test("the local server moves to another port", async () => {
  const { host, text } = await started();
  const port = await freePort();
  const next = JSON.stringify({ ...(JSON.parse(text) as object), status: { listen: `127.0.0.1:${port}` } });
  expect(await host.apply(next)).toEqual({ outcome: "applied" });
  expect(host.port).toBe(port);
  expect((await agent.readiness()).status).toBe(200);
});

/** Returns the text of the file with the page at another address. */
function withPage(text: string, listen: string): string {
  return JSON.stringify({ ...(JSON.parse(text) as object), status: { listen } });
}

async function answers(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/healthz`).then(({ ok }) => ok);
}

test("the page opens to the network at its port, and keeps its PIN when the next address does not work", async () => {
  const { host, text } = await started();
  const { port } = host;
  const open = withPage(text, `0.0.0.0:${port}`);
  expect(await host.apply(open)).toEqual({ outcome: "applied" });
  const { pin } = host;
  expect([pin, await answers(port ?? 0)]).toEqual([expect.stringMatching(/^[A-Z\d]{4}-[A-Z\d]{4}-[A-Z\d]{4}$/), true]);
  const other = net.createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => other.once("listening", resolve));
  onTestFinished(() => void other.close());
  const used = (other.address() as net.AddressInfo).port;
  expect(await host.apply(withPage(text, `127.0.0.1:${used}`))).toMatchObject({ outcome: "rolled back" });
  expect([host.text(), host.pin, await answers(port ?? 0)]).toEqual([open, pin, true]);
});

test("the page stays at its address if the same port is not free at the next one", async () => {
  const { host, text } = await started();
  const { port } = host;
  expect(await host.apply(withPage(text, `192.0.2.1:${port}`))).toMatchObject({ outcome: "rolled back" });
  expect([host.text(), host.pin, await answers(port ?? 0)]).toEqual([text, null, true]);
});

test("an agent that does not start leaves its data folder to the next one", async () => {
  const { host } = await started();
  const config = host.agent?.config;
  if (config === undefined) throw new Error("expected a running agent");
  await agent.stop();
  const log = pino({ enabled: false });
  const gone = `${host.file}.gone`;
  const faulty = config.devices.map((device) => ({ ...device, tls: { certificate: gone, key: gone } }));
  await expect(startAgent({ ...config, devices: faulty }, "test", log)).rejects.toThrow("ENOENT");
  const running = await startAgent(config, "test", log);
  await running.stop();
});
