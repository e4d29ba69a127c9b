import { expect, test } from "vitest";
import { query, uncachedWrite } from "../../../../server/database/query.ts";
import type { DestinationQueues } from "../../../../shared/api/agent/destinations.ts";
import type { DestinationList, DestinationPage } from "../../../../server/dashboard/types/settings/destinations.ts";
import { makeUser } from "../../harness.ts";
import { study } from "../../../server/harness.ts";
import { startDestination } from "../../../server/destinations.ts";

const options = {
  ...{ name_order: "owner_first", local_first: false, pdf: false },
  ...{ application: "PIMS", facility: "" },
};

async function world() {
  const started = await startDestination();
  const admin = await makeUser(started, "admin", started.own);
  const make = (address: string) =>
    admin.call<{ id: string; error: { message: string } }>("POST", "/destinations", { name: "PIMS", address, options });
  return { ...started, admin, make };
}

test("an address without a port, in the private network or without TLS in the internet is refused with its remedy", async () => {
  const { make } = await world();
  for (const [address, reason] of [
    ["pims.invalid", "with a port from 1024 on"],
    ["127.0.0.1:22", "with a port from 1024 on"],
    ["192.168.1.9:6661", "--allow-private-webhooks"],
    ["169.254.169.254:6661", "No results go to this address"],
    ["93.184.216.34:6661", "choose the encrypted connection"],
  ] as const) {
    const { status, body } = await make(address);
    expect([address, status, body.error.message]).toEqual([address, 409, expect.stringContaining(reason)]);
  }
  expect((await make("tls://93.184.216.34:6661")).status).toBe(200);
});

test("an option that another admin chose meanwhile stays when one sends another option", async () => {
  const { admin, make } = await world();
  const { id } = (await make("tls://93.184.216.34:6661")).body;
  const put = async (changes: object) =>
    (await admin.call("PUT", `/destinations/${id}/options`, { options: changes })).status;
  expect([await put({ pdf: true }), await put({ application: "LAB" }), await put({})]).toEqual([200, 200, 200]);
  const { body } = await admin.call<DestinationPage>("GET", `/destinations/${id}`);
  expect(body.destination.options).toEqual({ ...options, pdf: true, application: "LAB" });
});

test("destinations of the server and of agents are listed, and an agent's is changed at its PC alone", async () => {
  const { admin, make } = await world();
  const { body: made } = await make("tls://93.184.216.34:6661");
  const { body: list } = await admin.call<DestinationList>("GET", "/destinations");
  const shown = list.destinations.map(({ name, address, agent }) => [name, address, agent]);
  expect(shown).toEqual([
    ["pims", null, "test"],
    ["PIMS", "tls://93.184.216.34:6661", null],
  ]);
  const agents = list.destinations[0]?.id ?? "";
  expect((await admin.call("POST", `/destinations/${agents}/pause`, { paused: true })).status).toBe(409);
  expect((await admin.call("POST", `/destinations/${made.id}/pause`, { paused: true })).status).toBe(200);
  expect((await admin.call("POST", `/destinations/${made.id}/delete`, {})).status).toBe(200);
  expect((await admin.call("GET", `/destinations/${made.id}`)).status).toBe(404);
});

test("a refused delivery is shown with the receiver's words, opens an alert, and is sent again by a person", async () => {
  const { admin, push, key, pamuk, receiver, clock, alerts } = await world();
  const filed = study({ patient_fp: pamuk.fp });
  await push(key, filed);
  await receiver.next();
  await receiver.report({ outcome: "refused", code: "AR", text: "unknown animal" });
  const { body: list } = await admin.call<DestinationList>("GET", "/destinations");
  const id = list.destinations[0]?.id ?? "";
  const { body: page } = await admin.call<DestinationPage>("GET", `/destinations/${id}`);
  expect(page.parked).toMatchObject([{ study_fp: filed.fp, attempts: [{ code: "AR", text: "unknown animal" }] }]);
  await alerts.check();
  const today = await admin.call("GET", "/today");
  expect(today.text).toContain("results-refused");
  const deliveries = page.parked.map((each) => each.id);
  expect((await admin.call("POST", `/destinations/${id}/again`, { deliveries })).status).toBe(200);
  clock.now += 1000;
  expect((await receiver.take())[1]).toContain("Pamuk");
  await alerts.check();
  expect((await admin.call("GET", "/today")).text).not.toContain("results-refused");
});

test("a delivery that its receiver never stores is set aside, also one that no attempt was made of, and is sent again", async () => {
  const { admin, push, key, pamuk, receiver, call, store } = await world();
  const filed = [study({ patient_fp: pamuk.fp }), study({ patient_fp: pamuk.fp }), study({ patient_fp: pamuk.fp })];
  for (const one of filed) await push(key, one);
  const { body: list } = await admin.call<DestinationList>("GET", "/destinations");
  const url = `/destinations/${list.destinations[0]?.id ?? ""}`;
  const page = async () => (await admin.call<DestinationPage>("GET", url)).body;
  const aside = async (fp: string | undefined) => {
    const delivery = (await page()).waiting.find(({ study_fp }) => study_fp === fp)?.id ?? 999_999;
    return (await admin.call("POST", `${url}/aside`, { delivery })).status;
  };
  await receiver.next();
  expect([await aside(filed[0]?.fp), (await page()).waiting.length]).toEqual([409, 3]);
  await receiver.report({ outcome: "failed", code: "AE", text: "unknown animal" });
  expect([await aside(filed[0]?.fp), await aside(filed[1]?.fp), await aside("cds_none")]).toEqual([200, 200, 409]);
  expect((await receiver.next()).segments.join()).toContain(filed[2]?.fp);
  await receiver.report({});
  const { parked, waiting } = await page();
  expect([parked.map(({ study_fp }) => study_fp), waiting]).toEqual([[filed[1]?.fp, filed[0]?.fp], []]);
  const { destinations } = (await call("GET", "")).json<DestinationQueues>();
  expect(destinations[0]?.parked).toMatchObject([
    { study_fp: filed[1]?.fp, code: null },
    { study_fp: filed[0]?.fp, code: "AE", text: "unknown animal" },
  ]);
  const deliveries = parked.map(({ id }) => id);
  expect((await admin.call("POST", `${url}/again`, { deliveries })).status).toBe(200);
  expect([(await receiver.take()).join(), (await receiver.take()).join()]).toEqual([
    expect.stringContaining(filed[0]?.fp ?? ""),
    expect.stringContaining(filed[1]?.fp ?? ""),
  ]);
  expect(await page()).toMatchObject({ parked: [], waiting: [] });
  expect(await store.all(audited, {})).toContainEqual({ route: "destinations set aside" });
});

test("a destination of a clinic PC that lost its access, or that the PC no longer names, is removed, and comes back with its queue empty", async () => {
  const { admin, push, key, pamuk, call, store, receiver } = await world();
  const row = async () => (await admin.call<DestinationList>("GET", "/destinations")).body.destinations[0];
  const id = (await row())?.id ?? "";
  const remove = async () => (await admin.call("POST", `/destinations/${id}/delete`, {})).status;
  expect([(await row())?.removable, await remove()]).toEqual([false, 409]);
  await push(key, study({ patient_fp: pamuk.fp }));
  await receiver.next();
  await receiver.report({ outcome: "failed", code: "ACK.TIMED_OUT" });
  await call("PUT", "", { destinations: [] });
  expect([(await row())?.removable, await remove(), await row()]).toEqual([true, 200, undefined]);
  // What was tried stays as proof.
  expect(await store.all(tried, {})).toMatchObject([{ state: "replaced", code: "ACK.TIMED_OUT" }]);
  await push(key, study({ patient_fp: pamuk.fp }));
  await call("PUT", "", { destinations: [{ id: "pims", kind: "hl7" }] });
  expect([(await row())?.id, (await row())?.waiting]).toEqual([id, 0]);
  await store.transaction((session) => session.all(revokeAll, {}));
  expect([(await row())?.removable, await remove()]).toEqual([true, 200]);
});

const audited = query((db) => db.selectFrom("audit").select("route").where("route", "like", "destinations%"));
const tried = query((db) =>
  db
    .selectFrom("destination_delivery")
    .innerJoin("destination_attempt", "destination_attempt.delivery_id", "destination_delivery.id")
    .select(["state", "code"]),
);
const revokeAll = uncachedWrite((db) => db.updateTable("api_key").set({ revoked_at: 1 }));
