import { expect, test } from "vitest";
import type { LocalDestinations } from "../../../../agent/page/types/destinations.ts";
import { freePort } from "../../../support/processes.ts";
import { emptyServer, type TestAgent, useAgent } from "../../../support/running-agent.ts";
import { scriptedServer } from "../../../support/scripted-server.ts";

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
