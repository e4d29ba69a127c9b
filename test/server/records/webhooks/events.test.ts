import { expect, test } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import { query } from "../../../../server/database/query.ts";
import { askConnection, closeConnection } from "../../../../server/records/patients/patient-connections.ts";
import {
  clinic,
  connection,
  importEntities,
  keyPermissions,
  needNoConfirmation,
  noon,
  patient,
  startServer,
  study,
} from "../../harness.ts";
import { claimDeliveries, dueWebhooks } from "../../../../server/records/webhooks/deliveries.ts";
import { addUser, addWebhook } from "../../webhooks.ts";
import { assignStudy, moveStudy, reopenStudy } from "../../study-commands.ts";

const own = newFp("clinic");
const other = newFp("clinic");
const shared = patient({ name: "Shared" });
const single = patient({ name: "Single" });

const events = query((db, p: { clinicFp: string }) =>
  db
    .selectFrom("webhook_delivery as delivery")
    .innerJoin("webhook", "webhook.id", "delivery.webhook_id")
    .innerJoin("clinic", "clinic.id", "webhook.clinic_id")
    .select(["delivery.type", "delivery.fp"])
    .where("clinic.fp", "=", p.clinicFp)
    .orderBy("delivery.id"),
);
const all = ["study.filed", "study.revised", "patient.changed"] as const;

async function world() {
  const server = await startServer(
    [clinic(own), clinic(other), shared, single],
    [connection(shared.fp, own), connection(shared.fp, other), connection(single.fp, own)],
  );
  await addWebhook(server.store, own, { types: [...all] });
  await addWebhook(server.store, other, { types: [...all] });
  const key = await server.makeKey(own, keyPermissions);
  const news = async () => ({
    own: await server.store.all(events, { clinicFp: own }),
    other: await server.store.all(events, { clinicFp: other }),
  });
  return { ...server, key, news };
}

test("a filed study and its revision are events of every clinic that lists the patient", async () => {
  const { push, key, news, store } = await world();
  const first = study({ patient_fp: shared.fp });
  await push(key, first);
  const filed = [{ type: "study.filed", fp: first.fp }];
  expect(await news()).toEqual({ own: filed, other: filed });
  await startSending(store);
  await push(key, { ...first, revision: 2, results: [] });
  const revised = [...filed, { type: "study.revised", fp: first.fp }];
  expect(await news()).toEqual({ own: revised, other: revised });
});

/** Marks all waiting deliveries as under way, so that later changes make rows of their own. */
async function startSending(store: Awaited<ReturnType<typeof world>>["store"]) {
  const now = noon + 1000;
  for (const webhookId of await dueWebhooks(store, now)) {
    await claimDeliveries(store, { webhookId, now, leaseMs: 60_000, limit: 100 });
  }
}

test("an unmatched study has no event until a person places it, and taking it back is a revision", async () => {
  const { push, key, news, store } = await world();
  const waiting = study();
  await push(key, waiting);
  expect(await news()).toEqual({ own: [], other: [] });
  const actor = { fp: waiting.fp, by: "test", now: noon };
  await store.transaction((session) => assignStudy(session, { ...actor, patientFp: single.fp }));
  const filed = { type: "study.filed", fp: waiting.fp };
  expect(await news()).toEqual({ own: [filed], other: [] });
  await startSending(store);
  await store.transaction((session) => reopenStudy(session, actor));
  expect(await news()).toEqual({ own: [filed, { type: "study.revised", fp: waiting.fp }], other: [] });
});

test("a study that moves to a shared patient is filed for the one clinic and revised for the other", async () => {
  const { push, key, news, store } = await world();
  const moved = study({ patient_fp: single.fp });
  await push(key, moved);
  await startSending(store);
  const move = { fp: moved.fp, patientFp: shared.fp, reason: "another animal", by: "test", now: noon };
  await store.transaction((session) => moveStudy(session, move));
  expect(await news()).toEqual({
    own: [
      { type: "study.filed", fp: moved.fp },
      { type: "study.revised", fp: moved.fp },
    ],
    other: [{ type: "study.filed", fp: moved.fp }],
  });
});

test("an opened connection has events of the patient and its studies, a closed one of the patient", async () => {
  const { push, key, news, store } = await world();
  const early = study({ patient_fp: single.fp });
  await push(key, early);
  await needNoConfirmation(store);
  const clinicId = 2;
  const actor = { clinicId, userId: await addUser(store), by: "test", now: noon };
  await store.transaction((session) => askConnection(session, single.fp, actor));
  const opened = [
    { type: "patient.changed", fp: single.fp },
    { type: "study.filed", fp: early.fp },
  ];
  expect((await news()).other).toEqual(opened);
  await startSending(store);
  await store.transaction((session) => closeConnection(session, single.fp, actor));
  expect((await news()).other).toEqual([...opened, { type: "patient.changed", fp: single.fp }]);
  await startSending(store);
  await importEntities(store, { ...single, name: "Renamed", updated_at: "2026-11-20T08:00:00.000Z" });
  // A closed connection gets nothing more.
  expect((await news()).other).toHaveLength(3);
  expect((await news()).own.at(-1)).toEqual({ type: "patient.changed", fp: single.fp });
});

test("a transaction that fails leaves no event", async () => {
  const { push, key, news, store } = await world();
  const waiting = study();
  await push(key, waiting);
  const failing = store.transaction(async (session) => {
    await assignStudy(session, { fp: waiting.fp, patientFp: single.fp, by: "test", now: noon });
    throw new Error("the disk is full");
  });
  await expect(failing).rejects.toThrow("the disk is full");
  expect(await news()).toEqual({ own: [], other: [] });
});

test("changes of one record join the waiting event, and not one under way", async () => {
  const { push, key, news, store } = await world();
  const changing = study({ patient_fp: single.fp });
  await push(key, changing);
  await startSending(store);
  for (const revision of [2, 3, 4]) await push(key, { ...changing, revision, device_name: `Device ${revision}` });
  expect((await news()).own).toEqual([
    { type: "study.filed", fp: changing.fp },
    { type: "study.revised", fp: changing.fp },
  ]);
});

test("a webhook gets the types that it chose", async () => {
  const { push, key, news, store } = await startServerWith(["study.revised"]);
  const filed = study({ patient_fp: single.fp });
  await push(key, filed);
  await push(key, { ...filed, revision: 2, device_name: "Other" });
  expect(await news(store)).toEqual([{ type: "study.revised", fp: filed.fp }]);
});

async function startServerWith(types: (typeof all)[number][]) {
  const server = await startServer(clinic(own), single, connection(single.fp, own));
  await addWebhook(server.store, own, { types });
  const news = async (store: typeof server.store) => store.all(events, { clinicFp: own });
  return { ...server, key: await server.makeKey(own, keyPermissions), news };
}
