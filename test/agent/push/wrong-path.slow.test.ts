import path from "node:path";
import { expect, test } from "vitest";
import { readSpool } from "../../../agent/spool/access.ts";
import { listMessages } from "../../../agent/spool/queries/messages/message-summaries.ts";
import { bloodCount, MllpClient, verdict } from "../../support/protocols/hl7.ts";
import { freePort, until } from "../../support/machine/processes.ts";
import { emptyServer, type TestAgent, useAgent } from "../../support/peers/running-agent.ts";
import type { ScriptedRequest, Step } from "../../support/peers/scripted-server.ts";

// Goal: results that the agent acknowledged wait for their server while other programs respond in its place. Method: a complete
// agent; one program responds to every request of it, until the server is back.

let agent: TestAgent;
useAgent((created) => (agent = created));

const MESSAGES = 7;

test.each<[string, Step]>([
  ["a proxy with a wrong path", { status: 404 }],
  ["a stranger with an error envelope", { status: 422, body: { success: false, error: { code: "invalid" } } }],
  ["a portal that responds to each request with its page", { status: 200, body: "<html>Welcome</html>" }],
])("after %s no result is lost or rejected", async (_, wrong) => {
  let isBack = false;
  const respond = (request: ScriptedRequest): Step => {
    if (!isBack) return wrong;
    if (request.url !== "/agent/v1/studies") return emptyServer(request);
    const { studies } = request.body as { studies: { fp: string }[] };
    return { status: 200, body: { outcomes: studies.map(({ fp }) => ({ fp, outcome: "unmatched", reason: "no" })) } };
  };
  const port = await freePort();
  await agent.run([{ id: "hema-1", profile: "generic-hl7", connection: { listen: `127.0.0.1:${port}` } }], respond);
  const client = await MllpClient.connect(port);
  agent.resources.push(client);
  for (let index = 0; index < MESSAGES; index += 1) {
    const measured = `2026050409000${index}`;
    const reply = await client.exchange(bloodCount({ id: String(index), patient: `P${index}`, measured, wbc: "7.1" }));
    expect(verdict(reply)).toBe(`AA ${index}`);
  }
  const states = () => readSpool(path.join(agent.folder, "data"), listMessages).map(({ state }) => state);
  await agent.serverIn("does not work");
  await until("all are queued", () => agent.status().outbox.depth === MESSAGES);
  expect(states()).toEqual(Array.from({ length: MESSAGES }, () => "pending"));
  isBack = true;
  await agent.serverIn("reached");
  await until("all are settled", () => states().every((state) => state === "unmatched"));
});
