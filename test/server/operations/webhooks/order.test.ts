import type http from "node:http";
import { expect, test } from "vitest";
import { addTestEvent, resendDelivery } from "../../../../server/records/webhooks/webhooks.ts";
import { diceOf } from "../../../support/runner/dice.ts";
import { makeUser } from "../../../dashboard/harness.ts";
import { noon, study } from "../../harness.ts";
import { type Answer, dispatcherOn, dog, HOUR_MS, MINUTE_MS, ok, own, world } from "./world.ts";

// The events of one record never overtake each other, and those of different records go side by side.

const failing: Answer = (_request, response) => void response.writeHead(500).end();

/** A study whose filing and revision are two events. */
async function twoEvents() {
  const made = await world();
  const changing = study({ patient_fp: dog.fp });
  const revise = async (revision: number) =>
    made.server.push(made.key, { ...changing, revision, device_name: `Device ${revision}` });
  const types = () => made.receiver.got.filter(({ fp }) => fp === changing.fp).map(({ type }) => type);
  return { ...made, changing, revise, types };
}

test("a revision waits for the end of the filing's request, while another study passes", async () => {
  const { receiver, store, clock, push, revise, types } = await twoEvents();
  const held: http.ServerResponse[] = [];
  receiver.answer = (_request, response) => void held.push(response);
  const dispatcher = dispatcherOn(store, { now: () => clock.now });
  await revise(1);
  await dispatcher.check();
  await expect.poll(() => held.length).toBe(1);
  await revise(2);
  const [other] = await push(1);
  await dispatcher.check();
  await expect.poll(() => receiver.got.map(({ fp }) => fp)).toContain(other);
  await dispatcher.check();
  expect(types()).toEqual(["study.filed"]);
  receiver.answer = ok;
  for (const response of held) response.writeHead(204).end();
  await expect.poll(types).toEqual(["study.filed", "study.revised"]);
  await dispatcher.stop();
});

test("a new event brings the failed one before it forward, and waits with it if that fails again", async () => {
  const { receiver, drain, clock, log, revise, types } = await twoEvents();
  receiver.answer = failing;
  await revise(1);
  await drain();
  clock.now += 5000;
  await drain();
  // The third attempt is due in five minutes.
  await revise(2);
  await drain();
  expect(types()).toEqual(["study.filed", "study.filed", "study.filed"]);
  expect((await log()).map(({ next_at }) => next_at - clock.now)).toEqual([30 * MINUTE_MS, 30 * MINUTE_MS]);
  receiver.answer = ok;
  await revise(3);
  clock.now += 30 * MINUTE_MS;
  await drain();
  expect(types().slice(3)).toEqual(["study.filed", "study.revised"]);
});

test("an event whose predecessor is given up is sent", async () => {
  const { receiver, drain, clock, log, revise, types } = await twoEvents();
  await revise(1);
  await revise(2);
  // The revision is due as soon as the filing is given up.
  receiver.answer = (request, response) => (types().at(-1) === "study.revised" ? ok : failing)(request, response);
  for (let round = 0; round < 10; round += 1) {
    await drain();
    clock.now += 25 * HOUR_MS;
  }
  expect(types()).toEqual([...Array.from({ length: 10 }, () => "study.filed"), "study.revised"]);
  expect((await log()).map(({ state }) => state)).toEqual(["given-up", "delivered"]);
});

test("an old event that is sent again does not run beside the later one", async () => {
  const { receiver, store, webhook, drain, clock, log, revise, types } = await twoEvents();
  await revise(1);
  await drain();
  const [filed] = await log();
  await revise(2);
  const held: http.ServerResponse[] = [];
  receiver.answer = (_request, response) => void held.push(response);
  const dispatcher = dispatcherOn(store, { now: () => clock.now });
  await dispatcher.check();
  await expect.poll(() => held.length).toBe(1);
  const again = { ...webhook, deliveryId: filed?.id ?? 0, now: clock.now };
  await store.transaction((session) => resendDelivery(session, again));
  await dispatcher.check();
  expect(types()).toEqual(["study.filed", "study.revised"]);
  receiver.answer = ok;
  for (const response of held) response.writeHead(204).end();
  await expect.poll(types).toEqual(["study.filed", "study.revised", "study.filed"]);
  await dispatcher.stop();
});

test("a study that is taken back and filed again while its events wait ends with a message about its last state", async () => {
  const { receiver, server, store, drain, changing, revise, types, log } = await twoEvents();
  const staff = await makeUser(server, "staff", own);
  const held: http.ServerResponse[] = [];
  const dispatcher = dispatcherOn(store, { now: () => noon });
  receiver.answer = (_request, response) => void held.push(response);
  await revise(1);
  await dispatcher.check();
  await expect.poll(() => held.length).toBe(1);
  // While the first message is under way, the study leaves its animal, and returns twice: four more events, of two types.
  for (const revision of [1, 3]) {
    const out = await staff.call("POST", `/results/${changing.fp}/move`, {
      revision,
      patient_fp: null,
      reason: "a test",
    });
    const back = { revision: revision + 1, patient_fp: dog.fp };
    expect([out.status, (await staff.call("POST", `/unmatched/${changing.fp}/assign`, back)).status]).toEqual([
      200, 200,
    ]);
  }
  const [, ...waiting] = await log();
  expect(waiting.map(({ type, state }) => [type, state])).toEqual([
    ["study.revised", "new"],
    ["study.filed", "new"],
  ]);
  await dispatcher.check();
  expect(receiver.got.length).toBe(1);
  receiver.answer = ok;
  for (const response of held) response.writeHead(204).end();
  await expect.poll(types).toEqual(["study.filed", "study.revised", "study.filed"]);
  await dispatcher.stop();
  await drain();
  expect((await log()).map(({ state }) => state)).toEqual(["delivered", "delivered", "delivered"]);
  expect(types().length).toBe(3);
});

test("a test message goes out now, also while an earlier one waits for its next attempt", async () => {
  const { receiver, store, webhook, drain, clock, log } = await world();
  const press = async () => store.transaction((session) => addTestEvent(session, webhook, clock.now));
  receiver.answer = failing;
  await press();
  await drain();
  clock.now += MINUTE_MS;
  await press();
  await drain();
  // Both wait for minutes.
  expect((await log()).map(({ state }) => state)).toEqual(["retrying", "new"]);
  receiver.answer = ok;
  await press();
  await drain();
  expect((await log()).map(({ state }) => state)).toEqual(["delivered", "delivered"]);
});

test.each([1, 2])("against a receiver of random faults the requests of each study come in order (%i)", async (seed) => {
  const { receiver, server, key, clock, drain } = await world();
  const dice = diceOf(seed);
  receiver.answer = (request, response) => (dice(3) === 0 ? ok : failing)(request, response);
  const studies = Array.from({ length: 6 }, () => study({ patient_fp: dog.fp }));
  for (let revision = 1; revision <= 4; revision += 1) {
    await server.push(key, ...studies.map((each) => ({ ...each, revision, device_name: `Device ${revision}` })));
    if (dice(2) === 0) await drain();
    clock.now += dice(2) * MINUTE_MS;
  }
  for (let round = 0; round < 9; round += 1) {
    await drain();
    clock.now += 25 * HOUR_MS;
  }
  receiver.answer = ok;
  await drain();
  for (const { fp } of studies) {
    const numbers = receiver.got.filter((message) => message.fp === fp).map(({ id }) => Number(id.split("_").at(-1)));
    expect(numbers.length).toBeGreaterThan(1);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  }
});
