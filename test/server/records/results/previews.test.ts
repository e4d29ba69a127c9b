import { expect, test } from "vitest";
import { readManualStudy } from "../../../../server/records/manual/manual-study.ts";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import { addStudy } from "../../../../server/records/manual/manual-studies.ts";
import { listPreviews, readPreview, storePreview } from "../../../../server/records/results/previews.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { clinic, connection, keyPermissions, noon, patient, startServer, study } from "../../harness.ts";

const ours = newFp("clinic");

async function started() {
  const dog = patient();
  const server = await startServer(clinic(ours), dog, connection(dog.fp, ours));
  const clinicId = (await findClinic(server.store, ours))?.id ?? 0;
  return { server, store: server.store, dog, clinicId };
}

test("pictures are listed by their position, and a second one of a position replaces the first", async () => {
  const { server, store, dog, clinicId } = await started();
  const { fp } = study();
  await server.push(await server.makeKey(ours, keyPermissions), study({ fp, patient_fp: dog.fp }));
  const size = { width: 2, height: 1, frames: 0, now: noon };
  const put = (position: number, bytes: number[]) =>
    store.transaction((session) =>
      storePreview(session, { clinicId, fp, position, png: Buffer.from(bytes).toString("base64"), ...size }),
    );
  expect([await put(2, [2, 255, 0]), await put(1, [1]), await put(1, [7])]).toEqual([true, true, true]);
  expect(await listPreviews(store, clinicId, fp)).toEqual([
    { position: 1, width: 2, height: 1, frames: 0 },
    { position: 2, width: 2, height: 1, frames: 0 },
  ]);
  expect(await readPreview(store, clinicId, fp, 1)).toEqual(Buffer.from([7]));
  expect(await readPreview(store, clinicId, fp, 2)).toEqual(Buffer.from([2, 255, 0]));
  expect(await readPreview(store, clinicId, fp, 3)).toBeUndefined();
  expect(await listPreviews(store, clinicId + 1000, fp)).toBeUndefined();
});

test("two requests with one entry at the same time store one study", async () => {
  const { store, dog, clinicId } = await started();
  const acquired_at = "2026-11-21T09:00:00.000Z";
  const read = readManualStudy({ modality: "RADIOLOGY", acquired_at, results: [] }, noon);
  if ("problems" in read) throw new Error(read.problems.join());
  const wanted = { by: "vet", now: noon, clinicId, patientFp: dog.fp, entry: read.entry, entryId: "one" };
  const add = () => store.transaction((session) => addStudy(session, wanted));
  const [first, second] = await Promise.all([add(), add()]);
  expect(first).toEqual(second);
});
