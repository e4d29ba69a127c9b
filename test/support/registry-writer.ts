import { writeSync } from "node:fs";
import { openStore } from "../../server/database/open.ts";
import { mergeAnimals } from "../../server/records/registry/merge.ts";
import { inBatch } from "../../server/records/registry/batches.ts";
import { undoBatch } from "../../server/records/registry/undo.ts";

// A process that undoes a batch or merges two patients, for tests that kill it. It reports its start and its end.

const [database = "", work = "", clinic = "", first = "", second = ""] = process.argv.slice(2);
const store = await openStore(database);
const [clinicId, now] = [Number(clinic), Date.parse("2026-11-21T12:00:00Z")];
const context = { now, clock: () => now, served: null };
writeSync(1, "start\n");
const outcome = await store.transaction(async (session) => {
  if (work === "undo") return undoBatch(session, { clinicId, fp: first }, context);
  const batch = { clinicId, door: "merge", source: null, by: { keyId: 1 }, now } as const;
  const merged = await inBatch(session, batch, async (open) =>
    mergeAnimals(session, { clinicId, survivor: first, merged: second }, { ...context, batch: open }),
  );
  return merged.result;
});
writeSync(1, `${JSON.stringify(outcome)}\n`);
await store.close();
