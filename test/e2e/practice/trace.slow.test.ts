import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { Push } from "../../../agent/push/push.ts";
import { createServerClient } from "../../../agent/push/server-client.ts";
import { createLog } from "../../../shared/log/log.ts";
import { openStore } from "../../../server/database/open.ts";
import { createKey } from "../../../server/http/auth/api-keys.ts";
import { loadPepper } from "../../../server/http/auth/pepper.ts";
import { newFp } from "../../../shared/api/fp.ts";
import {
  clinic,
  connection,
  importEntities,
  keyPermissions,
  noon,
  patient,
  temporaryFolder,
} from "../../server/harness.ts";
import { startCollector } from "../../server/operations/collector.ts";
import { startReceiver } from "../../server/operations/webhooks/world.ts";
import { startBuiltServer } from "../../server/started-server.ts";
import { addWebhook } from "../../server/webhooks.ts";
import { useSpool } from "../../support/spool.ts";
import { studyDraft } from "../../support/clinic/study.ts";
import { TestClock } from "../../support/protocols/wire.ts";

// Method: the sending part of an agent pushes a study over TCP to a server from the build, whose webhook and collector are real
// HTTP servers.

const used = useSpool();
const own = newFp("clinic");
const dog = patient();

test("a result has one trace from the agent over the server to the webhook, in log lines and in spans", async () => {
  const receiver = await startReceiver();
  const { collector, spans } = await startCollector();
  const folder = temporaryFolder();
  const store = await openStore(folder);
  await importEntities(store, clinic(own), dog, connection(dog.fp, own));
  const { clinicId } = await addWebhook(store, own, { url: receiver.url, types: ["study.filed"] });
  const wanted = { clinicId, name: "test", type: "device" as const, expiresAt: null, now: noon };
  const key = await createKey(store, loadPepper(folder, false), { ...wanted, permissions: keyPermissions });
  const stranger = await createKey(store, loadPepper(folder, false), { ...wanted, permissions: ["clinic.soap.view"] });
  await store.close();

  const { child, address } = await startBuiltServer(folder, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  let output = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  const message = { id: "M1", session: 1, ordinal: 0, device: "chem-1", profile: "generic-astm", receivedAt: 1 };
  await used.spool.call("addMessage", { ...message, bytes: Buffer.from("M1"), incomplete: null });
  const studies = [studyDraft({ patient_fp: dog.fp, source: { device_id: "chem-1", message_id: "M1" } })];
  await used.spool.call("settle", { message: "M1", state: "pending", reason: null, studies, completes: [], at: 1 });

  // The first key may not push: the agent and the server log the refusal.
  let usedKey = stranger;
  const outcomes: string[] = [];
  const lines: string[] = [];
  const agentLog = createLog({ base: null }, { recent: { add: (line: string) => lines.push(line) } as never });
  const clock = new TestClock();
  const push = new Push(
    used.spool,
    createServerClient(address, () => usedKey),
    {
      outcome: (outcome) => outcomes.push(outcome),
      failed: (kind) => agentLog.error({ kind }, "studies cannot be sent"),
      recovered: () => undefined,
    },
    { setTimer: clock.setTimer, random: () => 1 },
  );
  onTestFinished(() => push.stop());
  push.wake();
  await expect.poll(() => lines.length).toBe(1);
  usedKey = key;
  clock.advance(60_000);
  await expect.poll(() => [receiver.bodies.length, outcomes]).toEqual([1, ["filed"]]);
  child.kill("SIGTERM");
  await once(child, "close");

  const { trace_id: traceId } = JSON.parse(lines[0] ?? "{}") as { trace_id: string };
  expect(traceId).toMatch(/^[\da-f]{32}$/);
  const refused = output.split("\n").find((line) => line.includes('"request refused"')) ?? "{}";
  const refusal = JSON.parse(refused) as Record<string, unknown>;
  expect(refusal).toMatchObject({ status: 403, trace_id: traceId });
  const ofTrace = spans().filter((span) => span.traceId === traceId);
  expect(ofTrace.map(({ name, kind }) => `${kind} ${name}`).toSorted()).toEqual([
    "2 POST /agent/v1/studies",
    "2 POST /agent/v1/studies",
    "3 POST webhook",
  ]);
  const attempt = ofTrace.find(({ kind }) => kind === 3);
  expect(receiver.bodies[0]?.[1]["traceparent"]).toBe(`00-${traceId}-${attempt?.spanId}-01`);
  // The webhook was caused by the request that filed the study, which the agent's second push caused.
  expect(ofTrace.map(({ spanId }) => spanId)).toContain(attempt?.parentSpanId);
  expect(refusal["span_id"]).not.toBe(attempt?.parentSpanId);
  for (const { body } of collector.requests) expect(body).not.toContain(dog.fp);
});
