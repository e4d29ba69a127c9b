import { expect, test } from "vitest";
import type { DestinationList, DestinationPage } from "../../../server/dashboard/types/settings/destinations.ts";
import { makeUser } from "../harness.ts";
import { study } from "../../server/harness.ts";
import { startDestination } from "../../server/destinations.ts";

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
