import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { query, uncachedWrite } from "../../../../server/database/query.ts";
import { mergeAnimals } from "../../../../server/records/registry/merge.ts";
import type { Patient } from "../../../../shared/api/patient.ts";
import { flaggedPatient, signalmentAt } from "../../../../shared/clinical/signalment.ts";
import { resultsOf } from "../../../../shared/clinical/results.ts";
import { connection, importEntities, onPostgres, study } from "../../harness.ts";
import { ada, ours, pamuk, practiceServer, theirs, timeless } from "../../practice-software.ts";
import { event, soap } from "../../records.ts";

// Practice software merges two patients, and the merge is undone. Method: requests to /sync/v1, what /api/v1 has afterwards, and the
// export before and after. Runs on both engines.

const chip = (value: string) => [{ type: "microchip", value }];
const twin = { ...pamuk, external_id: "00988", name: "Pamuk (old)", identifiers: chip("900085000999999") };

const names = query((db) =>
  db
    .selectFrom("patient_source")
    .leftJoin("patient", "patient.id", "patient_source.patient_id")
    .select(["external_id", "patient.fp", "removed", "merged_into"])
    .orderBy("external_id"),
);

const patientsOfOrders = query((db) =>
  db
    .selectFrom("lab_order")
    .innerJoin("patient", "patient.id", "lab_order.patient_id")
    .select(["lab_order.fp", "patient.fp as patient_fp"])
    .orderBy("lab_order.id"),
);

/** Starts a server with two patients that are one animal. The second one has a study, records and an event. */
async function twins() {
  const practice = await practiceServer();
  const { server, reader, send } = practice;
  const { items } = await send(pamuk, twin);
  const [survivor, merged] = [items[0]?.fp ?? "", items[1]?.fp ?? ""];
  const filed = study({ patient_fp: merged });
  expect(await server.push(reader, filed)).toMatchObject([{ outcome: "filed" }]);
  const draft = soap(merged, ours);
  const signed = soap(merged, ours, { status: "SIGNED", signed_at: "2026-11-01T10:00:00.000Z" });
  const visit = event(ours, { patient_fp: merged });
  await importEntities(server.store, draft, signed, visit);
  return { ...practice, survivor, merged, filed, draft, signed, visit };
}

/** Returns the results of an agent that knows the patient. The interval of the analyte depends on the age. */
function flaggedFor(known: Patient) {
  const [device_name, { acquired_at }] = ["Tester", study()];
  const sent = { comparator: null, ordinal: false, text: "150", unit: "U/L", device_range: null, device_flag: null };
  const context = { signalment: signalmentAt(known, acquired_at), instrument: device_name, acquired_at, ranges: null };
  const { results, snapshot } = resultsOf([{ code: "ALP", value: 150, ...sent }], context);
  return { device_name, results, snapshot: { ...snapshot, animal: flaggedPatient(known) } };
}

describe("a merge", () => {
  test("studies, SOAP records, events, numbers and names go to the survivor, and the other patient does not exist", async () => {
    const { server, reader, send, merge, survivor, merged, filed, draft, signed, visit } = await twins();
    expect(await merge("00417", "00988")).toEqual({
      outcome: "merged",
      fp: survivor,
      merged_fp: merged,
      moved: { studies: 1, soap_records: 2, events: 1 },
    });
    const all = await server.makeKey(ours, ["clinic.patient.view", "clinic.calendar.view", "clinic.lab.ingest"]);
    const get = async (path: string) => (await server.get(all, path)).body;
    expect((await get(`/api/v1/lab/diagnostics/${filed.fp}`)).data.patient_fp).toBe(survivor);
    for (const { fp } of [draft, signed]) expect((await get(`/api/v1/soap/${fp}`)).data.patient_fp).toBe(survivor);
    const events = await get("/api/v1/calendar/events?start_date=2026-11-25&end_date=2026-11-26");
    expect(events).toMatchObject([{ fp: visit.fp, patient_fp: survivor }]);
    expect((await get(`/api/v1/patients/${merged}`)).error.code).toBe("PATIENT.NOT_FOUND");
    expect((await get("/api/v1/patients")).data.items).toMatchObject([{ fp: survivor, name: "Pamuk" }]);
    expect((await get("/api/v1/changes")).data.items).toEqual([
      { fp: merged, removed_at: expect.any(String), merged_into: survivor },
    ]);
    const { body } = await server.get(reader, "/agent/v1/identifiers?updated_since=2026-11-21");
    expect(body.data.items).toEqual([{ patient_fp: survivor, identifiers: ["900085000123456", "900085000999999"] }]);
    expect(await server.store.all(names, {})).toEqual([
      { external_id: "00417", fp: survivor, removed: 0, merged_into: null },
      { external_id: "00988", fp: survivor, removed: 0, merged_into: "00417" },
    ]);
    expect((await send(pamuk)).items).toMatchObject([{ fp: survivor, errors: [] }]);
  });

  test("a later item of the merged id goes to the survivor and has a code, and its removal changes nothing", async () => {
    const { server, reader, send, merge, survivor } = await twins();
    const times = { ...pamuk, updated_at: "2026-11-21T06:00:00Z" };
    await send(times);
    await merge("00417", "00988");
    const later = await send({ ...twin, name: "Renamed", updated_at: "2026-11-21T07:00:00Z" });
    expect(later.items).toMatchObject([{ fp: survivor, outcome: "updated", errors: [{ code: "merged" }] }]);
    const older = await send({ ...twin, name: "Old", updated_at: "2026-11-21T05:00:00Z" });
    expect(older.items[0]?.errors.map(({ code }) => code)).toEqual(["merged", "older"]);
    const removed = await send({ external_id: "00988", deleted: true });
    expect(removed.items).toMatchObject([{ fp: survivor, outcome: "unchanged", errors: [{ code: "merged" }] }]);
    expect((await server.get(reader, "/api/v1/patients")).body.data.items).toMatchObject([
      { fp: survivor, name: "Renamed" },
    ]);
  });

  test("an agent that has the merged patient in its copy files a new result and a correction to the survivor", async () => {
    const { server, reader, merge, survivor, merged, filed } = await twins();
    await merge("00417", "00988");
    const late = study({ patient_fp: merged });
    const outcomes = await server.push(reader, late, filed, { ...filed, revision: 2, device_name: "Corrected" });
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["filed", "unchanged", "filed"]);
    for (const { fp } of [late, filed]) {
      expect((await server.get(reader, `/api/v1/lab/diagnostics/${fp}`)).body.data.patient_fp).toBe(survivor);
    }
  });

  test("the flags of a moved study stay and are marked, if the survivor's facts give others", async () => {
    const { server, reader, send, merge } = await practiceServer();
    const dog = { ...pamuk, species: "dog", date_of_birth: "2015-01-01" };
    const { items } = await send(dog, { ...dog, external_id: "00988", date_of_birth: "2026-10-10", identifiers: [] });
    const puppy = (await server.get(reader, `/api/v1/patients/${items[1]?.fp}`)).body.data;
    const filed = study({ patient_fp: puppy.fp, ...flaggedFor(puppy) });
    await server.push(reader, filed);
    const read = async () => (await server.get(reader, `/api/v1/lab/diagnostics/${filed.fp}`)).body.data;
    const before = await read();
    await merge("00417", "00988");
    expect(await read()).toMatchObject({ patient_fp: items[0]?.fp, results: before.results, flagged_species: "dog" });
  });

  test("repeating a merge changes nothing, a chain ends at the last survivor, and a circle is refused", async () => {
    const { server, send, merge, exported, survivor } = await twins();
    const third = (await send({ ...twin, external_id: "3", identifiers: [] })).items[0]?.fp ?? "";
    await merge("00417", "00988");
    const once = await exported();
    expect(await merge("00417", "00988")).toMatchObject({ outcome: "unchanged", fp: survivor });
    expect(await exported()).toBe(once);
    expect(await merge("3", "00417")).toMatchObject({ outcome: "merged", fp: third, moved: { studies: 1 } });
    const chained = await exported();
    expect(await merge("00417", "00988")).toMatchObject({ outcome: "unchanged", fp: third });
    expect((await merge("00417", "3")).error).toMatchObject({ details: { code: "circle" } });
    expect((await merge("00988", "3")).error).toMatchObject({ details: { code: "circle" } });
    expect(await exported()).toBe(chained);
    expect((await send(twin)).items).toMatchObject([{ fp: third, errors: [{ code: "merged" }] }]);
    const reader = await server.makeKey(ours, ["clinic.patient.view"]);
    const { items } = (await server.get(reader, "/api/v1/changes")).body.data;
    expect(items).toMatchObject([{ merged_into: third }, { merged_into: third }]);
  });

  test("a merged id that was never sent is an alias, whose later items go to the survivor", async () => {
    const { send, merge, survivor, last, undo } = await twins();
    expect(await merge("00417", "new")).toMatchObject({ outcome: "merged", merged_fp: null });
    expect((await send({ ...pamuk, external_id: "new" })).items).toMatchObject([
      { fp: survivor, outcome: "unchanged", errors: [{ code: "merged" }] },
    ]);
    expect(await undo(await last())).toMatchObject({ undone: true });
    expect((await send({ ...pamuk, external_id: "new" })).items).toMatchObject([{ outcome: "created", errors: [] }]);
  });

  test("what cannot be one animal is refused with a code, and nothing changes", async () => {
    const { server, send, post, merge, exported, merged } = await twins();
    const horse = { ...pamuk, species: "horse", identifiers: [] };
    await send(
      { ...horse, external_id: "horse" },
      { ...horse, external_id: "ferret", species: "ferret" },
      { ...horse, external_id: "gone" },
    );
    await send({ external_id: "gone", deleted: true });
    await importEntities(server.store, connection(merged, theirs));
    const before = await exported();
    const codes = [];
    for (const [survivor = "", gone = ""] of [
      ["00417", "00417"],
      ["nobody", "00417"],
      ["00417", "horse"],
      ["horse", "ferret"],
      ["gone", "horse"],
      ["00417", "00988"],
    ]) {
      const { error } = await merge(survivor, gone);
      codes.push(error.details?.["code"]);
      expect(error.code).toBe("SYNC.MERGE_REFUSED");
    }
    expect(codes).toEqual([
      ...["same", "unknown_survivor", "other_species", "other_species", "removed_survivor", "other_clinics"],
    ]);
    expect(await exported()).toBe(before);
    for (const body of [{}, { source: "pims", survivor: "1" }, { source: "pims", survivor: "1", merged: 2 }]) {
      expect(await post("patients/merge", body)).toMatchObject({
        status: 400,
        body: { error: { code: "SYNC.INVALID_BODY" } },
      });
    }
  });

  test("an animal of another clinic is unknown, whichever of the two it is", async () => {
    const { server, survivor, merged, clinicOf } = await twins();
    const foreign = await server.makeKey(theirs, ["clinic.sync.write"]);
    const headers = { "x-api-key": foreign };
    const payload = { source: "pims", mode: "partial", items: [{ ...pamuk, external_id: "x" }] };
    const sent = await server.app.inject({ method: "POST", url: "/sync/v1/patients", headers, payload });
    const other = sent.json<{ items: { fp: string }[] }>().items[0]?.fp ?? "";
    const merge = async (one: string, two: string, by = ours) =>
      server.store.transaction(async (session) => {
        const context = { now: server.clock.now, clock: () => server.clock.now, served: null, batch: null };
        return mergeAnimals(session, { clinicId: clinicOf(by), survivor: one, merged: two }, context);
      });
    expect(await merge(survivor, other)).toEqual({ code: "unknown_merged" });
    expect(await merge(other, survivor)).toEqual({ code: "unknown_survivor" });
    expect(await merge(survivor, merged)).toMatchObject({ isNew: true });
    expect(await merge(survivor, merged)).toMatchObject({ fp: survivor, isNew: false });
    expect(await merge(survivor, merged, theirs)).toEqual({ code: "unknown_survivor" });
    expect(await merge(other, merged, theirs)).toEqual({ code: "unknown_merged" });
  });

  test("a signed SOAP record moves with its merged patient alone", async () => {
    const { server, merge, survivor, signed } = await twins();
    const move = uncachedWrite((db, p: { fp: string; to: string }) =>
      db
        .updateTable("soap")
        .set({ patient_id: (patient) => patient.selectFrom("patient").select("id").where("fp", "=", p.to) as never })
        .where("fp", "=", p.fp),
    );
    const moving = server.store.transaction((session) => session.all(move, { fp: signed.fp, to: survivor }));
    await expect(moving).rejects.toThrow("a signed SOAP record is never changed, amend it");
    expect(await merge("00417", "00988")).toMatchObject({ moved: { soap_records: 2 } });
  });
});

describe("orders of a merged patient", () => {
  test("go to the survivor with the study that answers one, and back", async () => {
    const { server, reader, post, send, merge, undo, last, exported } = await practiceServer();
    const { items } = await send(pamuk, twin);
    const [survivor, merged] = [items[0]?.fp ?? "", items[1]?.fp ?? ""];
    const order = { patient: "00988", tests: ["ALT"], ordered_at: "2026-11-21T09:00:00Z" };
    const ordered = [
      { ...order, external_id: "1" },
      { ...order, external_id: "2" },
    ];
    const { body } = await post("orders", { source: "pims", mode: "partial", items: ordered });
    const [answered, open] = [body.items[0]?.fp ?? "", body.items[1]?.fp ?? ""];
    const sent = study({ patient_fp: merged, order_fp: answered, matched_by: { by: "accession", identifiers: [] } });
    expect(await server.push(reader, sent)).toMatchObject([{ outcome: "filed" }]);
    const places = async () => ({
      study: (await server.get(reader, `/api/v1/lab/diagnostics/${sent.fp}`)).body.data,
      orders: await server.store.all(patientsOfOrders, {}),
    });
    const at = (patient: string) => ({
      study: { patient_fp: patient, order: { fp: answered, placer_number: "1" } },
      orders: [answered, open].map((fp) => ({ fp, patient_fp: patient })),
    });
    expect(await places()).toMatchObject(at(merged));
    const before = timeless(await exported());
    await merge("00417", "00988");
    expect(await places()).toMatchObject(at(survivor));
    expect(await undo(await last())).toMatchObject({ undone: true });
    expect(await places()).toMatchObject(at(merged));
    expect(timeless(await exported())).toEqual(before);

    // A sample that is measured after the merge keeps its order at the survivor.
    await merge("00417", "00988");
    const batch = await last();
    const late = study({ patient_fp: survivor, order_fp: open, matched_by: { by: "accession", identifiers: [] } });
    expect(await server.push(reader, late)).toMatchObject([{ outcome: "filed" }]);
    expect(await undo(batch)).toMatchObject({ undone: true });
    expect(await places()).toMatchObject({
      study: at(merged).study,
      orders: [
        { fp: answered, patient_fp: merged },
        { fp: open, patient_fp: survivor },
      ],
    });
    expect((await server.get(reader, `/api/v1/lab/diagnostics/${late.fp}`)).body.data).toMatchObject({
      patient_fp: survivor,
      order: { fp: open, placer_number: "2" },
    });
  });
});

describe("the undo of a merge", () => {
  test("everything goes back, and a study that came to the survivor since stays there", async () => {
    const { server, reader, send, merge, undo, last, exported, survivor, merged, filed } = await twins();
    const before = timeless(await exported());
    await merge("00417", "00988");
    const batch = await last();
    const late = study({ patient_fp: survivor });
    await server.push(reader, late);
    await send({ ...pamuk, weight_kg: 5 });
    await send(twin);
    await send({ ...pamuk });
    expect(await undo(batch)).toMatchObject({ undone: true });
    const after = timeless(await exported());
    expect(after.filter((line) => !line.includes(late.fp))).toEqual(before);
    expect((await server.get(reader, `/api/v1/lab/diagnostics/${late.fp}`)).body.data.patient_fp).toBe(survivor);
    expect((await server.get(reader, `/api/v1/lab/diagnostics/${filed.fp}`)).body.data.patient_fp).toBe(merged);
    expect((await server.get(reader, "/api/v1/changes")).body.data.items).toEqual([]);
    expect((await send(twin)).items).toMatchObject([{ fp: merged, outcome: "unchanged", errors: [] }]);
  });

  test("a patient that was removed before it was merged is removed again, and its name is its own", async () => {
    const { server, reader, send, merge, undo, last, exported, survivor, merged, filed, signed } = await twins();
    await send({ external_id: "00988", deleted: true });
    const before = timeless(await exported());
    expect(await merge("00417", "00988")).toMatchObject({ merged_fp: merged, moved: { studies: 0, soap_records: 2 } });
    const soapKey = await server.makeKey(ours, ["clinic.soap.view"]);
    expect((await server.get(soapKey, `/api/v1/soap/${signed.fp}`)).body.data.patient_fp).toBe(survivor);
    expect(await undo(await last())).toMatchObject({ undone: true });
    expect(timeless(await exported())).toEqual(before);
    expect((await send(twin)).items).toMatchObject([{ fp: merged, outcome: "updated", errors: [] }]);
    expect((await server.get(reader, `/api/v1/lab/diagnostics/${filed.fp}`)).body.data.patient_fp).toBe(merged);
  });

  test("a record that moved since refuses the undo, and the later merge is undone first", async () => {
    const { server, merge, undo, last, send, filed } = await twins();
    await merge("00417", "00988");
    const batch = await last();
    await send({ ...pamuk, external_id: "5" });
    await merge("5", "00417");
    const refused = await undo(batch);
    expect(refused).toMatchObject({ undone: false, code: "changed", total: 5 });
    expect("code" in refused && refused.records).toContainEqual({ kind: "study", subject: filed.fp });
    expect(await undo(await last())).toMatchObject({ undone: true });
    expect(await undo(batch)).toMatchObject({ undone: true });
    const stored = await server.store.all(
      query((db) => db.selectFrom("study").select(["fp", "cause"])),
      {},
    );
    expect(stored).toEqual([{ fp: filed.fp, cause: "undone" }]);
  });

  test("any merges, undone from the last one on, restore the export after each", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ survivor: fc.nat({ max: 3 }), merged: fc.nat({ max: 3 }) }), {
          minLength: 1,
          maxLength: 5,
        }),
        async (merges) => {
          const { server, reader, send, merge, undo, last, listed, exported } = await practiceServer();
          const { items } = await send(...[0, 1, 2].map((id) => ({ ...pamuk, external_id: String(id), owner: ada })));
          await server.push(reader, ...items.map(({ fp }) => study({ patient_fp: fp })));
          const states: { state: string[]; fp: string }[] = [];
          for (const { survivor, merged } of merges) {
            const [state, count] = [timeless(await exported()), (await listed()).length];
            await merge(String(survivor), String(merged));
            if ((await listed()).length > count) states.push({ state, fp: await last() });
          }
          for (const { state, fp } of states.toReversed()) {
            expect(await undo(fp)).toMatchObject({ undone: true });
            expect(timeless(await exported())).toEqual(state);
          }
        },
      ),
      { numRuns: onPostgres() ? 3 : 8, endOnFailure: true },
    );
  });
});
