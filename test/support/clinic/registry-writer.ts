import { writeSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { openStore } from "../../../server/database/open.ts";
import type { Session } from "../../../server/database/query.ts";
import { mergeAnimals } from "../../../server/records/registry/merge.ts";
import { inBatch } from "../../../server/records/registry/batches.ts";
import { undoBatch } from "../../../server/records/registry/undo.ts";

// A process that undoes a batch or merges two patients, for tests that kill it. It reports its start and its end. With HOLD=1 it
// reports that its work is done, and never commits it.

const [database = "", work = "", clinic = "", first = "", second = ""] = process.argv.slice(2);
flushCompileCache(); // a killed process leaves none
const store = await openStore(database);
const [clinicId, now] = [Number(clinic), Date.parse("2026-11-21T12:00:00Z")];
const context = { now, clock: () => now, served: null };
writeSync(1, "start\n");
const outcome = await store.transaction(async (session) => {
  const done = await doWork(session);
  if (process.env["HOLD"] !== "1") return done;
  writeSync(1, "held\n");
  setInterval(() => undefined, 1_000);
  return new Promise<never>(() => undefined);
});
writeSync(1, `end ${JSON.stringify(outcome)}\n`);
await store.close();

async function doWork(session: Session) {
  if (work === "undo") return undoBatch(session, { clinicId, fp: first }, context);
  const batch = { clinicId, door: "merge", source: null, by: { keyId: 1 }, now } as const;
  const merged = await inBatch(session, batch, async (open) =>
    mergeAnimals(session, { clinicId, survivor: first, merged: second }, { ...context, batch: open }),
  );
  return merged.result;
}
