import { strFromU8, strToU8, unzipSync, zipSync } from "fflate";
import iconv from "iconv-lite";
import { describe, expect, test } from "vitest";
import type { FileChoices } from "../../../../server/dashboard/types/file-import.ts";
import { faultWords, fieldWord } from "../../../../server/dashboard/types/file-faults.ts";
import { decideDateOrder, readDay } from "../../../../server/import/table/dates.ts";
import { readColumns } from "../../../../server/import/table/columns.ts";
import { decode, type Decoded } from "../../../../shared/files/table/encoding.ts";
import { readTable } from "../../../../server/import/table/read-table.ts";
import { readItems } from "../../../../server/import/table/rows.ts";
import { readSexes } from "../../../../server/import/table/sexes.ts";
import { readWeight, usesDecimalComma } from "../../../../server/import/table/weights.ts";
import { sheetFile } from "../../../support/clinic/sheet-file.ts";

// What a file of animals or owners means, without a database.

const NOW = Date.parse("2026-11-21T12:00:00.000Z");

/** A list as a practice in Turkey exports it: semicolons, decimal commas, days first. */
const GOLDEN =
  "Patient Id;Owner;Name;Species;Sex;Neutered;Birth;Weight;Microchip\n" +
  "00417;Örnek, Ada;Pamuk;Kedi;Dişi;Evet;29.02.2020;4,2 kg;900085000123456\n";

async function readFile(content: string | Uint8Array, choices: FileChoices = {}) {
  const table = await readTable(typeof content === "string" ? Buffer.from(content) : content, choices);
  if ("fault" in table) return { fault: table.fault };
  return { reading: table.reading, items: readItems(table, NOW).items(0, 1000) };
}

/** The animals of a file, without what the test does not name. */
async function animals(content: string | Uint8Array, choices: FileChoices = {}) {
  return (await readFile(content, choices)).items?.map(({ animal }) => animal?.patient ?? null);
}

/** The faults of a file, such as `2 birth not_a_date`. */
async function faults(content: string | Uint8Array, choices: FileChoices = {}) {
  const { fault, reading, items = [] } = await readFile(content, choices);
  if (fault !== undefined) return [[fault.line ?? "file", fault.code].join(" ")];
  const questions = reading.questions.map((question) => `file ${question}`);
  return [
    ...questions,
    ...items.flatMap((item) =>
      item.faults.map(({ field, code }) => `${item.line} ${field} ${code}`.replace("  ", " ")),
    ),
  ];
}

const textOf = ({ pieces }: Decoded) => [...pieces()].join("");

describe("the bytes of a file", () => {
  test.each([
    ["UTF-8", Buffer.from("Şahin Ğ"), "utf-8", "Şahin Ğ"],
    ["UTF-8 with a byte order mark", Buffer.from("\ufeffŞahin"), "utf-8", "Şahin"],
    ["UTF-16LE", Buffer.from("\ufeffŞahin", "utf16le"), "utf-16le", "Şahin"],
    ["cp1254", iconv.encode("Şahin Gül, Işık", "cp1254"), "windows-1254", "Şahin Gül, Işık"],
    ["cp1252", iconv.encode("Müller, René", "cp1252"), "windows-1252", "Müller, René"],
    [
      "cp1252 in German with many umlauts",
      iconv.encode("Bär, Löwe, Äffchen, größe", "cp1252"),
      "windows-1252",
      "Bär, Löwe, Äffchen, größe",
    ],
    ["UTF-8 that a program made of cp1252", Buffer.from("Þahin Iþýk, Doðan"), "utf-8", "Şahin Işık, Doğan"],
    ["Icelandic", Buffer.from("Þór og Guðrún Ásdís"), "utf-8", "Þór og Guðrún Ásdís"],
  ])("in %s are read as people wrote them", (_name, bytes, encoding, text) => {
    const decoded = decode(bytes);
    expect({ text: textOf(decoded), encoding: decoded.encoding }).toEqual({ text, encoding });
  });

  test("are read in the encoding that a person chose", () => {
    expect(textOf(decode(iconv.encode("Şahin", "cp1254"), "windows-1252"))).toBe("Þahin");
  });
});

test("the golden example is read, with what was decided", async () => {
  const { reading, items } = await readFile(iconv.encode(GOLDEN, "cp1254"));
  expect(reading).toMatchObject({
    ...{ kind: "animals", format: "csv", encoding: "windows-1254", separator: ";", date_order: "dmy" },
    ...{ decimal_comma: true, weight_unit: null, key: "number", rows: 1, questions: [], missing: [] },
  });
  const meanings = ["id", "owner", "name", "species", "sex", "neutered", "birth", "weight", "microchip"];
  expect(reading?.columns.map(({ meaning }) => meaning)).toEqual(meanings);
  expect(items?.[0]).toEqual({
    ...{ line: 2, name: "Pamuk", isDeceased: false, owner: null, stock: null, faults: [] },
    animal: {
      externalId: "00417",
      updatedAt: null,
      patient: {
        ...{ name: "Pamuk", species: "Kedi", sex: "female_spayed", breed: null, date_of_birth: "2020-02-29" },
        ...{ weight_kg: 4.2, deceasedAt: null },
        identifiers: [{ identifier: "900085000123456", type: "microchip" }],
        owner: {
          externalId: expect.stringMatching(/^name:[0-9a-f]{32}$/) as string,
          name: "Örnek, Ada",
          phone: null,
          email: null,
        },
      },
    },
  });
});

test("an Excel file keeps leading zeros, complete chips, dates and the numbers of its rows", async () => {
  const file = sheetFile([
    ["Hasta listesi", null],
    ["Hasta No", "Hasta Adı", "Tür", "Doğum Tarihi", "Çip No", "Ağırlık (kg)", "Sahip", "Öldü"],
    ["007", "Pamuk", "Kedi", { serial: 43890 }, 900085000123456, 4.2, "Ada", false],
    [],
    [8, "Paşa & Co", "Köpek", 43890, "040098000123456", null, "Ada", true],
  ]);
  const { reading, items } = await readFile(file);
  expect(reading).toMatchObject({ format: "xlsx", sheet: "Hastalar", weight_unit: "kg", rows: 2, questions: [] });
  expect(
    items?.map(({ line, animal, isDeceased }) => [
      line,
      animal?.externalId,
      animal?.patient?.date_of_birth,
      isDeceased,
    ]),
  ).toEqual([
    [3, "007", "2020-02-29", false],
    [5, "8", "2020-02-29", true],
  ]);
  expect(items?.map(({ animal }) => animal?.patient?.identifiers[0]?.identifier)).toEqual([
    "900085000123456",
    "040098000123456",
  ]);
  expect(items?.[1]?.name).toBe("Paşa & Co");
});

test.each([
  ["semicolons", "Name;Species;Owner\nPamuk;cat;Ada"],
  ["tabs", "Name\tSpecies\tOwner\nPamuk\tcat\tAda"],
  ["bars", "Name|Species|Owner\nPamuk|cat|Ada"],
  ["the line of Excel", 'sep=;\nName;Species;Owner\n"Pamuk";cat;Ada'],
  ["a title above", "Patients of today\n\nName,Species,Owner\nPamuk,cat,Ada"],
  ["a mark at the end of each line", "Name,Species,Owner,\nPamuk,cat,Ada,\n"],
  ["old line ends", "Name;Species;Owner\rPamuk;cat;Ada\r"],
])("a file with %s is read", async (_name, content) => {
  expect(await animals(content)).toMatchObject([{ name: "Pamuk", species: "cat", owner: { name: "Ada" } }]);
});

test.each([
  [
    "VetData",
    "ClientAccountId,AccountId,FileNumber,Name,SpeciesCode,BreedCode,GenderVal,Weight,WeightUnitVal,DOB,DOD,Microchip,Tatoo",
    "owner_id id - name species breed sex weight weight_unit birth death microchip tattoo",
  ],
  [
    "OpenVPMS",
    "Customer Identifier,Customer Surname,Patient Identifier,Patient Name,Patient Species,Patient Breed,Patient Sex,Patient Date of Birth,Patient Weight,Patient Weight Units",
    "owner_id owner_last id name species breed sex birth weight weight_unit",
  ],
  [
    "BeeFree",
    "customer_identifier,client_id,is_active,name,species,gender,animal_neutered,date_of_birth",
    "- owner_id - name species sex neutered birth",
  ],
  ["OpenVPM", "pet name,species,breed,dob,sex,owner email,cell phone", "name species breed birth sex email phone"],
  [
    "German",
    "Nummer;Tierart;Rasse;Name;Geburtsdatum;Kastrationsstatus;Geschlecht;Chipnummer;Besitzer;Gewicht",
    "id species breed name birth neutered sex microchip owner weight",
  ],
  [
    "Turkish",
    "Hasta No;HASTA ADI;Türü;Irkı;Cinsiyeti;Doğum Tarihi;Mikroçip No;Hasta Sahibi;Cep Telefonu;Kart No",
    "id name species breed sex birth microchip owner phone card",
  ],
  [
    "French",
    "Nom de l'animal;Espèce;Race;Sexe;Date de naissance;Puce;Propriétaire;Téléphone",
    "name species breed sex birth microchip owner phone",
  ],
  [
    "Spanish",
    "Nombre de la mascota;Especie;Raza;Sexo;Fecha de nacimiento;Peso;Propietario;Correo",
    "name species breed sex birth weight owner email",
  ],
])("the columns of %s are recognized", (_name, headers, expected) => {
  const read = readColumns(headers.split(/[;,]/), undefined);
  expect(read.map(({ meaning }) => meaning ?? "-").join(" ")).toBe(expected);
});

test("equal and empty headers are reported and not guessed, and a person chooses", async () => {
  const content = "Name;Name;;Species;Owner\nAda;Pamuk;x;cat;Ada";
  const { reading } = await readFile(content);
  expect(reading?.columns.map(({ note }) => note)).toEqual([
    "equal_header",
    "equal_header",
    "empty_header",
    null,
    null,
  ]);
  expect(reading).toMatchObject({ questions: ["columns"], missing: ["name"] });
  const columns = [null, "name", null, "species", "owner"] as const;
  expect(await animals(content, { columns })).toMatchObject([{ name: "Pamuk" }]);
});

describe("dates", () => {
  test.each([
    [["13/4/2020", "1/2/2020"], "dmy", false],
    [["4/13/2020", "1/2/2020"], "mdy", false],
    [["29.02.2020", "1/2/2020"], "dmy", false],
    [["1/2/2020"], null, true],
    [["5/5/2020", "2020-01-02", ""], null, false],
    [["13/4/2020", "4/13/2020"], null, true],
  ])("%j have the order %s", (texts, order, needed) => {
    expect(decideDateOrder(texts)).toEqual({ order, needed });
  });

  test.each([
    ["2020-02-29", "2020-02-29"],
    ["2020-02-29 00:00:00", "2020-02-29"],
    ["2/3/2020 12:00:00 AM", "2020-03-02"],
    ["29.2.20", "2020-02-29"],
    ["1.1.98", "1998-01-01"],
    ["20200229", "2020-02-29"],
    ["43890", "2020-02-29"],
    ["29 Şub 2020", "2020-02-29"],
    ["1-Mär-19", "2019-03-01"],
    ["Jul 4, 2019", "2019-07-04"],
    ["4 juillet 2019", "2019-07-04"],
    ["0000-00-00", null],
    ["-", null],
    ["", null],
    ["31.02.2020", "not_a_date"],
    ["3 Y", "is_age"],
    ["2 yaş", "is_age"],
    ["yesterday", "not_a_date"],
    ["4/13/2020", "other_date_order"],
  ])("%j is %s", (text, expected) => {
    const read = readDay(text, "dmy", 2026);
    expect("code" in read ? read.code : read.day).toBe(expected);
  });

  test("an open order is asked for, and the answer counts", async () => {
    const content = "Name;Species;Owner;Birth\nPamuk;cat;Ada;3/4/2020";
    expect(await faults(content)).toEqual(["file date_order"]);
    expect(await animals(content, { date_order: "dmy" })).toMatchObject([{ date_of_birth: "2020-04-03" }]);
    expect(await animals(content, { date_order: "mdy" })).toMatchObject([{ date_of_birth: "2020-03-04" }]);
  });
});

describe("weights", () => {
  test.each([
    ["4,2 kg", true, 4.2],
    ["4.2", true, 4.2],
    ["3,5", false, 3.5],
    ["1.234,5 kg", true, 1234.5],
    ["0,250", true, 0.25],
    ["4200 g", false, 4.2],
    ["10 lb", false, 4.535924],
    ["9 lb 4 oz", false, 4.195729],
    ["0", false, null],
    ["-", false, null],
    ["heavy", false, "not_a_weight"],
    ["4 stone", false, "not_a_weight"],
  ])("%j is %s kg", (text, decimalComma, expected) => {
    const read = readWeight(text, { unit: "kg", decimalComma });
    expect("code" in read ? read.code : read.kg).toBe(expected);
  });

  test("the decimals of a file are decided by its numbers, else by its separator", () => {
    expect(usesDecimalComma(["4,25", "1.234"], false)).toBe(true);
    expect(usesDecimalComma(["4.25", "1,234"], true)).toBe(false);
    expect(usesDecimalComma(["4"], true)).toBe(true);
  });

  test("a unit that nobody names is asked for, and a column of units counts", async () => {
    const content = "Name;Species;Owner;Weight\nPamuk;cat;Ada;9";
    expect(await faults(content)).toEqual(["file weight_unit", "2 weight no_unit"]);
    expect(await animals(content, { weight_unit: "lb" })).toMatchObject([{ weight_kg: 4.082331 }]);
    const withUnits = "Name;Species;Owner;Weight;Weight Units\nPamuk;cat;Ada;4200;g";
    expect(await animals(withUnits)).toMatchObject([{ weight_kg: 4.2 }]);
  });
});

describe("the sex of an animal", () => {
  test.each([
    ["Dişi", "Evet", "Kedi", "female_spayed"],
    ["M", "N", "dog", "male"],
    ["M", "", "dog", "male"],
    ["männlich", "kastriert", "Hund", "male_neutered"],
    ["M^Y", "", "dog", "male_neutered"],
    ["", "", "Kater", "male"],
    ["", "ja", "Kater", "male_neutered"],
    ["", "", "Katze", null],
    ["", "", "Hündin", "female"],
    ["", "", "Wallach", "male_neutered"],
    ["U", "ja", "Hund", "unknown"],
    ["MN", "Hayır", "dog", "neutered sex_contradiction"],
    ["M", "maybe", "dog", "neutered unknown_neutered"],
    ["?x", "", "dog", "sex unknown_sex"],
  ])("%j with %j and %j is %s", (sex, neutered, species, expected) => {
    const read = readSexes(sex, neutered, species);
    expect("code" in read ? `${read.field} ${read.code}` : read.sex).toBe(expected);
  });

  test("a Turkish column has E and D, which another one does not", async () => {
    expect(await animals("Ad;Tür;Sahip;Cinsiyet\nA;kedi;Ada;E\nB;kedi;Ada;D")).toMatchObject([
      { sex: "male" },
      { sex: "female" },
    ]);
    expect(await faults("Name;Species;Owner;Sex\nA;cat;Ada;E")).toEqual(["2 sex unknown_sex"]);
  });
});

test("the same file without numbers has the same keys, and owners are known by name and phone", async () => {
  const rows = "Name;Species;Owner;Phone\nPamuk;Kedi;Ada Örnek;555\nPAMUK;cat;ADA ÖRNEK;555\nPamuk;cat;Ada Örnek;556";
  const { items } = await readFile(rows.replace("PAMUK", "Boncuk").replace(/Pamuk;cat/, "Zeytin;cat"));
  const owners = items?.map(({ animal }) => animal?.patient?.owner.externalId);
  expect(owners?.[0]).toBe(owners?.[1]);
  expect(new Set(owners).size).toBe(2);
  expect(await faults(rows)).toEqual(["2 name same_animal", "3 name same_animal", "4 name same_animal"]);
});

test("a line that repeats another one counts once", async () => {
  const { items } = await readFile("Id;Name;Species;Owner\n1;Pamuk;cat;Ada\n1;Pamuk;cat;Ada");
  expect(items?.map(({ animal, faults: found }) => [animal === null, found])).toEqual([
    [false, []],
    [true, []],
  ]);
});

test("the facts of an owner are those of the first line that has them, in every line", async () => {
  const { items } = await readFile(
    "Id;Name;Species;Owner Id;Owner;Phone\n1;A;cat;9;;\n2;B;cat;9;Ada;555\n3;C;cat;9;Adda;556",
  );
  const owners = items?.map(({ animal }) => animal?.patient?.owner);
  const ada = { externalId: "9", name: "Ada", phone: "555", email: null };
  expect(owners).toEqual([ada, ada, ada]);
});

test("a file of owners is read as such", async () => {
  const { reading, items } = await readFile(
    "Kunden Nr;Vorname;Nachname;Telefon;E-Mail\n7;Ada;Örnek;+49 1;ada@example.com",
  );
  expect(reading).toMatchObject({ kind: "owners", key: "number", questions: [] });
  expect(items).toMatchObject([
    {
      name: "Ada Örnek",
      owner: { externalId: "7", owner: { name: "Ada Örnek", phone: "+49 1", email: "ada@example.com" } },
    },
  ]);
});

const HEAD = "Id;Name;Species;Sex;Birth;Weight;Microchip;Owner\n";
const row = (
  changes: Partial<Record<"id" | "name" | "species" | "sex" | "birth" | "weight" | "chip" | "owner", string>>,
) => {
  const cells = {
    id: "1",
    name: "Pamuk",
    species: "cat",
    sex: "F",
    birth: "2020-02-29",
    weight: "4 kg",
    chip: "900085000123456",
    owner: "Ada",
  };
  return `${HEAD}${Object.values({ ...cells, ...changes }).join(";")}\n`;
};

/** Broken files, each with what is found. */
const BROKEN: readonly (readonly [string, string | Uint8Array, readonly string[]])[] = [
  ["an empty file", "", ["file empty_file"]],
  ["a file of blanks", " \n \n", ["file empty_file"]],
  ["a header alone", HEAD, ["file no_rows"]],
  ["a PDF", "%PDF-1.7\n1 0 obj", ["file not_a_table"]],
  ["a page", "<!DOCTYPE html><table><tr><td>Name</td></tr></table>", ["file not_a_table"]],
  ["JSON", '[{"name":"Pamuk"}]', ["file not_a_table"]],
  ["zeros", new Uint8Array(400), ["file not_a_table"]],
  ["an old Excel file", Buffer.from("d0cf11e0a1b11ae1", "hex"), ["file old_excel"]],
  ["a zip of something else", zipSync({ "a.txt": Buffer.from("x") }), ["file not_xlsx"]],
  ["half an Excel file", sheetFile([["Name"], ["x"]]).slice(0, 300), ["file damaged_xlsx"]],
  ["an Excel file without rows", sheetFile([]), ["file no_rows"]],
  ["an Excel file that unpacks to gigabytes", bomb(), ["file unpacks_too_large"]],
  ["an Excel file with a cell in the last corner", withPart("worksheets/sheet1", farCell), ["file too_complex"]],
  ["an Excel file with far too many rows", withPart("worksheets/sheet1", farRow), ["file too_complex"]],
  ["an Excel file with a long text in many cells", longTexts(), ["file too_complex"]],
  ["an Excel file with a damaged sheet", damagedSheet(), ["file damaged_xlsx"]],
  ["more than 50 MB", new Uint8Array(50 * 1024 * 1024 + 1), ["file too_large"]],
  ["more than 100000 lines", `${HEAD}${"1;a;cat;F;;;;Ada\n".repeat(100_001)}`, ["file too_many_rows"]],
  ["too many columns", `${"Name;".repeat(300)}x\n${"a;".repeat(300)}x`, ["file too_many_columns"]],
  ["a quote that never closes", `${HEAD}1;"Pamuk;cat;F;;;;Ada\n`, ["2 quote_open"]],
  ["a quote inside a cell", `${HEAD}1;"Pa"muk";cat;F;;;;Ada\n`, ["2 quote_inside"]],
  ["a quote in the middle", `${HEAD}1;Pa"muk";cat;F;;;;Ada\n`, ["2 quote_misplaced"]],
  [
    "a quote that takes in a complete line",
    `${HEAD}1;"Pamuk;cat;F;;;;Ada\n2;Boncuk;cat;F;;;;Ada"\n`,
    ["2 quote_swallows"],
  ],
  ["a quote that takes in a line", `${HEAD}1;"Pamuk;cat;F;;;;Ada\n2;Boncuk";cat;F;;;;Ada\n`, ["2 quote_swallows"]],
  ["no column for the species", "Name;Owner;Sex\nPamuk;Ada;F", ["file columns", "2 species missing"]],
  ["no column for the owner", "Name;Species\nPamuk;cat", ["file columns"]],
  ["a separator in a text", row({ name: "Pa;muk" }), ["2 too_many_cells"]],
  ["a line break in a text", `${HEAD}1;Pam\nuk;cat;F;;;;Ada\n`, ["2 too_few_cells", "3 too_few_cells"]],
  ["no name", row({ name: "" }), ["2 name missing"]],
  ["a name that is too long", row({ name: "x".repeat(201) }), ["2 name too_long"]],
  ["a number that is too long", row({ id: "9".repeat(65) }), ["2 id too_long"]],
  ["no species", row({ species: "" }), ["2 species missing"]],
  ["an unknown species", row({ species: "muhabbet k." }), ["2 species unknown_species"]],
  ["an unknown sex", row({ sex: "perhaps" }), ["2 sex unknown_sex"]],
  ["a day that does not exist", row({ birth: "31.02.2020" }), ["2 birth not_a_date"]],
  ["an age", row({ birth: "3 years" }), ["2 birth is_age"]],
  ["a birth in the future", row({ birth: "2030-01-01" }), ["2 birth out_of_range"]],
  ["a birth long ago", row({ birth: "1901-05-01" }), ["2 birth out_of_range"]],
  ["a weight in words", row({ weight: "heavy" }), ["2 weight not_a_weight"]],
  ["a weight in grams as kilograms", row({ weight: "42000 kg" }), ["2 weight out_of_range"]],
  ["a weight without a unit", row({ weight: "4" }), ["file weight_unit", "2 weight no_unit"]],
  ["a chip that a spreadsheet rounded", row({ chip: "9,85E+14" }), ["2 microchip lost_digits"]],
  ["a chip without its zero", row({ chip: "40098000123456" }), ["2 microchip lost_zero"]],
  ["a chip in words", row({ chip: "see passport!" }), ["2 microchip wrong_form"]],
  ["a number twice", `${row({})}1;Boncuk;cat;F;;;;Ada\n`, ["2 id same_number", "3 id same_number"]],
  [
    "a chip twice",
    `${row({})}2;Boncuk;cat;F;;;900085000123456;Ada\n`,
    ["2 microchip same_chip", "3 microchip same_chip"],
  ],
  [
    "day and month in two orders",
    `${row({ birth: "13/4/2020" })}2;Boncuk;cat;F;4/13/2020;;;Ada\n`,
    ["file date_order", "3 birth other_date_order"],
  ],
];

test.each(BROKEN)("%s has a sentence with its line and the remedy", async (_name, content, expected) => {
  const found = await faults(content);
  expect(found).toEqual(expected);
  for (const fault of found) {
    const code = fault.split(" ").at(-1) ?? "";
    if (["columns", "date_order", "weight_unit"].includes(code)) continue;
    for (const language of ["en", "tr"] as const) {
      const words = faultWords({ code, value: "v" }, language);
      expect(words.what).not.toMatch(/\{|kabul edilmedi|not accepted/);
      expect(words.remedy).toMatch(/\.$/);
    }
  }
});

test("there are forty broken files", () => {
  expect(BROKEN.length).toBeGreaterThanOrEqual(40);
});

test("the sentence of a fault names the column and the value in both languages", () => {
  const fault = { field: "species", code: "unknown_species", value: "$& muhabbet k." };
  expect(`${fieldWord(fault.field, "en")} ${faultWords(fault, "en").what}`).toBe(
    "Species “$& muhabbet k.” is not known",
  );
  expect(`${fieldWord(fault.field, "tr")} ${faultWords(fault, "tr").what}`).toBe("Tür “$& muhabbet k.” bilinmiyor");
});

test("what owners told stays out of the faults", async () => {
  const { items } = await readFile(`Name;Species;Owner;Phone\nPamuk;cat;${"Ada".repeat(90)};${"5".repeat(50)}\n`);
  expect(items?.[0]?.faults).toEqual([
    { field: "owner", code: "too_long", value: "" },
    { field: "phone", code: "too_long", value: "" },
  ]);
});

/** An archive whose list promises more than it may unpack to. */
function farCell(sheet: string): string {
  return sheet.replace("</sheetData>", '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>');
}

function farRow(sheet: string): string {
  return sheet.replace("</sheetData>", `<row r="99999999999"></row></sheetData>`);
}

/** Makes a file of which one part is changed. */
function withPart(name: string, change: (part: string) => string): Uint8Array {
  const parts = unzipSync(sheetFile([["Name"], ["x"]]));
  const path = `xl/${name}.xml`;
  return zipSync({ ...parts, [path]: strToU8(change(strFromU8(parts[path] ?? new Uint8Array(0)))) });
}

/** Two hundred cells with the same text of 2 MB, which the file has once. */
function longTexts(): Uint8Array {
  const relations = "xl/_rels/workbook.xml.rels";
  const rows = Array.from(
    { length: 200 },
    (_, index) => `<row r="${index + 3}"><c r="A${index + 3}" t="s"><v>0</v></c></row>`,
  );
  const parts = unzipSync(
    withPart("worksheets/sheet1", (sheet) => sheet.replace("</sheetData>", `${rows.join("")}</sheetData>`)),
  );
  const kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings";
  const relation = `<Relationship Id="rId3" Type="${kind}" Target="sharedStrings.xml"/></Relationships>`;
  const main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
  return zipSync({
    ...parts,
    [relations]: strToU8(strFromU8(parts[relations] ?? new Uint8Array(0)).replace("</Relationships>", relation)),
    "xl/sharedStrings.xml": strToU8(`<sst xmlns="${main}"><si><t>${"A".repeat(2_000_000)}</t></si></sst>`),
  });
}

/** A part of it does not unpack. */
function damagedSheet(): Uint8Array {
  const bytes = sheetFile(Array.from({ length: 200 }, (_, index) => [`Name ${index * 7919}`]));
  const name = Buffer.from(bytes).indexOf("xl/worksheets/sheet1.xml");
  return bytes.fill(0xff, name + 60, name + 200);
}

function bomb(): Uint8Array {
  const bytes = sheetFile([["Name"], ["x"]]);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at + 4 < bytes.length; at += 1) {
    // The header of a part in the central directory has the unpacked size at its byte 24.
    if (view.getUint32(at, true) === 0x02014b50) view.setUint32(at + 24, 150 * 1024 * 1024, true);
  }
  return bytes;
}
