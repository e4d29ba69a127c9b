import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { renderDeliveries } from "../../../../server/app.ts";
import { query } from "../../../../server/database/query.ts";
import { DestinationDispatcher } from "../../../../server/operations/destinations/dispatcher.ts";
import { insertDestination } from "../../../../server/records/destinations/destinations.ts";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { type Answer, controlIdOf, fieldOf, startReceiver } from "../../hl7-receiver.ts";
import { clinic, connection, keyPermissions, patient, startServer, study } from "../../harness.ts";
import { patiently } from "../../../support/runner/patience.ts";

const queue = query((db) =>
  db.selectFrom("destination_delivery").select(["study_fp", "state", "attempts"]).orderBy("id"),
);
const attempts = query((db) =>
  db
    .selectFrom("destination_attempt")
    .select(["number", "outcome", "code", "text"])
    .orderBy("delivery_id")
    .orderBy("number"),
);

/** A clinic whose practice software answers as told. */
async function world(answer?: (index: number) => Answer, times = { connectMs: 60_000, ackMs: 60_000 }) {
  const own = newFp("clinic");
  const pamuk = patient({ name: "Pamuk", species: "cat" });
  const server = await startServer([clinic(own), pamuk], [connection(pamuk.fp, own)]);
  const receiver = await startReceiver(answer);
  const clinicId = (await findClinic(server.store, own))?.id ?? 0;
  await server.store.transaction((session) =>
    insertDestination(session, {
      ...{ clinicId, agentId: null, slug: "PIMS", kind: "hl7", address: receiver.address, options: "{}", now: 0 },
    }),
  );
  const now = () => server.clock.now;
  const start = (render = renderDeliveries(server.store, now)) => {
    const options = { logger: pino({ enabled: false }), allowPrivate: true, now, times };
    const dispatcher = new DestinationDispatcher(server.store, { ...options, render });
    onTestFinished(() => dispatcher.stop());
    return dispatcher;
  };
  const dispatcher = start();
  const key = await server.makeKey(own, keyPermissions);
  /** Files studies, the earlier ones first. */
  const file = async (count = 1) => {
    const filed = Array.from({ length: count }, () => study({ patient_fp: pamuk.fp }));
    for (const one of filed) await server.push(key, one);
    return filed;
  };
  const run = async () => {
    await dispatcher.check();
    await dispatcher.settled();
  };
  return { ...server, own, key, receiver, file, run, start, dispatcher };
}

test("a filed study reaches practice software over TCP, and its acknowledgement is stored", async () => {
  const { file, run, receiver, store } = await world();
  const [filed] = await file();
  await run();
  expect(receiver.messages.map((message) => fieldOf(message, "OBR", 3))).toEqual([`${filed?.fp}^VETWIRE`]);
  expect(await store.all(queue, {})).toEqual([{ study_fp: filed?.fp, state: "acknowledged", attempts: 1 }]);
  expect(await store.all(attempts, {})).toEqual([
    { number: 1, outcome: "acknowledged", code: "AA", text: "words of it" },
  ]);
});

test("a failed message blocks the later ones, and is repeated with the same bytes after a growing time", async () => {
  const { file, run, receiver, clock } = await world((index) => (index < 2 ? "AE" : "AA"));
  const filed = await file(2);
  await run();
  clock.now += 900;
  await run();
  expect(receiver.messages.length).toBe(1);
  clock.now += 100;
  await run();
  clock.now += 1900;
  await run();
  expect(receiver.messages.length).toBe(2);
  clock.now += 100;
  await run();
  const [first, second, third, last] = receiver.messages;
  expect([second, third]).toEqual([first, first]);
  expect(receiver.messages.map((message) => fieldOf(message, "OBR", 3))).toEqual(
    [0, 0, 0, 1].map((index) => `${filed[index]?.fp}^VETWIRE`),
  );
  expect(controlIdOf(last ?? "")).not.toBe(controlIdOf(first ?? ""));
});

test("a refused message is parked with the receiver's words, and the next one follows", async () => {
  const { file, run, receiver, store } = await world((index) => (index === 0 ? "AR" : "AA"));
  const filed = await file(2);
  await run();
  expect(receiver.messages.length).toBe(2);
  expect(await store.all(queue, {})).toEqual([
    { study_fp: filed[0]?.fp, state: "parked", attempts: 1 },
    { study_fp: filed[1]?.fp, state: "acknowledged", attempts: 1 },
  ]);
  expect((await store.all(attempts, {}))[0]).toEqual({
    ...{ number: 1, outcome: "refused", code: "AR" },
    text: expect.stringContaining("words of it") as string,
  });
});

test("a study whose message cannot be made holds up no other one, and is sent once it can", async () => {
  const { file, start, receiver, store, clock } = await world();
  const filed = await file(3);
  const render = renderDeliveries(store, () => clock.now);
  let isBroken = true;
  const dispatcher = start(async (asked) => {
    if (isBroken && asked.studyFp === filed[0]?.fp) throw new Error("no message");
    return render(asked);
  });
  const sent = () => receiver.messages.map((message) => fieldOf(message, "OBR", 3).split("^")[0]);
  await dispatcher.check();
  await dispatcher.settled();
  expect(sent()).toEqual([filed[1]?.fp, filed[2]?.fp]);
  isBroken = false;
  await dispatcher.check();
  await dispatcher.settled();
  expect(sent()).toEqual([filed[1]?.fp, filed[2]?.fp, filed[0]?.fp]);
});

test("silence and a closed connection are failures, and a lost acknowledgement brings the same message again", async () => {
  const answers: Answer[] = ["silence", "close", "AA"];
  const { file, run, receiver, clock, store } = await world((index) => answers[index] ?? "AA", {
    ...{ connectMs: 60_000, ackMs: patiently(1_500) },
  });
  await file();
  for (const waitMs of [0, 1000, 2000]) {
    clock.now += waitMs;
    await run();
  }
  expect(new Set(receiver.messages).size).toBe(1);
  expect((await store.all(attempts, {})).map(({ code }) => code)).toEqual(["ACK.TIMED_OUT", "ACK.CLOSED", "AA"]);
});

test("servers that share the database send each message once, one at a time and in order", async () => {
  const { file, run, start, receiver } = await world();
  const filed = await file(6);
  const others = [start(), start()];
  await Promise.all([run(), ...others.map((other) => other.check())]);
  await Promise.all(others.map((other) => other.settled()));
  await run();
  expect(receiver.messages.map((message) => fieldOf(message, "OBR", 3))).toEqual(
    filed.map(({ fp }) => `${fp}^VETWIRE`),
  );
});

test("a pass tries a part of many studies whose messages cannot be made, and the next one goes on", async () => {
  const { file, start, receiver, store, clock } = await world();
  const filed = await file(22);
  const render = renderDeliveries(store, () => clock.now);
  const tried: string[] = [];
  const dispatcher = start(async (asked) => {
    tried.push(asked.studyFp);
    if (asked.studyFp !== filed[21]?.fp) throw new Error("no message");
    return render(asked);
  });
  await dispatcher.check();
  await dispatcher.settled();
  expect([tried.length, receiver.messages.length]).toEqual([20, 0]);
  await dispatcher.check();
  await dispatcher.settled();
  expect(tried.slice(20, 22)).toEqual([filed[20]?.fp, filed[21]?.fp]);
  expect(receiver.messages.length).toBe(1);
});

test("a message that one server sends stays the first, although another server could not make it", async () => {
  const { file, start, receiver, store, clock, dispatcher } = await world(() => "silence");
  const filed = await file(2);
  const render = renderDeliveries(store, () => clock.now);
  let isFirst = true;
  const other = start(async (asked) => {
    if (!isFirst) return render(asked);
    isFirst = false;
    await dispatcher.check();
    await expect.poll(() => receiver.messages.length).toBe(1);
    throw new Error("no message");
  });
  await other.check();
  await other.settled();
  expect(receiver.messages.length).toBe(1);
  expect(await store.all(queue, {})).toEqual([
    { study_fp: filed[0]?.fp, state: "sending", attempts: 1 },
    { study_fp: filed[1]?.fp, state: "new", attempts: 0 },
  ]);
});

test("an attempt whose server died is repeated by another one after its lease, with the same bytes", async () => {
  const { file, run, start, receiver, clock, dispatcher } = await world((index) => (index === 0 ? "silence" : "AA"), {
    ...{ connectMs: 60_000, ackMs: 60_000 },
  });
  await file();
  await dispatcher.check();
  await expect.poll(() => receiver.messages.length).toBe(1);
  const other = start();
  await other.check();
  await other.settled();
  expect(receiver.messages.length).toBe(1);
  clock.now += 120_000;
  await other.check();
  await other.settled();
  expect(receiver.messages).toEqual([receiver.messages[0], receiver.messages[0]]);
  await receiver.stop();
  await run();
});
