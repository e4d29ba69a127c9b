import { expect, test } from "vitest";
import { query } from "../../../../server/database/query.ts";
import { readTable } from "../../../../server/import/table/read-table.ts";
import { readItems } from "../../../../server/import/table/rows.ts";
import { storeItems } from "../../../../server/import/table/store-items.ts";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import { FILE_SOURCE } from "../../../../server/records/registry/same-chip.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { clinic, startServer } from "../../harness.ts";

// Lines of a file that meet animals of earlier files.

const HEAD = "Patient Id;Name;Species;Birth;Owner;Microchip;Owner Id;Phone\n";
const animals = query((db) => db.selectFrom("patient").select(["name", "species"]).orderBy("id"));

async function world() {
  const own = newFp("clinic");
  const { store, clock } = await startServer(clinic(own));
  const clinicId = (await findClinic(store, own))?.id ?? 0;
  const load = async (...lines: string[]) => {
    const table = await readTable(Buffer.from(HEAD + lines.join("\n")), {});
    if ("fault" in table) throw new Error(table.fault.code);
    const { now } = clock;
    const by = { requestId: "file", address: "file" };
    const request = { clinicId, source: FILE_SOURCE, now, clock: () => now, by, batch: null };
    const items = readItems(table, now).items(0, lines.length);
    const done = await store.transaction(async (session) => storeItems(session, items, request));
    return done.map(({ outcome, faults }) =>
      [outcome, ...faults.map(({ code, value }) => `${code} ${value}`)].join(" "),
    );
  };
  return { load, stored: async () => (await store.all(animals, {})).map(({ name }) => name) };
}

test("a number of a merged practice's list does not turn an animal into another one", async () => {
  const { load, stored } = await world();
  expect(await load("17;Pamuk;cat;2020-01-01;Ayşe Yılmaz;;;", "18;Rex;dog;2019-05-05;Ali Demir;;;")).toEqual([
    "new",
    "new",
  ]);
  expect(await load("17;Zeytin;cat;2021-02-02;Ayşe Yılmaz;;;", "18;Karabaş;dog;2019-05-05;Veli Kaya;;;")).toEqual([
    "refused number_taken Pamuk",
    "refused number_taken Rex",
  ]);
  expect(await load("17;Boncuk;dog;2020-01-01;Ayşe Yılmaz;;;")).toEqual(["refused number_taken Pamuk"]);
  expect(await stored()).toEqual(["Pamuk", "Rex"]);
});

test("an animal gets another name, another owner or a corrected fact, and with its chip all of them", async () => {
  const { load, stored } = await world();
  await load("17;Pamuk;cat;2020-01-01;Ayşe Yılmaz;900085000123456;;");
  expect(await load("17;PAMUK;cat;2020-01-02;Ali Demir;;;")).toEqual(["changed"]);
  expect(await load("17;Zeytin;cat;;Ali Demir;;;")).toEqual(["changed"]);
  expect(await load("17;Boncuk;dog;2021-02-02;Veli Kaya;900085000123456;;")).toEqual(["changed"]);
  expect(await stored()).toEqual(["Boncuk"]);
});

test("a number of a merged practice's list gives the animals of an owner no other owner", async () => {
  const { load } = await world();
  const line = (id: string, owner: string, phone: string) => `${id};A${id};cat;;${owner};;9;${phone}`;
  expect(await load(line("1", "Ada Örnek", "0555 111 22 33"))).toEqual(["new"]);
  expect(await load(line("2", "Veli Kaya", "0532 444 55 66"))).toEqual(["refused owner_taken "]);
  // A person who has another name now, and one who has another phone.
  expect(await load(line("2", "Ada Demir", "+90 555 111 22 33"), line("3", "Ada Demir", "0532 444 55 66"))).toEqual([
    "new",
    "new",
  ]);
});
