import { expect, test } from "vitest";
import type { FileChoices } from "../../../../server/dashboard/types/file-import.ts";
import { faultWords, fieldWord } from "../../../../server/dashboard/types/file-faults.ts";
import { readTable } from "../../../../server/import/table/read-table.ts";
import { readItems } from "../../../../server/import/table/rows.ts";
import { sheetFile } from "../../../support/clinic/sheet-file.ts";

// What a list of stock means, without a database.

const NOW = Date.parse("2026-11-21T12:00:00.000Z");

async function readFile(content: string | Uint8Array, choices: FileChoices = {}) {
  const table = await readTable(typeof content === "string" ? Buffer.from(content) : content, choices);
  if ("fault" in table) throw new Error(table.fault.code);
  return { reading: table.reading, items: readItems(table, NOW).items(0, 1000) };
}

test("a list of stock in Turkish is read, with several lots of an item", async () => {
  const { reading, items } = await readFile(
    "Stok Kodu;Ürün Adı;Kategori;Birim;Kritik Stok;Miktar;Parti No;SKT\n" +
      "A-1;Nobivac DHPPi;Aşı;flakon;2;10;L1;30.06.2027\n" +
      "A-1;Nobivac DHPPi;Aşı;flakon;2;4;L2;31.12.27\n" +
      "A-1;Nobivac DHPPi;Aşı;flakon;2;4;L2;31.12.27\n" +
      "M-7;Muayene;Hizmet;;;;;\n",
  );
  expect(reading).toMatchObject({ kind: "stock", key: "number", rows: 4, questions: [], date_order: "dmy" });
  const vaccine = { name: "Nobivac DHPPi", sku: "A-1", category: "VACCINE", unit: "flakon", low_stock_threshold: 2 };
  const [first, second] = [
    { quantity: 10, lot: "L1", expiry_date: "2027-06-30" },
    { quantity: 4, lot: "L2", expiry_date: "2027-12-31" },
  ];
  const none = { quantity: 0, lot: null, expiry_date: null };
  expect(items.map(({ faults }) => faults)).toEqual([[], [], [], []]);
  expect(items.map(({ stock }) => stock)).toEqual([
    { ...vaccine, delivery: first, deliveries: [first, second], isFirst: true },
    { ...vaccine, delivery: second, deliveries: [], isFirst: false },
    { ...vaccine, delivery: second, deliveries: [], isFirst: false },
    {
      ...{ name: "Muayene", sku: "M-7", category: "SERVICE", unit: null, low_stock_threshold: null },
      ...{ delivery: none, deliveries: [none], isFirst: true },
    },
  ]);
});

test.each([
  ["English", "SKU,Item Name,Category,Quantity on hand\nA,Gauze,Consumable,5", "CONSUMABLE"],
  ["German", "Artikelnummer;Bezeichnung;Warengruppe;Bestand\nA;Mull;Verbrauchsmaterial;5", "CONSUMABLE"],
  ["French", "Référence;Désignation;Famille;Quantité\nA;Rabisin;Vaccin;5", "VACCINE"],
  ["Spanish", "Código;Artículo;Categoría;Cantidad\nA;Meloxicam;Medicamento;5", "MEDICATION"],
  ["a general header", "No,Name,Type,Qty\nA,Meloxicam,Drug,5", "MEDICATION"],
])("a list of stock in %s is known by its headers", async (_name, content, category) => {
  const { reading, items } = await readFile(content);
  expect(reading).toMatchObject({ kind: "stock", key: "number", questions: [] });
  expect(items[0]?.stock).toMatchObject({ sku: "A", category, delivery: { quantity: 5 } });
});

test("an Excel list of stock is read", async () => {
  const { items } = await readFile(
    sheetFile([
      ["Item", "Category", "Quantity", "Expiry date"],
      ["Meloxicam", "Medication", 12, { serial: 46568 }],
    ]),
  );
  expect(items[0]?.stock).toMatchObject({ name: "Meloxicam", delivery: { quantity: 12, expiry_date: "2027-06-30" } });
});

test.each([
  ["a category that is not known", "Gauze;Foo;5;", "category unknown_category"],
  ["a part of an item", "Gauze;Consumable;2,5;", "quantity not_a_count"],
  ["a mark between thousands, or a decimal one", "Gauze;Consumable;1.000;", "quantity not_a_count"],
  ["a quantity with a unit", "Gauze;Consumable;5 kg;", "quantity not_a_count"],
  ["a quantity below zero", "Gauze;Consumable;-5;", "quantity not_a_count"],
  ["a day that does not exist", "Gauze;Consumable;5;31.02.2027", "expiry not_a_date"],
  ["no name", ";Consumable;5;", "item missing"],
  ["a name that is too long", `${"G".repeat(201)};Consumable;5;`, "item too_long"],
  ["a line that is cut short", "Gauze;Consumable", " too_few_cells"],
])("a line with %s is refused with its remedy in both languages", async (_name, line, fault) => {
  const { items } = await readFile(`Item;Category;Quantity;Expiry\n${line}\n`);
  expect(items.map(({ stock }) => stock)).toEqual([null]);
  expect(items[0]?.faults.map(({ field, code }) => `${field} ${code}`)).toEqual([fault]);
  for (const one of items[0]?.faults ?? []) {
    for (const language of ["en", "tr"] as const) {
      const { what, remedy } = faultWords(one, language);
      expect(what).not.toContain("accepted");
      expect(remedy).not.toBe("");
      expect(fieldWord(one.field, language) === "").toBe(one.field === "");
    }
  }
});

test("lines of one item that contradict each other are both refused, with the other line", async () => {
  const head = "Item;Category;Quantity;Lot\n";
  const faults = async (lines: string) =>
    (await readFile(head + lines)).items.map(({ faults: found }) => found.map(({ code, value }) => `${code} ${value}`));
  expect(await faults("Gauze;Consumable;5;A\nGauze;Medication;5;B\n")).toEqual([["same_item 3"], ["same_item 2"]]);
  expect(await faults("Gauze;Consumable;5;A\nGauze;Consumable;6;A\n")).toEqual([["same_item 3"], ["same_item 2"]]);
  expect(await faults("Gauze;Consumable;5;A\nGauze;Consumable;6;B\n")).toEqual([[], []]);
});

test("a list without a category asks for it, and a person answers", async () => {
  const content = "Item;Group of things;Quantity\nGauze;Consumable;5\n";
  expect((await readFile(content)).reading).toMatchObject({ questions: ["columns"], missing: ["category"] });
  const { reading, items } = await readFile(content, { columns: ["item", "category", "quantity"] });
  expect(reading.questions).toEqual([]);
  expect(items[0]?.stock).toMatchObject({ category: "CONSUMABLE" });
});
