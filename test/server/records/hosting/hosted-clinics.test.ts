import { expect, test } from "vitest";
import { openStore } from "../../../../server/database/open.ts";
import { listHostedClinics, selectClinics } from "../../../../server/records/hosting/hosted-clinics.ts";
import { connectTo, noon, temporaryDatabase } from "../../harness.ts";
import { patiently } from "../../../support/runner/patience.ts";
import { counted, fillOf } from "../../quiet-clinics.ts";

// The list of the clinics at the size of a host.

async function hostOf(clinics: number) {
  const database = await temporaryDatabase();
  const { store, count } = counted(await openStore(database));
  const other = await connectTo(database);
  await other.run(fillOf(clinics));
  await other.run("insert into agent (fp, clinic_id, api_key_id) select 'agent_' || id, clinic_id, id from api_key");
  await other.run("update heartbeat set version = '0.2.0'");
  await other.run("update clinic set name = 'Işıl' where id = 7");
  await other.run(`update heartbeat set received_at = ${noon - 600_000} where clinic_id = 8`);
  await other.close();
  const listed = await listHostedClinics(store, { now: noon, newest: "0.2.0" });
  await store.close();
  return { listed, queries: count.queries };
}

test("the list takes as many queries for 10 000 clinics as for ten, and the one with a silent PC is first", {
  timeout: patiently(60_000),
}, async () => {
  const [few, many] = [await hostOf(10), await hostOf(10_000)];
  expect([few.listed.length, many.listed.length]).toEqual([10, 10_000]);
  expect([few.queries, many.queries]).toEqual([5, 5]);
  for (const { listed } of [few, many]) {
    expect(listed[0]).toMatchObject({ id: 8, shown: { state: "silent", results_today: 1 } });
    expect(listed[1]).toMatchObject({ shown: { state: "well", version: "0.2.0" } });
    expect(selectClinics(listed, { words: "isil", state: "well" }).map(({ id }) => id)).toEqual([7]);
  }
});
