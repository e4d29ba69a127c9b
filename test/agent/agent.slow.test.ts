import fs from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { startAgent } from "../../agent/agent.ts";
import { checkConfig } from "../../agent/config/check.ts";
import { readSpool } from "../../agent/spool/access.ts";
import { readStatus } from "../../agent/spool/queries/status.ts";
import { Spool } from "../../agent/spool/spool.ts";
import { bloodCount, MllpClient, verdict } from "../support/protocols/hl7.ts";
import { freePort, temporaryFolder, until } from "../support/machine/processes.ts";

const OPEN_FILES = "/proc/self/fd";

/** @returns the open files of this process below the folder */
function openIn(folder: string): string[] {
  return fs.readdirSync(OPEN_FILES).flatMap((name) => {
    try {
      const file = fs.readlinkSync(path.join(OPEN_FILES, name));
      return file.startsWith(folder) ? [path.relative(folder, file)] : [];
    } catch {
      return []; // the descriptor of the listing itself
    }
  });
}

test.skipIf(!fs.existsSync(OPEN_FILES))("a stopped agent has no file of its data folder open", async () => {
  const folder = temporaryFolder();
  fs.writeFileSync(path.join(folder, "agent.key"), "sk_live_test\n");
  const device = { id: "xray", profile: "dicom", connection: { listen: `127.0.0.1:${await freePort()}` } };
  const server = { url: `http://127.0.0.1:${await freePort()}`, keyFile: "agent.key" };
  const text = JSON.stringify({ server, data: "data", timeZone: "UTC", devices: [device] });
  const checked = checkConfig(text, folder);
  if ("problems" in checked) throw new Error(JSON.stringify(checked.problems));
  const agent = await startAgent(checked.config, "test", pino({ enabled: false }));
  expect(openIn(folder)).toContain("data/images");
  await agent.stop();
  expect(openIn(folder)).toEqual([]);
  fs.rmSync(folder, { recursive: true });
});

/** Starts an agent with one device, its key in a UTF-16 file. @returns its log and status, until the test ends */
async function agentOf(url: string) {
  const folder = temporaryFolder();
  fs.writeFileSync(path.join(folder, "agent.key"), "\ufeffsk_live_test\r\n", "utf16le");
  const device = { id: "hema-1", profile: "generic-hl7", connection: { listen: `127.0.0.1:${await freePort()}` } };
  const server = { url, keyFile: "agent.key" };
  const text = JSON.stringify({ server, data: "data", timeZone: "UTC", devices: [device] });
  const checked = checkConfig(text, folder);
  if ("problems" in checked) throw new Error(JSON.stringify(checked.problems));
  const log: string[] = [];
  const agent = await startAgent(checked.config, "test", pino({}, { write: (line) => void log.push(line) }));
  onTestFinished(async () => {
    await agent.stop();
    fs.rmSync(folder, { recursive: true });
  });
  return { log, state: () => readSpool(checked.config.data, (db) => readStatus(db, checked.config.data)) };
}

test("a clock difference of an hour to the server is logged and shown in the status", async () => {
  const keys = new Set<unknown>();
  const server = http.createServer((request, response) => {
    keys.add(request.headers["x-api-key"]);
    response.writeHead(404, { date: new Date(Date.now() - 3_600_000).toUTCString() }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { log, state } = await agentOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const { clock } = await until("a response is known", () => (state().clock === null ? null : state()));
  expect(Math.abs((clock?.offset_s ?? 0) - 3600)).toBeLessThan(30);
  expect(log.filter((line) => line.includes("s ahead of the server's"))).toHaveLength(1);
  expect([...keys]).toEqual(["sk_live_test"]);
});

test("an https URL at a port without TLS is logged and shown in the status", async () => {
  const server = http.createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const problem = `the server at ${place} does not speak TLS: is the url http://?`;
  const { log, state } = await agentOf(`https://${place}`);
  await until("the problem is known", () => state().server?.reason);
  expect([state().server?.state, state().server?.reason, state().clock]).toEqual(["cannot be reached", problem, null]);
  expect(log.some((line) => line.includes(problem))).toBe(true);
});

test("ports open before the backlog of an earlier process is filed, and a stop does not wait for it", async () => {
  // Each message looks up its patient at the server. The server never responds to the first one.
  const held: http.ServerResponse[] = [];
  const server = http.createServer((_, response) => void held.push(response)).listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await until("the server listens", () => server.address());
  const folder = temporaryFolder();
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  const spool = await Spool.open(path.join(folder, "data"));
  const session = spool.openSession("hema-1", "generic-hl7");
  for (let ordinal = 0; ordinal < 1_000; ordinal++) {
    const segments = bloodCount({ id: `B${ordinal}`, patient: "4711", measured: "20260101090000", wbc: 9.8 });
    const bytes = Buffer.from(segments.map((segment) => `${segment}\r`).join(""));
    const message = {
      id: `M${ordinal}`,
      session,
      ordinal,
      device: "hema-1",
      profile: "generic-hl7",
      receivedAt: ordinal,
    };
    spool.callLater("addMessage", { ...message, bytes, incomplete: null });
  }
  await spool.close();

  const port = await freePort();
  fs.writeFileSync(path.join(folder, "agent.key"), "sk_live_test\n");
  const device = { id: "hema-1", profile: "generic-hl7", connection: { listen: `127.0.0.1:${port}` } };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const text = JSON.stringify({
    server: { url, keyFile: "agent.key" },
    data: "data",
    timeZone: "UTC",
    devices: [device],
  });
  const checked = checkConfig(text, folder);
  if ("problems" in checked) throw new Error(JSON.stringify(checked.problems));
  const unsettled = () =>
    readSpool(checked.config.data, (db) =>
      db.prepare("SELECT COUNT(*) FROM message WHERE processed_at IS NULL").pluck().get(),
    ) as number;
  const agent = await startAgent(checked.config, "test", pino({ enabled: false }));
  const client = await MllpClient.connect(port);
  const answered = await client.exchange(
    bloodCount({ id: "NEW", patient: "4711", measured: "20260101090000", wbc: 9.9 }),
  );
  client.close();
  await agent.stop();
  expect([verdict(answered), unsettled() > 900]).toEqual(["AA NEW", true]);
});
