import { Moment } from "../../../../server/operations/alerts/moment.ts";
import { expect, test } from "vitest";
import type { DeviceLogBody } from "../../../../server/dashboard/types/devices/devices.ts";
import { careEvents, readCareFacts } from "../../../../server/records/agents/device-log.ts";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import type { DeviceEvent } from "../../../../shared/api/quality.ts";
import { makeUser } from "../../../dashboard/harness.ts";
import { clinic, keyPermissions, startServer } from "../../harness.ts";
import { planOf } from "../../query-plan.ts";

// The log of a device, from the push of its agent to the route of the page, and what its alerts are computed from.

const DAY = 86_400_000;
const ours = newFp("clinic");

async function clinicServer() {
  const server = await startServer(clinic(ours));
  const { store, clock, app, makeKey } = server;
  const key = await makeKey(ours, keyPermissions);
  const clinicId = (await findClinic(store, ours))?.id ?? 0;
  const user = await makeUser(server, "reader", ours);
  let pushed = 0;
  /** Pushes an event of `daysAgo` days ago, or of a part of a day. */
  const push = async (daysAgo: number, event: DeviceEvent["event"], more: Partial<DeviceEvent> = {}) => {
    pushed += 1;
    const record: DeviceEvent = {
      ...{ kind: "event", fp: newFp("devevt"), dedupe_key: `chem-1:${pushed}`, device_name: "NX600", event },
      ...{ at: new Date(clock.now - daysAgo * DAY).toISOString(), subject: null, lot: null, expires: null },
      ...{ count: null, text: null, source: { device_id: "chem-1" } },
      ...more,
    };
    const response = await app.inject({
      ...{ method: "POST", url: "/agent/v1/quality", headers: { "x-api-key": key }, payload: { records: [record] } },
    });
    expect(response.json()).toMatchObject({ outcomes: [{ outcome: "stored" }] });
  };
  const dayIn = (days: number) => new Date(clock.now + days * DAY).toISOString().slice(0, 10);
  const log = async (filter = "") =>
    (await user.call<DeviceLogBody>("GET", `/devices/log?device=chem-1${filter}`)).body;
  const care = () =>
    readCareFacts(store, { clinicId, timeZone: "UTC", moment: new Moment(clock.now) }, [{ id: "chem-1", name: null }]);
  return { ...server, user, push, dayIn, log, care };
}

test("the log lists the newest event first, and the events of one kind", async () => {
  const { push, log, user } = await clinicServer();
  await push(2, "fault", { subject: "I4102", text: "The slide is stuck" });
  await push(1, "start", { text: "PASSED" });
  await push(3, "counter", { subject: "ALT", count: 37, text: "tests" });
  const { events, has_older } = await log();
  expect(events.map(({ event }) => event)).toEqual(["start", "fault", "counter"]);
  expect(has_older).toBe(false);
  expect((await log("&event=fault")).events).toMatchObject([
    { event: "fault", subject: "I4102", text: "The slide is stuck", lot: null, by: null },
  ]);
  expect((await user.call("GET", "/devices/log?device=chem-1&event=lost")).status).toBe(400);
  expect((await user.call<DeviceLogBody>("GET", "/devices/log?device=other")).body.events).toEqual([]);
});

test("the log ends at a hundred events and says that older ones exist", async () => {
  const { push, log } = await clinicServer();
  for (let index = 0; index <= 100; index += 1) await push(index / 100, "start");
  const { events, has_older } = await log();
  expect([events.length, has_older]).toEqual([100, true]);
});

test("the last lot of each reagent has its expiry in words", async () => {
  const { push, dayIn, log } = await clinicServer();
  const lot = (daysAgo: number, subject: string | null, name: string, expiresIn: number | null) =>
    push(daysAgo, "reagent", { subject, lot: name, expires: expiresIn === null ? null : dayIn(expiresIn) });
  await lot(90, "ALT", "old", -30);
  await lot(20, "ALT", "new", 200);
  await lot(20, "BUN", "B1", 14);
  await lot(20, "CRE", "C1", -1);
  await lot(20, "GLU", "G1", -10);
  await lot(2, "GLU", "G1", -10);
  await lot(20, null, "R1", null);
  expect((await log()).reagents.map(({ name, lot: last, state }) => [name, last, state])).toEqual([
    [null, "R1", "unknown"],
    ["ALT", "new", "ok"],
    ["BUN", "B1", "soon"],
    ["CRE", "C1", "expired"],
    ["GLU", "G1", "used expired"],
  ]);
  const glucose = (await log()).reagents.at(-1);
  expect(glucose?.since).toBe((await log()).events.find(({ lot: name }) => name === "C1")?.at);
});

test("a reagent that was used after its last day is a fact until a new lot is used", async () => {
  const { push, dayIn, care, clock } = await clinicServer();
  const lot = (daysAgo: number, subject: string, name: string, expiresIn: number) =>
    push(daysAgo, "reagent", { subject, lot: name, expires: dayIn(expiresIn) });
  await lot(20, "ALT", "A1", -1); // not used since
  expect(await care()).toEqual({ expired: [], faulty: [] });
  await lot(3, "BUN", "B1", -5);
  await lot(2, "GLU", "G1", -5);
  const expired = [{ device: "chem-1", name: "NX600", count: 2, since: clock.now - 3 * DAY }];
  expect((await care()).expired).toEqual(expired);
  await lot(1, "BUN", "B2", 100);
  expect((await care()).expired).toMatchObject([{ count: 1, since: clock.now - 2 * DAY }]);
  await lot(0, "GLU", "G2", 100);
  expect((await care()).expired).toEqual([]);
});

test("one fault is no fact; three in a day are, and so is the same on three days of a week", async () => {
  const { push, care, clock } = await clinicServer();
  const fault = (daysAgo: number, subject: string) => push(daysAgo, "fault", { subject });
  await fault(0.1, "E1");
  await fault(0.2, "E2");
  await fault(8, "E1");
  await fault(3, "E1");
  expect((await care()).faulty).toEqual([]);
  await fault(0.3, "E3");
  expect((await care()).faulty).toMatchObject([{ count: 3 }]);
  clock.now += 2 * DAY;
  expect((await care()).faulty).toEqual([]);
  await fault(0.5, "E1");
  expect((await care()).faulty).toMatchObject([{ count: 3, since: clock.now - 5 * DAY }]);
});

test("the facts of the alerts are read from the index of a device", async () => {
  const fill = `
    insert into clinic (id, fp, name) values (1, 'clinic_1', '');
    insert into device_event (fp, clinic_id, dedupe_key, device_id, device_name, at, received_at, event)
    with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 3000)
    select 'devevt_' || n, 1, n, 'chem-' || n % 5, 'NX600', n, n, 'fault' from numbers;
    analyze;`;
  const plan = await planOf(fill, careEvents, { clinicId: 1, device: "chem-1", since: 2900 });
  expect(plan).toContain("device_event_of_device");
});
