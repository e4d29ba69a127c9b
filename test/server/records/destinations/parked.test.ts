import { expect, test } from "vitest";
import type { DestinationQueues } from "../../../../shared/api/agent/destinations.ts";
import type { DestinationList } from "../../../../server/dashboard/types/settings/destinations.ts";
import { makeUser } from "../../../dashboard/harness.ts";
import { callerOf, startDestination } from "../../destinations.ts";
import { keyPermissions, study } from "../../harness.ts";

const REFUSED = { outcome: "refused", code: "AR", text: "unknown animal" } as const;

test("a refused delivery is listed with its reason until a person sends it again", async () => {
  const { push, key, pamuk, boncuk, receiver, call } = await startDestination();
  const queues = async () => (await call("GET", "")).json<DestinationQueues>().destinations;
  const refused = study({ patient_fp: pamuk.fp });
  await push(key, refused);
  await push(key, study({ patient_fp: boncuk.fp }));
  expect(await queues()).toEqual([{ id: "pims", waiting: 2, parked: [] }]);
  await receiver.next();
  await receiver.report(REFUSED);
  const [pims] = await queues();
  const [parked] = pims?.parked ?? [];
  expect(pims).toMatchObject({ waiting: 1, parked: [{ study_fp: refused.fp, code: "AR", text: "unknown animal" }] });

  const again = async (...ids: readonly number[]) =>
    (await call("POST", "/pims/again", { delivery_ids: ids })).json<object>();
  expect(await again(parked?.delivery_id ?? 0, 999_999)).toEqual({ queued: 1 });
  expect(await again(parked?.delivery_id ?? 0)).toEqual({ queued: 0 });
  expect(await queues()).toMatchObject([{ waiting: 2, parked: [] }]);
  await receiver.take();
  expect((await receiver.take()).find((segment) => segment.startsWith("ORC"))).toContain(refused.fp);
  expect(await queues()).toMatchObject([{ waiting: 0, parked: [] }]);
});

test("an agent sees and resends the deliveries of its own destinations alone", async () => {
  const { push, key, own, pamuk, receiver, makeFreshKey, app } = await startDestination();
  await push(key, study({ patient_fp: pamuk.fp }));
  await receiver.next();
  await receiver.report(REFUSED);
  const other = callerOf({ app }, await makeFreshKey(own, keyPermissions));
  expect((await other("GET", "")).json<object>()).toEqual({ destinations: [] });
  expect((await other("POST", "/pims/again", { delivery_ids: [1] })).statusCode).toBe(404);
});

test("a number that is no row of any database is refused on both engines", async () => {
  const { call, store, own, clock, app } = await startDestination();
  const report = { attempt: 1, at: "2026-11-21T12:00:00.000Z", outcome: "failed", code: "AE", text: null };
  const admin = await makeUser({ store, app, clock }, "admin", own);
  const { destinations } = (await admin.call<DestinationList>("GET", "/destinations")).body;
  for (const number of [2 ** 63, 1e308]) {
    expect((await call("POST", "/pims/again", { delivery_ids: [number] })).statusCode).toBe(400);
    expect((await call("POST", "/pims/outcomes", { ...report, delivery_id: number })).statusCode).toBe(400);
    expect((await call("POST", "/pims/outcomes", { ...report, delivery_id: 1, attempt: number })).statusCode).toBe(400);
    const path = `/destinations/${destinations[0]?.id}`;
    expect((await admin.call("POST", `${path}/aside`, { delivery: number })).status).toBe(400);
    expect((await admin.call("POST", `${path}/again`, { deliveries: [number] })).status).toBe(400);
  }
});
