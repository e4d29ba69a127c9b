import iconv from "iconv-lite";
import { expect, test } from "vitest";
import { exportEntities } from "../../../../server/import/export.ts";
import { importTable } from "../../../../server/import/table/import-table.ts";
import { query } from "../../../../server/database/query.ts";
import { clinicIdOf } from "../../../../server/cli/common/with-store.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { clinic, connection, patient, startServer } from "../../harness.ts";
import { patiently } from "../../../support/runner/patience.ts";
import { sheetFile } from "../../../support/clinic/sheet-file.ts";

// The import of a file into a database, as the command does it.

type Server = Awaited<ReturnType<typeof startServer>>;

async function start(...entities: Parameters<typeof startServer>) {
  const own = newFp("clinic");
  const server = await startServer(clinic(own), ...entities.flat().map((entity) => ofClinic(entity, own)));
  return { server, own, clinicId: await clinicIdOf(server.store, own) };
}

/** Gives the entities of a test the fp of its clinic. */
function ofClinic<T>(entity: T, own: string): T {
  return JSON.parse(JSON.stringify(entity).replaceAll("OWN", own)) as T;
}

async function importOf({ store, clock }: Server, clinicId: number, content: string | Uint8Array, isDryRun = false) {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  const options = { clinicId, source: "file", choices: {}, isDryRun, now: () => clock.now };
  return importTable(store, bytes, options, () => undefined);
}

async function stored({ store }: Server): Promise<string> {
  const lines = [];
  for await (const line of exportEntities(store)) lines.push(line);
  return JSON.stringify(lines);
}

const allAnimals = query((db) =>
  db
    .selectFrom("patient")
    .innerJoin("customer", "customer.id", "patient.owner_customer_id")
    .select(["patient.name", "species", "precise_species", "breed", "sex", "date_of_birth", "weight_kg"])
    .select(["customer.name as owner", "customer.phone"])
    .orderBy("patient.id"),
);

/** 300 animals as a Turkish system writes them: semicolons, cp1254, decimal comma. */
function turkishFile(): Uint8Array {
  const lines = ["Hasta No;Hasta Adı;Tür;Irk;Cinsiyet;Kısır;Doğum Tarihi;Ağırlık;Çip No;Sahip;Telefon"];
  for (let i = 1; i <= 300; i += 1) {
    const cells = [
      String(i).padStart(5, "0"),
      i % 2 === 0 ? `Şahin ${i}` : `Paşa ${i}`,
      ["Kedi", "Köpek", "Tavşan", "Sığır", "Muhabbet kuşu"][i % 5],
      "",
      i % 2 === 0 ? "D" : "E",
      i % 3 === 0 ? "Evet" : "Hayır",
      `${String((i % 28) + 1).padStart(2, "0")}.0${(i % 9) + 1}.2019`,
      `${i % 30},5 kg`,
      i % 4 === 0 ? String(900085000000000 + i) : "",
      `Işık Öğüt ${i % 120}`,
      `0555 ${100 + (i % 120)}`,
    ];
    lines.push(cells.join(";"));
  }
  return iconv.encode(lines.join("\r\n"), "cp1254");
}

test(
  "300 animals of a semicolon file in cp1254 are stored once, and a second import changes nothing",
  async () => {
    const { server, clinicId } = await start();
    const dry = await importOf(server, clinicId, turkishFile(), true);
    expect(dry).toMatchObject({ counts: { new: 300, changed: 0, unchanged: 0, refused: 0 } });
    expect(await server.store.all(allAnimals, {})).toEqual([]);

    const first = await importOf(server, clinicId, turkishFile());
    expect(first).toMatchObject({ counts: { new: 300, changed: 0, unchanged: 0, refused: 0 } });
    const animals = await server.store.all(allAnimals, {});
    expect(animals).toHaveLength(300);
    expect(animals[3]).toEqual({
      ...{
        name: "Şahin 4",
        species: "bird",
        precise_species: null,
        breed: null,
        sex: "female",
        date_of_birth: "2019-05-05",
        weight_kg: 4.5,
      },
      ...{ owner: "Işık Öğüt 4", phone: "0555 104" },
    });
    expect(new Set(animals.map(({ precise_species }) => precise_species))).toEqual(new Set([null, "cow"]));

    const before = await stored(server);
    server.clock.now += 3_600_000;
    const second = await importOf(server, clinicId, turkishFile());
    expect(second).toMatchObject({ counts: { new: 0, changed: 0, unchanged: 300, refused: 0 } });
    expect(await stored(server)).toBe(before);
  },
  patiently(60_000),
);

const HEAD = "Id;Name;Species;Breed;Sex;Weight (kg);Microchip;Card No;Owner Id;Owner;Phone\n";
const FULL = `${HEAD}7;Pamuk;cat;Van;FS;4;900085000123456;K1;9;Ada;555\n`;

test("an absent column and an empty cell keep what is stored, and other numbers stay", async () => {
  const { server, clinicId } = await start();
  await importOf(server, clinicId, FULL);
  const partial = "Id;Name;Species;Sex;Weight (kg);Owner Id;Microchip\n7;Pamuk;cat;;4,5;9;900085000999999\n";
  const outcome = await importOf(server, clinicId, partial);
  expect(outcome).toMatchObject({ counts: { new: 0, changed: 1, unchanged: 0, refused: 0 } });
  expect(await server.store.all(allAnimals, {})).toMatchObject([
    { breed: "Van", sex: "female_spayed", weight_kg: 4.5, owner: "Ada", phone: "555" },
  ]);
  expect(await stored(server)).toContain(
    '[{"type":"card","value":"K1"},{"type":"microchip","value":"900085000999999"}]',
  );
});

test("a file of owners gives animals that came with a number alone their names", async () => {
  const { server, clinicId } = await start();
  await importOf(server, clinicId, "Patient Id;Name;Species;Client Id\n1;Pamuk;cat;9\n2;Paşa;dog;9\n");
  expect(await server.store.all(allAnimals, {})).toMatchObject([{ owner: null }, { owner: null }]);
  const owners = "Client Id;First Name;Last Name;Phone\n9;Ada;Örnek;555\n";
  expect(await importOf(server, clinicId, owners)).toMatchObject({ counts: { new: 0, changed: 1, refused: 0 } });
  expect(await server.store.all(allAnimals, {})).toMatchObject([
    { owner: "Ada Örnek", phone: "555" },
    { owner: "Ada Örnek" },
  ]);
  expect(await importOf(server, clinicId, owners)).toMatchObject({ counts: { changed: 0, unchanged: 1 } });
});

test("an animal that came by another door is known by its microchip, and one chip belongs to one animal", async () => {
  const known = patient({ name: "Pamuk", species: "cat", external_ids: ["900085000123456"] });
  const { server, clinicId } = await start([known, connection(known.fp, "OWN")]);
  expect(await importOf(server, clinicId, FULL)).toMatchObject({ counts: { new: 0, changed: 1 } });
  expect(await server.store.all(allAnimals, {})).toMatchObject([{ name: "Pamuk", owner: "Ada" }]);

  const other = `${HEAD}8;Boncuk;cat;;;;;;9;Ada;555\n`;
  await importOf(server, clinicId, other);
  const taken = await importOf(
    server,
    clinicId,
    other.replace("8;Boncuk;cat;;;;;", "8;Boncuk;cat;;;;900085000123456;"),
  );
  expect(taken).toMatchObject({
    counts: { refused: 1 },
    refused: [
      { line: 2, name: "Boncuk", faults: [{ field: "microchip", code: "chip_taken", value: "900085000123456" }] },
    ],
  });
});

test("a microchip of another clinic's animal is not looked at", async () => {
  const theirs = newFp("clinic");
  const foreign = patient({ name: "Secret", species: "cat", external_ids: ["900085000123456"] });
  const { server, clinicId } = await start([clinic(theirs), foreign, connection(foreign.fp, theirs)]);
  expect(await importOf(server, clinicId, FULL)).toMatchObject({ counts: { new: 1, changed: 0, refused: 0 } });
});

test("a dead animal is stored with the day of its death, or the time of the import", async () => {
  const { server, clinicId } = await start();
  const content =
    "Id;Name;Species;Owner;Date of Death;Deceased\n1;A;cat;Ada;1.2.2024;\n2;B;cat;Ada;;yes\n3;C;cat;Ada;;no\n";
  await importOf(server, clinicId, content);
  const deaths = query((db) => db.selectFrom("patient").select("deceased_at").orderBy("id"));
  const expected = [
    { deceased_at: Date.parse("2024-02-01") },
    { deceased_at: server.clock.now },
    { deceased_at: null },
  ];
  expect(await server.store.all(deaths, {})).toEqual(expected);
  server.clock.now += 60_000;
  expect(await importOf(server, clinicId, content)).toMatchObject({ counts: { unchanged: 3, changed: 0 } });
  expect(await server.store.all(deaths, {})).toEqual(expected);
});

test("the lines that are refused store nothing, and the others are stored", async () => {
  const { server, clinicId } = await start();
  const content = `${FULL}8;;cat;;;;;;10;Ece;556\n9;Paşa;muhabbet k.;;;;;;11;Can;557\n`;
  const outcome = await importOf(server, clinicId, content);
  expect(outcome).toMatchObject({ counts: { new: 1, refused: 2 } });
  const all = await stored(server);
  expect(all).toContain("Pamuk");
  expect(all).not.toMatch(/Ece|Can"|Paşa/);
});

test("a file with an open question or a fault stores nothing", async () => {
  const { server, clinicId } = await start();
  const before = await stored(server);
  const open = "Name;Species;Owner;Birth\nPamuk;cat;Ada;3/4/2020\n";
  expect(await importOf(server, clinicId, open)).toMatchObject({
    counts: null,
    reading: { questions: ["date_order"] },
  });
  expect(await importOf(server, clinicId, `${FULL}8;"Paşa;dog\n`)).toEqual({
    fault: { code: "quote_open", line: 3, value: "" },
  });
  expect(await stored(server)).toBe(before);
});

test("an Excel file is imported as a CSV file is", async () => {
  const { server, clinicId } = await start();
  const rows = FULL.trim()
    .split("\n")
    .map((line) => line.split(";"));
  expect(await importOf(server, clinicId, sheetFile(rows))).toMatchObject({ counts: { new: 1 } });
  expect(await importOf(server, clinicId, FULL)).toMatchObject({ counts: { unchanged: 1, changed: 0 } });
});

test("the log and the audit have no name, phone or value of a line", async () => {
  const { server, clinicId } = await start();
  await importOf(server, clinicId, FULL.replace("Ada", "Zübeyde"));
  const audit = query((db) => db.selectFrom("audit").selectAll().where("method", "=", "COMMAND"));
  const rows = await server.store.all(audit, {});
  expect(rows).toMatchObject([{ route: "sync: patient created", address: "server import", user_id: null }]);
  expect(JSON.stringify(rows) + server.log.join("")).not.toMatch(/Zübeyde|Pamuk|900085/);
});
