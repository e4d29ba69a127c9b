import { expect, onTestFinished, test, vi } from "vitest";
import type { LocalDestinations } from "../../../../agent/page/types/destinations.ts";
import { Spool } from "../../../../agent/spool/spool.ts";
import { freePort, until } from "../../../support/machine/processes.ts";
import { emptyServer, type TestAgent, useAgent } from "../../../support/peers/running-agent.ts";
import { scriptedServer } from "../../../support/peers/scripted-server.ts";

let agent: TestAgent;
useAgent((made) => {
  agent = made;
});

test("a server that does not answer holds up no page", async () => {
  const server = await scriptedServer((request) =>
    request.url.startsWith("/agent/v1/destinations") ? "hang" : emptyServer(request),
  );
  agent.resources.push(server);
  const dial = `127.0.0.1:${await freePort()}`;
  await agent.runWith(server.url, [], undefined, { destinations: [{ id: "pims", kind: "hl7", dial }] });
  const url = `http://127.0.0.1:${agent.host.port}/local/v1/destinations`;
  // The agent itself waits 30 s for its server.
  const response = await fetch(url, { signal: AbortSignal.timeout(20_000) });
  const { destinations } = (await response.json()) as LocalDestinations;
  expect(destinations).toMatchObject([{ id: "pims", to: dial, parked: null }]);
});

test("the first response of the server finds an agent that is ready for it", async () => {
  const server = await scriptedServer((request) => {
    if (!request.url.startsWith("/agent/v1/destinations")) return emptyServer(request);
    return { status: 200, body: request.url.endsWith("/next") ? { delivery: null, wait_s: 5 } : { destinations: [] } };
  });
  agent.resources.push(server);
  const own = Object.getOwnPropertyDescriptor(Spool.prototype, "call");
  const call = own?.value as (this: Spool, ...args: unknown[]) => Promise<never>;
  vi.spyOn(Spool.prototype, "call").mockImplementation(async function slowly(this: Spool, ...args) {
    // Imaging opens slowly, as on an old disk.
    if (args[0] === "setDestinations") await new Promise((resolve) => setTimeout(resolve, 300));
    return await call.apply(this, args);
  });
  onTestFinished(() => void vi.restoreAllMocks());
  const dial = `127.0.0.1:${await freePort()}`;
  await agent.runWith(server.url, [], undefined, { destinations: [{ id: "pims", kind: "hl7", dial }] });
  await until("a look at the queue", () => server.requests.some(({ url }) => url.endsWith("/next")));
  expect(server.requests.filter(({ method }) => method === "PUT")).toHaveLength(1);
});
