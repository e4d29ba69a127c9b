import { expect, test } from "vitest";
import { openStore } from "../../../../server/database/open.ts";
import { connectTo, temporaryDatabase } from "../../harness.ts";
import { fillOf, watchQuietClinics } from "../../quiet-clinics.ts";

// The watch of the alerts, on both engines. quiet-clinics.long.test.ts has 10 000 clinics.

async function watched(clinics: number) {
  const database = await temporaryDatabase();
  const store = await openStore(database);
  const other = await connectTo(database);
  await other.run(fillOf(clinics));
  const passes = await watchQuietClinics(store, async (sql) => other.run(sql), clinics);
  await other.close();
  await store.close();
  return passes;
}

test("a pass over quiet clinics costs as few queries for many as for few, and the news of one opens its alert in the next pass", async () => {
  const [few, many] = [await watched(4), await watched(200)];
  // The first pass reads the facts of each clinic: a server that starts does it for all of them.
  expect((many.first.queries - few.first.queries) / 196).toBeLessThanOrEqual(9);
  expect([many.quiet.queries, many.news.queries]).toEqual([few.quiet.queries, few.news.queries]);
  expect(many.quiet.queries).toBeLessThan(10);
  expect(many.news.queries).toBeLessThan(50);
});
