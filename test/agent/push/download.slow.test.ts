import fs from "node:fs";
import http from "node:http";
import type net from "node:net";
import path from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { createServerClient } from "../../../agent/push/server-client.ts";
import { temporaryFolder } from "../../support/machine/processes.ts";
import { scriptedServer, type Step } from "../../support/peers/scripted-server.ts";

async function downloaded(step: Step, bytesMax: number): Promise<string> {
  const server = await scriptedServer(() => step);
  onTestFinished(() => server.close());
  return downloadFrom(server.url, bytesMax, step === "hang" ? 500 : undefined);
}

async function downloadFrom(url: string, bytesMax: number, timeoutMs?: number): Promise<string> {
  const folder = temporaryFolder();
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  const file = path.join(folder, "file");
  await createServerClient(url, () => "key", timeoutMs).download("/agent/v1/releases/file", file, bytesMax);
  return fs.readFileSync(file, "latin1");
}

/** Starts a server whose body has no end: it sends `part` each 50 ms. `closed` resolves when the client hangs up. */
async function endlessServer(status: number, part: string, sent: () => void = () => undefined) {
  let hangUp: () => void;
  const closed = new Promise<void>((resolve) => (hangUp = resolve));
  const server = http.createServer((_, response) => {
    response.writeHead(status);
    const timer = setInterval(() => response.write(part, sent), 50);
    response.on("close", () => {
      clearInterval(timer);
      hangUp();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as net.AddressInfo;
  return { url: `http://127.0.0.1:${port}`, closed };
}

test("a file is downloaded up to its bound", async () => {
  const body = Buffer.alloc(200_000, "x");
  expect(await downloaded({ status: 200, body }, 200_000)).toBe(body.toString());
  await expect(downloaded({ status: 200, body }, 199_999)).rejects.toThrow("expected at most 199999 bytes");
});

test.each<[string, Step, string]>([
  ["refuses", { status: 404 }, "the server answered 404: ROUTE.NOT_FOUND It is scripted."],
  ["redirects", { status: 302, body: "elsewhere" }, "the server answered 302: no error envelope"],
  ["ends the connection", "cut", "the server cannot be reached"],
  ["sends nothing", "hang", "the server cannot be reached: no response in time"],
  [
    "ends within the file",
    { status: 200, body: "short", headers: { "content-length": "50", connection: "close" } },
    "the server cannot be reached",
  ],
])("a download from a server that %s fails with its reason", async (_, step, reason) => {
  await expect(downloaded(step, 1_000)).rejects.toThrow(reason);
});

test("a refusal without an end is read up to a bound", async () => {
  const { url, closed } = await endlessServer(500, "x".repeat(4_000));
  await expect(downloadFrom(url, 1_000)).rejects.toThrow("the server answered 500: no error envelope");
  await closed;
});

test.each([200, 500])(
  "a server that sends a byte now and then with status %i is left after an hour",
  async (status) => {
    const hour = new AbortController();
    const bound = vi.spyOn(AbortSignal, "timeout").mockReturnValue(hour.signal);
    onTestFinished(() => bound.mockRestore());
    const isOver = new DOMException("an hour", "TimeoutError");
    const { url, closed } = await endlessServer(status, "x", () => hour.abort(isOver));
    await expect(downloadFrom(url, 1_000)).rejects.toThrow("the server sent no whole file within an hour");
    expect(bound.mock.calls).toEqual([[3_600_000]]);
    await closed;
  },
);
