import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { demoEntities } from "../../../server/demo/data.ts";
import type { MovementList } from "../../../server/dashboard/types/stock.ts";
import type { Entity } from "../../../server/import/lines.ts";
import { countControls, countUnmatched, exportEntities } from "../../../server/import/export.ts";
import { openStore } from "../../../server/database/open.ts";
import type { Store } from "../../../server/database/store.ts";
import { eventStatuses, eventTypes } from "../../../shared/api/calendar.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { PATIENT_SEXES } from "../../../shared/clinical/sex.ts";
import { API_SPECIES } from "../../../shared/clinical/species.ts";
import {
  clinic,
  connection,
  importEntities,
  keyPermissions,
  noon,
  patient,
  startServer,
  study,
  temporaryDatabase,
} from "../harness.ts";
import { makeUser } from "../../dashboard/harness.ts";
import { controlRun, pushQuality } from "../quality.ts";
import { batch, event, item, soap } from "../records.ts";

const [itself, gone] = [newFp("patient"), "2026-11-01T00:00:00.000Z"];

describe("an export", () => {
  test("an export of the imported demo equals the demo, line by line", async () => {
    const store = await openStore(await temporaryDatabase());
    await importEntities(store, ...demoEntities());
    expect(lines(await exported(store))).toEqual(lines(demoEntities()));
    await store.close();
  });

  test("an export contains the imported lines, whatever their order, and its import exports the same", async () => {
    await fc.assert(
      fc.asyncProperty(anyFile, async (entities) => {
        const [first, second] = [
          await openStore(await temporaryDatabase()),
          await openStore(await temporaryDatabase()),
        ];
        await importEntities(first, ...entities);
        const written = await exported(first);
        expect(lines(written)).toEqual(lines(entities));

        const result = await importEntities(second, ...written);
        expect(result).toMatchObject({ new: entities.length, changed: 0, unchanged: 0 });
        expect((await exported(second)).map((line) => JSON.stringify(line))).toEqual(
          written.map((line) => JSON.stringify(line)),
        );
        expect(await importEntities(first, ...written)).toEqual({ new: 0, changed: 0, unchanged: entities.length });
        await Promise.all([first.close(), second.close()]);
      }),
      { numRuns: 10, endOnFailure: true },
    );
  });

  test("an owner without a time zone has a line, and a line without facts keeps what is stored", async () => {
    const store = await openStore(await temporaryDatabase());
    const owner = { type: "customer", fp: newFp("customer"), name: "Ada Örnek", phone: null, email: "ada@example.org" };
    await importEntities(store, owner);
    expect(await exported(store)).toEqual([owner]);
    const locale = { time_zone: "Europe/Istanbul" };
    const placed = { type: "customer", fp: owner.fp, locale };
    expect(await importEntities(store, placed)).toMatchObject({ changed: 1 });
    expect(await importEntities(store, placed, { ...owner, fp: newFp("customer") })).toMatchObject({
      new: 1,
      unchanged: 1,
    });
    expect(lines(await exported(store))).toContainEqual(lines([{ ...owner, locale }])[0]);
    await store.close();
  });

  test.each([
    [{ ...patient(), external_ids: [], identifiers: [] }, "external_ids and identifiers, expected one of them"],
    [{ ...patient(), merged_into: newFp("patient") }, "merged_into of a patient that is not deleted"],
    [{ ...patient({ deleted_at: gone }), merged_into: newFp("patient") }, "merged_into is patient_"],
    [{ ...patient({ fp: itself, deleted_at: gone }), merged_into: itself }, "which leads back to itself"],
    [sourceOf(newFp("clinic"), null), "clinic_fp is clinic_"],
    [{ ...patient(), deceased_at: "2026-13-01T00:00:00.000Z" }, "deceased_at is"],
  ])("a line that contradicts itself or names what is missing is refused %#", async (line, problem) => {
    const store = await openStore(await temporaryDatabase());
    const refused = importEntities(store, line);
    await expect(refused).rejects.toMatchObject({ problems: [{ line: 1, problem: expect.stringContaining(problem) }] });
    await store.close();
  });

  test("the history of stock and the state before a cancellation come back, and a repeated import changes nothing", async () => {
    const ours = newFp("clinic");
    const dog = full(patient());
    const vaccine = item(ours, { quantity_on_hand: 0 });
    const untouched = item(ours, { name: "Bandage", quantity_on_hand: 4 });
    const server = await startServer(clinic(ours), dog, connection(dog.fp, ours), vaccine, untouched);
    const staff = await makeUser(server, "staff", ours);
    const post = async (path: string, body: object) => {
      const { status, text } = await staff.call("POST", path, body);
      expect([status, text]).toEqual([200, expect.any(String)]);
    };
    const lot = (name: string, quantity: number) => ({ lot: name, expiry_date: "2027-03-31", quantity });
    await post(`/stock/${vaccine.fp}/receive`, lot("A", 5));
    await post(`/stock/${vaccine.fp}/receive`, lot("B", 3));
    await post(`/stock/${vaccine.fp}/consume`, { quantity: 6, patient_fp: dog.fp });
    const [used] = (await staff.call<MovementList>("GET", `/stock/${vaccine.fp}/movements`)).body.items;
    await post(`/stock/${vaccine.fp}/movements/${used?.id}/undo`, {});
    const cancelled = event(ours, { status: "CHECKED_IN" });
    await importEntities(server.store, cancelled);
    await post(`/calendar/${cancelled.fp}/move`, { to: "CANCELLED" });

    const written = await exported(server.store);
    expect(written.filter(({ type }) => type === "stock_movement")).toHaveLength(5);
    expect(written.find(({ type }) => type === "calendar_event")).toMatchObject({ cancelled_from: "CHECKED_IN" });
    const other = await startServer();
    await importEntities(other.store, ...written);
    expect(await exported(other.store)).toEqual(written);
    const again = await importEntities(other.store, ...written);
    expect(again).toMatchObject({ new: 0, changed: 0, unchanged: written.length });
    // The histories add up to the quantities, also of an item whose file has a part of its history.
    const shortened = written.filter((line) => line.type !== "stock_movement" || line.number < 3);
    const third = await startServer();
    await importEntities(third.store, ...shortened);
    const keeper = await makeUser(third, "staff", ours);
    const moved = (await keeper.call<MovementList>("GET", `/stock/${vaccine.fp}/movements`)).body.items;
    const sum = moved.reduce((total, { quantity }) => total + quantity, 0);
    expect(sum).toBe(written.flatMap((line) => (line.type === "inventory_item" ? line.quantity_on_hand : []))[0]);
  });

  test("another history of an item stays, and a movement out of its order is refused", async () => {
    const ours = newFp("clinic");
    const vaccine = item(ours, { quantity_on_hand: 5 });
    const store = await openStore(await temporaryDatabase());
    const moved = (number: number, quantity: number, reason = "received") => ({
      ...{ type: "stock_movement", item_fp: vaccine.fp, number, batch: null, quantity, reason },
      ...{ patient_fp: null, at: new Date(noon).toISOString(), undoes: null },
    });
    await importEntities(store, clinic(ours), vaccine, moved(1, 7), moved(2, -2, "used"));
    const before = await exported(store);
    await importEntities(store, moved(1, 9), moved(2, -4, "used"), moved(3, 1), { ...moved(4, -1), undoes: 3 });
    expect(await exported(store)).toEqual(before);
    for (const [line, problem] of [
      [moved(2, 1), "expected 1: movements of an item come in their order"],
      [{ ...moved(1, 7), undoes: 1 }, "expected the number of an earlier movement"],
      [{ ...moved(1, 7), item_fp: newFp("invitem") }, "item_fp is"],
    ] as const) {
      await expect(importEntities(store, line)).rejects.toMatchObject({
        problems: [{ line: 1, problem: expect.stringContaining(problem) as string }],
      });
    }
    await store.close();
  });

  test("an export of several pages contains each line once", async () => {
    const ours = newFp("clinic");
    const patients = Array.from({ length: 2001 }, (_, index) => full(patient({ external_ids: [String(index)] })));
    const entities = [clinic(ours), ...patients, ...patients.map(({ fp }) => connection(fp, ours))];
    const store = await openStore(await temporaryDatabase());
    await importEntities(store, ...entities);
    expect(lines(await exported(store))).toEqual(lines(entities));
    await store.close();
  });

  test("an export contains neither keys nor unmatched studies and controls, which are counted", async () => {
    const ours = newFp("clinic");
    const one = full(patient());
    const entities = [clinic(ours), one, connection(one.fp, ours)];
    const server = await startServer(entities);
    const key = await server.makeKey(ours, keyPermissions);
    const filed = study({ patient_fp: one.fp });
    await server.push(key, filed, study());
    // It is of another device, so the study has no mark.
    await pushQuality(server, key, controlRun({ source: { device_id: "chem-2" } }));
    const { revision: _r, dedupe_key: _d, source: _s, patient_hint: _h, ...published } = filed;
    expect(lines(await exported(server.store))).toEqual(lines([...entities, { type: "study", ...published }]));
    expect([await countUnmatched(server.store), await countControls(server.store)]).toEqual([1, 1]);
  });

  test("an export reads one snapshot, whatever is written at the same time", async () => {
    const store = await openStore(await temporaryDatabase());
    const before = [clinic(newFp("clinic"))];
    await importEntities(store, ...before);
    await store.snapshot(async (session) => {
      const reading = exportEntities(session);
      const { value } = await reading.next();
      await importEntities(store, clinic(newFp("clinic")), full(patient()));
      const read = [value as Entity];
      for await (const entity of reading) read.push(entity);
      expect(read).toEqual(before);
    });
    expect(await exported(store)).toHaveLength(3);
    await store.close();
  });
});

async function exported(store: Store): Promise<Entity[]> {
  return store.snapshot(async (session) => {
    const entities: Entity[] = [];
    for await (const entity of exportEntities(session)) entities.push(entity);
    return entities;
  });
}

/** Sorts the lines of a file and the keys of each line. */
function lines(entities: readonly unknown[]): string[] {
  return entities.map((entity) => JSON.stringify(sorted(entity))).toSorted();
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

function sourceOf(clinic_fp: string, patient_fp: string | null) {
  const name = { clinic_fp, source: "pims", external_id: "1" };
  return { type: "patient_source", ...name, patient_fp, updated_at: null, removed: true };
}

/** Adds the fields that an import line may leave out. */
function full(line: ReturnType<typeof patient>) {
  return { external_ids: [] as string[], deleted_at: null as string | null, ...line };
}

const text = fc.string({ minLength: 1, maxLength: 20, unit: "grapheme" }).filter((words) => words.trim() !== "");
const nullable = <T>(some: fc.Arbitrary<T>) => fc.option(some, { nil: null });
const instant = fc
  .date({ min: new Date("1970-01-01"), max: new Date("2100-01-01"), noInvalidDate: true })
  .map((date) => date.toISOString());
/** Times of births and records, none in the future. */
const past = fc
  .date({ min: new Date("1970-01-01"), max: new Date(noon), noInvalidDate: true })
  .map((date) => date.toISOString());
const birthday = fc
  .date({ min: new Date("1950-01-01"), max: new Date("1970-01-01"), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));
const count = fc.nat({ max: Number.MAX_SAFE_INTEGER });

/** A file with a line for every entity that it refers to, in random order. */
const anyFile = fc
  .record({
    clinicNames: fc.array(text, { minLength: 1, maxLength: 3 }),
    patients: fc.array(
      fc.record({
        name: text,
        species: fc.constantFrom(...API_SPECIES, "horse", "ferret", "guinea pig"),
        breed: nullable(text),
        sex: nullable(fc.constantFrom(...PATIENT_SEXES)),
        weight_kg: nullable(fc.double({ min: 0, minExcluded: true, max: 1500, noNaN: true })),
        date_of_birth: nullable(birthday),
        // updated_at is not before created_at.
        created_at: fc.constant("1970-01-01T00:00:00.000Z"),
        updated_at: past,
        deleted_at: nullable(past),
        external_ids: fc.uniqueArray(text),
        types: nullable(fc.constantFrom("microchip" as const, "card" as const)),
        deceased_at: nullable(past),
        owner: nullable(fc.record({ name: nullable(text), phone: nullable(text), email: text })),
        named: nullable(fc.record({ external_id: text, updated_at: nullable(past), removed: fc.boolean() })),
        mergesIntoFirst: fc.boolean(),
        active: fc.boolean(),
        record: nullable(
          fc.record({
            status: fc.constantFrom("DRAFT" as const, "IN_PROGRESS" as const, "SIGNED" as const, "LOCKED" as const),
            subjective: nullable(text),
            plan: nullable(text),
            created_at: past,
            signed_at: past,
          }),
        ),
        visit: nullable(
          fc.record({
            title: text,
            event_type: fc.constantFrom(...eventTypes),
            status: fc.constantFrom(...eventStatuses),
            start_at: instant,
          }),
        ),
      }),
      { maxLength: 5 },
    ),
    items: fc.array(
      fc.record({
        name: text,
        sku: nullable(text),
        quantity_on_hand: count,
        unit_price_cents: count,
        batches: fc.uniqueArray(
          fc.record({ lot: nullable(text), quantity: count, received_at: instant, expiry_date: fc.constant(null) }),
          { selector: ({ lot, received_at }) => `${lot} ${received_at}`, maxLength: 3 },
        ),
      }),
      { maxLength: 3 },
    ),
  })
  .chain(({ clinicNames, patients, items }) => {
    const clinics = clinicNames.map((name) => ({ type: "clinic" as const, fp: newFp("clinic"), name }));
    const first = clinics[0]?.fp ?? "";
    const user = { type: "user" as const, fp: newFp("user"), name: "Elif", clinic_fp: first };
    const entities: Entity[] = [...clinics, user];
    let survivor: string | undefined;
    for (const [index, { active, record, visit, owner, named, ...described }] of patients.entries()) {
      const { types, deceased_at, mergesIntoFirst, external_ids, ...facts } = described;
      const one = full(patient(facts));
      const typed = external_ids.map((value, at) => ({ type: at === 0 ? types : null, value }));
      const { external_ids: _ids, ...rest } = one;
      entities.push({
        ...rest,
        ...(types === null || typed.length === 0 ? { external_ids } : { identifiers: typed }),
        ...(deceased_at === null ? {} : { deceased_at }),
        ...(mergesIntoFirst && survivor !== undefined && one.deleted_at !== null ? { merged_into: survivor } : {}),
      });
      survivor ??= one.fp;
      entities.push(...clinics.map(({ fp }) => connection(one.fp, fp, active)));
      const locale = { time_zone: "Europe/Istanbul" };
      entities.push({ type: "customer", fp: one.owner_customer_fp, locale, ...owner });
      if (named !== null) {
        const name = { clinic_fp: first, source: `pims-${index}`, external_id: named.external_id };
        const patient_fp = named.removed ? null : one.fp;
        const merged = named.removed ? {} : { merged_into: "00417" };
        entities.push({ type: "patient_source", ...name, ...named, patient_fp, ...merged });
        const { removed: _removed, ...time } = named;
        entities.push({ type: "customer_source", ...name, ...time, customer_fp: one.owner_customer_fp });
      }
      const { revision: _r, dedupe_key: _d, source: _s, patient_hint: _h, ...published } = study();
      entities.push({ type: "study", ...published, patient_fp: one.fp });
      if (record !== null) {
        const signed = record.status === "SIGNED" || record.status === "LOCKED";
        const original = soap(one.fp, first, {
          ...record,
          signed_at: signed ? record.signed_at : null,
          amends_fp: null,
        });
        entities.push(original);
        if (signed) entities.push(soap(one.fp, first, { amends_fp: original.fp }));
      }
      if (visit !== null) {
        const planned = { ...visit, end_at: visit.start_at, patient_fp: one.fp, assigned_user_fp: user.fp };
        const appointment = event(first, planned);
        entities.push(appointment);
        if (named !== null) {
          const name = { clinic_fp: first, source: `pims-${index}`, ...named };
          entities.push({ type: "event_source", ...name, event_fp: named.removed ? null : appointment.fp });
        }
      }
    }
    for (const { batches, ...described } of items) {
      const one = item(first, described);
      entities.push(one, ...batches.map((described_) => batch(one.fp, described_)));
    }
    return fc.shuffledSubarray(entities, { minLength: entities.length });
  });
