import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { sendRequest, useNetwork } from "../../../shared/network/client.ts";
import { environmentProxies } from "../../../shared/network/proxy.ts";
import { startForwardProxy } from "../../support/peers/forward-proxy.ts";

/** Longer than an unused connection is kept. */
const SLOW_MS = 6_000;

afterEach(() => useNetwork({ proxies: environmentProxies({}), ca: null }));

test("a response that takes longer than a kept connection is awaited, directly and through a proxy", async () => {
  const server = http.createServer((_, response) => void setTimeout(() => response.end(), SLOW_MS));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const proxy = await startForwardProxy(port);
  onTestFinished(async () => {
    await proxy.close();
    server.closeAllConnections();
    server.close();
  });
  useNetwork({ proxies: environmentProxies({ HTTP_PROXY: `http://127.0.0.1:${proxy.port}` }), ca: null });
  const addresses = [{ address: "127.0.0.1", family: 4 }];
  const responses = await Promise.all([
    sendRequest(new URL(`http://127.0.0.1:${port}/`)),
    sendRequest(new URL(`http://127.0.0.1:${port}/`), { idleMs: 2 * SLOW_MS }),
    sendRequest(new URL("http://cloud.example/")),
    sendRequest(new URL("http://cloud.example/"), { addresses }),
  ]);
  expect(responses.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
  for (const response of responses) response.destroy();
  expect(proxy.seen.toSorted()).toEqual(["CONNECT 127.0.0.1:80", "GET http://cloud.example/"]);
});
