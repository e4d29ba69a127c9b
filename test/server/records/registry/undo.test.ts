import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import { query, uncachedWrite } from "../../../../server/database/query.ts";
import { connectAnimal, storeAnimal } from "../../../../server/records/registry/animals.ts";
import { inBatch } from "../../../../server/records/registry/batches.ts";
import { ownerId } from "../../../../server/records/registry/owners.ts";
import { connection, importEntities, importText, noon, onPostgres, study } from "../../harness.ts";
import { event, soap } from "../../records.ts";
import { ada, ours, pamuk, practiceServer, theirs, timeless } from "../../practice-software.ts";

// What one request of practice software changed is undone as a whole. Method: requests to /sync/v1 and the export before and after.
// Runs on both engines.

const addBatch = uncachedWrite((db, p: { fp: string; clinicId: number; rows: number }) =>
  db.insertInto("batch").values({ fp: p.fp, clinic_id: p.clinicId, door: "hand", at: noon, row_count: p.rows }),
);

describe("undo", () => {
  test("a created animal is removed with its owner, names and numbers, and clients find that it left", async () => {
    const { server, reader, send, undo, last, listed, exported } = await practiceServer();
    const before = await exported();
    const { items } = await send(pamuk);
    const fp = items[0]?.fp ?? "";
    expect(await listed()).toEqual([
      { fp: expect.any(String), door: "sync", source: "pims", created: 1, changed: 0, removed: 0, row_count: 5 },
    ]);
    expect(await undo(await last())).toEqual({ undone: true, records: 5 });
    expect(await exported()).toBe(before);
    for (const table of ["patient", "customer", "patient_source", "customer_source", "patient_identifier"] as const) {
      expect(
        await server.store.all(
          query((db) => db.selectFrom(table).selectAll()),
          {},
        ),
      ).toEqual([]);
    }
    const { body } = await server.get(reader, "/api/v1/changes");
    expect(body.data.items).toEqual([{ fp, removed_at: expect.any(String) }]);
    expect((await server.get(reader, `/api/v1/patients/${fp}`)).status).toBe(404);
    const { data } = (await server.get(reader, "/agent/v1/removed?updated_since=2026-11-21")).body;
    expect(data).toMatchObject({ items: [{ patient_fp: fp }], total: 1 });
    expect((await send(pamuk)).items[0]?.outcome).toBe("created");
  });

  test("a removed animal that an export brings back has not left", async () => {
    const { server, reader, send, undo, last, exported } = await practiceServer();
    const fp = (await send(pamuk)).items[0]?.fp ?? "";
    const kept = await exported();
    await undo(await last());
    await importText(server.store, kept);
    expect((await server.get(reader, `/api/v1/patients/${fp}`)).status).toBe(200);
    expect((await server.get(reader, "/api/v1/changes")).body.data.items).toEqual([]);
  });

  test("a changed and a removed animal get their facts, numbers, owner and results back", async () => {
    const { server, reader, send, undo, last, exported } = await practiceServer();
    const { items } = await send(pamuk, { ...pamuk, external_id: "2", name: "Boncuk" });
    const filed = study({ patient_fp: items[1]?.fp ?? null });
    expect(await server.push(reader, filed)).toMatchObject([{ outcome: "filed" }]);
    const before = timeless(await exported());
    const changed = {
      ...pamuk,
      name: "Changed",
      owner: { ...ada, external_id: "new", name: "Other" },
      identifiers: [],
    };
    await send(changed, { external_id: "2", deleted: true });
    expect(timeless(await exported())).not.toEqual(before);
    expect(await undo(await last())).toMatchObject({ undone: true });
    expect(timeless(await exported())).toEqual(before);
    const { body } = await server.get(reader, `/api/v1/lab/diagnostics/${filed.fp}`);
    expect(body.data.patient_fp).toBe(items[1]?.fp);
    expect(await undo(await last())).toMatchObject({ undone: false, code: "undone" });
  });

  test("a record that changed since refuses the whole undo and is named, and the later batch is undone first", async () => {
    const { send, undo, last, listed, exported } = await practiceServer();
    await send(pamuk, { ...pamuk, external_id: "2", name: "Boncuk" });
    const first = await last();
    const fp = (await send({ ...pamuk, name: "Later" })).items[0]?.fp;
    const before = await exported();
    expect(await undo(first)).toEqual({
      undone: false,
      code: "changed",
      records: [{ kind: "animal", subject: fp }],
      total: 1,
    });
    expect(await exported()).toBe(before);
    expect(await undo(await last())).toMatchObject({ undone: true });
    expect(await undo(first)).toMatchObject({ undone: true });
    expect(await listed()).toHaveLength(2);
  });

  test.each(["study", "soap", "event", "connection"])("a created animal with a %s stays", async (kind) => {
    const { server, reader, send, undo, last, exported } = await practiceServer();
    const fp = (await send(pamuk)).items[0]?.fp ?? "";
    if (kind === "study") await server.push(reader, study({ patient_fp: fp }));
    if (kind === "soap") await importEntities(server.store, soap(fp, ours));
    if (kind === "event") await importEntities(server.store, event(ours, { patient_fp: fp }));
    if (kind === "connection") await importEntities(server.store, connection(fp, theirs));
    const before = await exported();
    expect(await undo(await last())).toEqual({
      undone: false,
      code: "in_use",
      records: [{ kind: "animal", subject: fp }],
      total: 1,
    });
    expect(await exported()).toBe(before);
  });

  test("a batch of another clinic, an unknown one and one of the day before are refused", async () => {
    const { server, send, undo, last, listed, clinicOf } = await practiceServer();
    await send(pamuk);
    const fp = await last();
    expect(await undo(fp, clinicOf(theirs))).toMatchObject({ undone: false, code: "unknown" });
    expect(await undo(newFp("batch"))).toMatchObject({ undone: false, code: "unknown" });
    server.clock.now += 24 * 3_600_000;
    expect(await undo(fp)).toMatchObject({ undone: false, code: "unknown" });
    await send({ ...pamuk, name: "Next day" });
    expect((await listed()).map((one) => one.changed)).toEqual([1]);
  });

  test("a request that changes nothing leaves no batch", async () => {
    const { send, listed } = await practiceServer();
    await send(pamuk);
    await send(pamuk);
    expect(await listed()).toHaveLength(1);
  });

  test("the batches of a clinic beyond their number, or beyond their rows, go first", async () => {
    const { server, send, listed, clinicOf } = await practiceServer();
    const add = async (...rows: number[]) =>
      server.store.transaction((session) =>
        session.each(
          addBatch,
          rows.map((count) => ({ fp: newFp("batch"), clinicId: clinicOf(ours), rows: count })),
        ),
      );
    await add(...Array.from({ length: 2001 }, () => 1));
    await send(pamuk);
    expect(await listed()).toHaveLength(2000);
    await add(1_000_000);
    await send({ ...pamuk, name: "Next" });
    expect((await listed()).map((one) => one.row_count)).toEqual([1]);
  });

  test("where no client has synchronised, an undo restores the time of each patient too", async () => {
    const { server, undo, exported, clinicOf } = await practiceServer();
    const facts = { ...{ species: "dog", precise_species: null, breed: null, sex: null, date_of_birth: null } };
    const door = { clinicId: clinicOf(ours), door: "file", source: "patients.csv", by: { keyId: 1 } } as const;
    const [fp, customer] = [newFp("patient"), newFp("customer")];
    const write = async (name: string, identifiers: { identifier: string; type: string }[]) =>
      server.store.transaction(async (session) => {
        const now = server.clock.now;
        const { batch } = await inBatch(session, { ...door, now }, async (open) => {
          const context = { now, clock: () => now, served: new Set<number>(), batch: open };
          const owner = await ownerId(session, customer, context);
          const owned = { owner_customer_id: owner, owner_customer_fp: customer, weight_kg: null };
          const { id } = await storeAnimal(session, { fp, name, ...facts, ...owned, identifiers }, context);
          await connectAnimal(session, { ...door, patient: { id, fp, species: "dog" }, active: true }, context);
        });
        return batch ?? "";
      });
    const states = [await exported()];
    const batches = [await write("Karabaş", [{ identifier: "1", type: "card" }])];
    server.clock.now += 60_000;
    states.push(await exported());
    batches.push(await write("Changed", []));
    for (const batch of batches.toReversed()) {
      expect(await undo(batch, clinicOf(ours), new Set())).toMatchObject({ undone: true });
      expect(await exported()).toBe(states.pop());
    }
  });

  const item = fc.record(
    {
      external_id: fc.constantFrom("1", "2", "3"),
      name: fc.constantFrom("A", "B"),
      species: fc.constantFrom("dog", "Kedi", "Pferd"),
      owner: fc.record({ external_id: fc.constantFrom("o1", "o2"), name: fc.constantFrom("X", "Y") }),
      weight_kg: fc.option(fc.constantFrom(1, 2)),
      identifiers: fc.array(
        fc.record({ type: fc.constantFrom("card", "tattoo"), value: fc.constantFrom("n1", "n2", "n3") }),
        { maxLength: 2 },
      ),
      deleted: fc.constant(true),
      updated_at: fc.constantFrom("2026-11-20T01:00:00Z", "2026-11-20T02:00:00Z"),
    },
    { requiredKeys: ["external_id", "name", "species", "owner"] },
  );
  const request = fc.uniqueArray(item, { selector: ({ external_id }) => external_id, minLength: 1 });

  test("undoing every batch, the last one first, restores the export after each", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 4 }), async (requests) => {
        const { send, undo, last, listed, exported } = await practiceServer();
        const states: string[][] = [];
        const fps: string[] = [];
        for (const items of requests) {
          const [state, count] = [timeless(await exported()), (await listed()).length];
          await send(...items);
          if ((await listed()).length === count) continue;
          states.push(state);
          fps.push(await last());
        }
        for (const fp of fps.toReversed()) {
          expect(await undo(fp)).toMatchObject({ undone: true });
          expect(timeless(await exported())).toEqual(states.pop());
        }
      }),
      { numRuns: onPostgres() ? 3 : 10, endOnFailure: true },
    );
  });
});
