import * as fc from "fast-check";
import { expect, test } from "vitest";
import { query } from "../../../../server/database/query.ts";
import { readTable } from "../../../../server/import/table/read-table.ts";
import { readItems } from "../../../../server/import/table/rows.ts";
import { storeItems } from "../../../../server/import/table/store-items.ts";
import { FILE_SOURCE } from "../../../../server/records/registry/same-chip.ts";
import type { AnimalCheck, EditedAnimal, TypedAnimal } from "../../../../server/dashboard/types/animals.ts";
import { makeUser } from "../../../dashboard/harness.ts";
import { soakCount } from "../../../support/runner/soak.ts";
import { connection, importEntities, onPostgres, patient } from "../../harness.ts";
import { ours, pamuk, practiceServer, timeless } from "../../practice-software.ts";

// The same animals come in by hand, in files and from practice software. Method: a user at the dashboard, who edits an animal that the
// check shows instead of adding a second one; files with one line; requests to /sync/v1. Each animal has a microchip, by which a door
// knows the animal of another one. Runs on both engines.

interface Facts {
  readonly number: string;
  readonly name: string;
  /** Its first digits; those of the herd follow. */
  readonly chip: string;
  readonly birth: string;
  readonly weight: number;
  readonly owner: { readonly name: string; readonly phone: string; readonly email: string };
  /** In the words of each door. */
  readonly species: Record<Door, string>;
  readonly sex: Record<Door, string>;
}

const doors = ["hand", "file", "sync"] as const;
type Door = (typeof doors)[number];

const [ada, can] = [
  { name: "Ada Örnek", phone: "+90 555 000 00 01", email: "ada@example.org" },
  { name: "Çağrı Şahin", phone: "+90 555 000 00 02", email: "cagri@example.org" },
];

const animals: readonly Facts[] = [
  {
    ...{ number: "00417", name: "Pamuk", chip: "900085", birth: "2020-02-29", weight: 4.2, owner: ada },
    species: { hand: "cat", file: "Kedi", sync: "FELINE" },
    sex: { hand: "female_spayed", file: "kısır dişi", sync: "FS" },
  },
  {
    ...{ number: "00418", name: "Şimşek", chip: "040098", birth: "2015-06-01", weight: 480, owner: can },
    species: { hand: "horse", file: "At", sync: "Pferd" },
    sex: { hand: "male_neutered", file: "kısır erkek", sync: "Wallach" },
  },
  {
    ...{ number: "7", name: "Čejka", chip: "985112", birth: "2024-12-31", weight: 1.1, owner: ada },
    species: { hand: "ferret", file: "Gelincik", sync: "Frettchen" },
    sex: { hand: "male", file: "erkek", sync: "macho" },
  },
];

const steps = fc.array(fc.record({ animal: fc.nat({ max: animals.length - 1 }), door: fc.constantFrom(...doors) }), {
  minLength: 2,
  maxLength: 6,
});
type Steps = readonly { readonly animal: number; readonly door: Door }[];

const stored = query((db) =>
  db
    .selectFrom("patient")
    .innerJoin("patient_identifier as chip", "chip.patient_id", "patient.id")
    .innerJoin("customer", "customer.id", "patient.owner_customer_id")
    .innerJoin("clinic_patient", "clinic_patient.patient_id", "patient.id")
    .select(["patient.name", "species", "precise_species", "sex", "date_of_birth", "weight_kg", "deleted_at"])
    .select(["chip.identifier", "chip.type", "clinic_patient.active"])
    .select(["customer.name as owner", "customer.phone", "customer.email"])
    .orderBy("chip.identifier"),
);

const names = query((db) =>
  db
    .selectFrom("patient_source as named")
    .innerJoin("patient_identifier as chip", "chip.patient_id", "named.patient_id")
    .select(["source", "external_id", "chip.identifier", "removed"])
    .orderBy("source")
    .orderBy("external_id"),
);

async function clinicWithDoors() {
  const { server, post, clinicOf } = await practiceServer();
  const staff = await makeUser(server, "staff", ours);
  const enter: Record<Door, (facts: Facts) => Promise<unknown>> = {
    async hand({ name, species, sex, birth, weight, chip, owner }) {
      const identifiers = [{ type: "microchip" as const, value: chip }];
      const facts = {
        name,
        species: species.hand,
        breed: null,
        sex: sex.hand,
        date_of_birth: birth,
        weight_kg: weight,
      };
      const contact = { ...owner, language: null, time_zone: null };
      const animal = { ...facts, identifiers, owner: contact } as TypedAnimal;
      const { doubles } = (await staff.call<AnimalCheck>("POST", "/patients/check", { animal, edited: null })).body;
      const same = doubles.find(({ signs }) => signs.includes("number"));
      if (same === undefined) {
        const seen = doubles.map(({ fp }) => fp);
        expect((await staff.call("POST", "/patients", { animal, seen })).status).toBe(200);
        return;
      }
      const { version, animal: before } = (await staff.call<EditedAnimal>("GET", `/patients/${same.fp}/edit`)).body;
      const edited = { animal: { ...animal, owner: before.owner }, seen: doubles.map(({ fp }) => fp), version };
      expect(await staff.call("PUT", `/patients/${same.fp}`, edited)).toMatchObject({ status: 200 });
    },
    async file({ number, name, species, sex, birth, weight, chip, owner }) {
      const header = "Hasta No;Hasta Adı;Tür;Cinsiyet;Doğum Tarihi;Ağırlık;Çip No;Sahip;Telefon;E-posta";
      const kg = `${String(weight).replace(".", ",")} kg`;
      const line = [number, name, species.file, sex.file, birth, kg, chip, owner.name, owner.phone, owner.email];
      const table = await readTable(Buffer.from(`${header}\n${line.join(";")}\n`), {});
      if ("fault" in table) throw new Error(table.fault.code);
      const { now } = server.clock;
      const by = { requestId: "file", address: "file" };
      const request = { clinicId: clinicOf(ours), source: FILE_SOURCE, now, clock: () => now, by, batch: null };
      const items = readItems(table, now).items(0, 1);
      const done = await server.store.transaction(async (session) => storeItems(session, items, request));
      expect(done).toMatchObject([{ faults: [] }]);
    },
    async sync({ number, name, species, sex, birth, weight, chip, owner }) {
      const item = {
        ...{ external_id: number, name, species: species.sync, sex: sex.sync, date_of_birth: birth, weight_kg: weight },
        ...{ owner: { external_id: owner.phone, ...owner }, identifiers: [{ type: "microchip", value: chip }] },
      };
      const { body } = await post("patients", { source: "pims", mode: "partial", items: [item] });
      expect(body).toMatchObject({ items: [{ errors: [] }] });
    },
  };
  let herds = 0;
  /** Runs the steps with a herd of its own, and returns its animals and their names without its digits. */
  const run = async (order: Steps) => {
    herds += 1;
    // Names that are alike would be likely doubles.
    const herd = String((herds * 387_420_489) % 1_000_000_007)
      .padStart(9, "0")
      .slice(-9);
    for (const { animal, door } of order) {
      const facts = animals[animal];
      if (facts === undefined) continue;
      await enter[door]({
        ...facts,
        name: `${facts.name}${herd}`,
        number: `${facts.number}-${herd}`,
        chip: facts.chip + herd,
      });
    }
    const own = (rows: readonly { identifier: string }[]) =>
      rows.filter(({ identifier }) => identifier.endsWith(herd)).map((row) => JSON.stringify(row).replaceAll(herd, ""));
    return [...own(await server.store.all(stored, {})), ...own(await server.store.all(names, {}))];
  };
  return { run };
}

test("the same facts by any doors, in any order and repeated, give the same animals", async () => {
  const { run } = await clinicWithDoors();
  await fc.assert(
    fc.asyncProperty(steps, fc.infiniteStream(fc.nat()), async (order, ranks) => {
      const repeated = [...order, ...order.slice(0, 2)]
        .map((step) => ({ step, rank: ranks.next().value }))
        .toSorted((a, b) => a.rank - b.rank)
        .map(({ step }) => step);
      const first = await run(order);
      expect(await run(repeated)).toEqual(first);
      const entered = new Set(order.map(({ animal }) => animal));
      expect(first.filter((row) => row.includes('"name"'))).toHaveLength(entered.size);
    }),
    { numRuns: soakCount(onPostgres() ? 60 : 120), endOnFailure: true },
  );
});

test("each pair of doors, in both orders, makes one animal with the facts of both", async () => {
  const { run } = await clinicWithDoors();
  for (const [index, one] of doors.entries()) {
    for (const other of doors.slice(index)) {
      const pair = [one, other].map((door) => ({ animal: 0, door }));
      const rows = await run(pair);
      expect([pair, await run(pair.toReversed())]).toEqual([pair, rows]);
      expect(JSON.parse(rows[0] ?? "")).toEqual({
        ...{ name: "Pamuk", species: "cat", precise_species: null, sex: "female_spayed", date_of_birth: "2020-02-29" },
        ...{ weight_kg: 4.2, deleted_at: null, identifier: "900085", type: "microchip", active: 1 },
        ...{ owner: ada.name, phone: ada.phone, email: ada.email },
      });
      const named = [one, other].filter((door) => door !== "hand").map((door) => (door === "sync" ? "pims" : door));
      expect(rows.slice(1).map((row) => (JSON.parse(row) as { source: string }).source)).toEqual([...new Set(named)]);
    }
  }
});

test("practice software takes the only animal with a microchip that no software has, and another one of the chip is new", async () => {
  const { server, send, undo, last, exported } = await practiceServer();
  const identifiers = [{ type: "microchip", value: "900085000123456" }];
  const known = { ...patient({ name: pamuk.name.toUpperCase(), species: "cat" }), identifiers };
  await importEntities(server.store, known, connection(known.fp, ours));
  const before = timeless(await exported());
  const dog = await send({ ...pamuk, species: "dog", external_id: "other species" });
  expect(dog.items).toMatchObject([{ outcome: "created" }]);
  expect(await undo(await last())).toMatchObject({ undone: true });
  // A chip that was copied into the wrong card.
  const otherName = await send({ ...pamuk, name: "Boncuk", external_id: "other name" });
  expect(otherName.items).toMatchObject([{ outcome: "created" }]);
  expect(await undo(await last())).toMatchObject({ undone: true });
  const { items } = await send(pamuk, { ...pamuk, external_id: "00500", name: "Boncuk" });
  expect(items).toMatchObject([{ outcome: "updated", fp: known.fp }, { outcome: "created" }]);
  expect((await send(pamuk)).items).toMatchObject([{ outcome: "unchanged", fp: known.fp }]);
  expect(await undo(await last())).toMatchObject({ undone: true });
  expect(timeless(await exported())).toEqual(before);
});
