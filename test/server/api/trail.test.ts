import { createHash } from "node:crypto";
import { expect, test, vi } from "vitest";
import { claimDeliveries, dueWebhooks, endAttempt } from "../../../server/records/webhooks/deliveries.ts";
import { gapsIn } from "../../../server/records/trail/gaps.ts";
import type { Trail } from "../../../shared/api/trail.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { clinic, connection, importEntities, keyPermissions, noon, patient, startServer, study } from "../harness.ts";
import { startDestination } from "../destinations.ts";
import { addWebhook } from "../webhooks.ts";

const ours = newFp("clinic");
const theirs = newFp("clinic");
const dog = patient();
const receipt = { at: "2026-11-21T11:59:58.000Z", bytes: 412, sha256: "a".repeat(64) };

async function world() {
  const server = await startServer(clinic(ours), clinic(theirs), dog, connection(dog.fp, ours));
  const agent = await server.makeKey(ours, keyPermissions);
  const auditor = await server.makeKey(ours, ["clinic.audit.view"]);
  const trail = async (fp: string, key = auditor) => {
    const response = await server.get(key, `/api/v1/lab/diagnostics/${fp}/trail`);
    return { status: response.status, trail: response.body["data"] as unknown as Trail };
  };
  return { server, agent, auditor, trail };
}

test("the trail has each step from the bytes of the device to the receiver and the reader, without a gap", async () => {
  const { server, agent, trail } = await world();
  const { store } = server;
  await addWebhook(store, ours, { url: "https://pims.example/hook?secret=1" });
  const pushed = study({ patient_fp: dog.fp });
  await server.push(agent, {
    ...pushed,
    source: { ...pushed.source, receipt },
    matched_by: { by: "fp", identifiers: [] },
  });
  const [webhookId = 0] = await dueWebhooks(store, noon);
  const [attempt] = await claimDeliveries(store, { webhookId, now: noon, leaseMs: 1000, limit: 1 });
  const ended = {
    deliveryId: attempt?.deliveryId ?? 0,
    number: 1,
    status: 204,
    why: null,
    isGone: false,
    failingBefore: 0,
  };
  await endAttempt(store, { ...ended, now: noon + 50, state: "delivered", nextAt: noon });
  await server.get(agent, `/api/v1/lab/diagnostics/${pushed.fp}`);

  const { steps, gaps } = await vi.waitFor(async () => {
    const read = (await trail(pushed.fp)).trail;
    expect(read.steps.at(-1)?.hop).toBe("read");
    return read;
  });
  const found = await server.get(agent, `/api/v1/lab/diagnostics/${pushed.fp}`);
  const sha256 = createHash("sha256").update(JSON.stringify(found.body["data"])).digest("hex");
  const { device_id: by, message_id } = pushed.source;
  expect(gaps).toEqual([]);
  expect(steps.slice(0, 4)).toEqual([
    { hop: "measured", at: pushed.acquired_at, clock: "device", by: pushed.device_name },
    { hop: "received", clock: "agent", revision: 1, by, message_id, ...receipt },
    {
      ...{ hop: "stored", at: new Date(noon).toISOString(), clock: "server", revision: 1, by, cause: "pushed" },
      ...{ rule: "fp", patient_fp: dog.fp, sha256 },
    },
    {
      ...{
        hop: "offered",
        at: new Date(noon).toISOString(),
        clock: "server",
        by: "pims.example",
        event: "study.filed",
      },
      ...{ attempt: 1, status: 204, ended_at: new Date(noon + 50).toISOString() },
    },
  ]);
  expect(steps.slice(4)).toMatchObject([{ hop: "read" }]);
  expect(JSON.stringify(steps)).not.toContain("secret");
  expect(JSON.stringify(steps)).not.toContain(dog.name);
});

test("the trail has each attempt to hand a study to practice software, with its message and its digest", async () => {
  const server = await startDestination();
  const { push, key, pamuk, receiver, own } = server;
  const pushed = study({ patient_fp: pamuk.fp });
  await push(key, pushed);
  const { answer } = await receiver.next();
  await receiver.report({ outcome: "failed", code: "AE" });
  server.clock.now += 10_000;
  await receiver.next();
  await receiver.report({});
  const auditor = await server.makeKey(own, ["clinic.audit.view"]);
  const { body } = await server.get(auditor, `/api/v1/lab/diagnostics/${pushed.fp}/trail`);
  const { steps, gaps } = body["data"] as unknown as Trail;
  const { control_id: message_id, sha256 } = answer.delivery ?? {};
  const handed = { hop: "handed", clock: "server", by: "pims", revision: 1, message_id, sha256 };
  expect(steps.filter(({ hop }) => hop === "handed")).toMatchObject([
    { ...handed, attempt: 1, outcome: "failed", reason: "AE" },
    { ...handed, attempt: 2, outcome: "acknowledged", reason: "AA" },
  ]);
  expect(gaps).toEqual([{ code: "NO_RECEIPT", revision: 1 }]);
});

test("a trail without the agent's receipt, and with an attempt that has no end, names both gaps", async () => {
  const { server, agent, trail } = await world();
  const pushed = study({ patient_fp: dog.fp });
  await addWebhook(server.store, ours);
  await server.push(agent, pushed);
  const [webhookId = 0] = await dueWebhooks(server.store, noon);
  await claimDeliveries(server.store, { webhookId, now: noon, leaseMs: 1000, limit: 1 });
  expect((await trail(pushed.fp)).trail.gaps).toEqual([
    { code: "NO_RECEIPT", revision: 1 },
    { code: "NO_END", attempt: 1 },
  ]);
});

test("a missing revision and an agent's clock ahead are gaps", () => {
  const place = { kind: "unmatched", reason: null } as const;
  const stored = { kind: "revision", cause: "pushed", by: null, place, rule: null, sha256: "" } as const;
  const came = { kind: "received", device: "chem-1", message: "m", bytes: 1, sha256: "" } as const;
  const [early, late] = ["2026-11-21T10:00:00.000Z", "2026-11-21T10:00:01.000Z"];
  expect(
    gapsIn([
      { ...came, at: late, revision: 1 },
      { ...stored, at: early, revision: 1 },
      { ...came, at: early, revision: 3 },
      { ...stored, at: late, revision: 3 },
    ]),
  ).toEqual([
    { code: "CLOCKS_DISAGREE", revision: 1 },
    { code: "REVISION_MISSING", revision: 2 },
  ]);
});

test("a trail needs clinic.audit.view, and a study of another clinic has none", async () => {
  const { server, agent, trail } = await world();
  const pushed = study({ patient_fp: dog.fp });
  await server.push(agent, pushed);
  const foreign = await server.makeKey(theirs, ["clinic.audit.view"]);
  expect((await trail(pushed.fp, agent)).status).toBe(403);
  expect((await trail(pushed.fp, foreign)).status).toBe(403);
  expect((await trail(newFp("cds"))).status).toBe(404);
  expect((await trail(pushed.fp)).status).toBe(200);
});

test("a second clinic of the animal does not learn the messages of the first one's devices", async () => {
  const { server, agent, trail } = await world();
  await importEntities(server.store, connection(dog.fp, theirs));
  const pushed = study({ patient_fp: dog.fp });
  await server.push(agent, { ...pushed, source: { ...pushed.source, message_id: "message-1", receipt } });
  const foreign = await server.makeKey(theirs, ["clinic.audit.view"]);
  const { steps } = (await trail(pushed.fp, foreign)).trail;
  expect(steps.map(({ hop }) => hop)).toEqual(["measured", "stored"]);
  expect(JSON.stringify(steps)).not.toContain("message-1");
});
