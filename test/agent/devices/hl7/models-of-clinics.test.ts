import { describe, expect, test } from "vitest";
import type { Reading } from "../../../../agent/report/report.ts";
import { readWith } from "../../protocols/hl7/segments.ts";
import { only, reportsOf } from "../../records.ts";
import { hl7Device } from "../../../support/clinic/profiles.ts";

// Models of veterinary clinics that send HL7, each as its maker's manual or another program's parser has it. The animals are made up.
// Unverified: no capture of these models is public, so the order of their fields is that of a human sibling, unless the title says more.

const PATIENT = "PID|1||7001^^^^MR||Karabas||20210304|M";

/** Reads a message: the header's fields 3 and 4, the other segments, and rows as `OBX-3 | OBX-4 | OBX-5 | OBX-6 | OBX-8`. */
function readModel(profile: string, sender: string, segments: readonly string[], rows: readonly string[]): Reading {
  const observations = rows.map((row, index) => {
    const [code, subId, value, unit, flag] = row.split("|").map((text) => text.trim());
    return `OBX|${index + 1}|${/^[\d.,<>=-]+$/.test(value ?? "") ? "NM" : "ST"}|${code}|${subId}|${value}|${unit}||${flag ?? ""}|||F`;
  });
  const header = `MSH|^~\\&|${sender}|||20261121093015||ORU^R01|12|P|2.3.1||||||UTF-8`;
  return readWith(hl7Device(profile), header, ...segments, ...observations);
}

/** Returns analyte, value or words, unit and flag of each row. */
function rowsOf(reading: Reading): string[] {
  return reportsOf(reading).flatMap(({ rows }) =>
    rows.map(({ code, comparator, value, text, ordinal, unit, device_flag }) =>
      [code, value === null || ordinal ? text : `${comparator ?? ""}${value}`, unit, device_flag]
        .filter(Boolean)
        .join(" "),
    ),
  );
}

describe("Mindray BC-5000Vet (manual of the human BC-5000; species by another program's parser of a BC-30Vet)", () => {
  const segments = [PATIENT, "PV1|1|Dog", "OBR|1||7001|00001^Automated Count^99MRC|||20261121092815"];
  const reading = readModel("mindray-bc", "|", segments, [
    "08001^Take Mode^99MRC | | O | |",
    "6690-2^WBC^LN | | 12.31 | 10*9/L | N",
    "789-8^RBC^LN | | 6.91 | 10*12/L | N",
    "718-7^HGB^LN | | 158 | g/L | N",
    "10002^PCT^99MRC | | 0.89 | mL/L | L~N",
    "26477-0^*ALY#^LN | | 0.05 | 10*9/L |",
    "777-3^PLT^LN | | **** | 10*9/L |",
  ]);

  test("each value arrives, and one in mL/L is a plateletcrit", () => {
    expect(rowsOf(reading)).toEqual([
      "WBC 12.31 10*9/L N",
      "RBC 6.91 10*12/L N",
      "HGB 158 g/L N",
      "PCT 0.89 mL/L L N",
      "ALY 0.05 10*9/L",
    ]);
    expect(only(reportsOf(reading))).toMatchObject({
      species: "dog",
      identifier: "7001",
      acquired_at: "2026-11-21T06:28:15.000Z",
      notReported: [{ analyte: "PLT", code: "no_value", text: "****" }],
    });
  });
});

describe("makers whose name is in MSH-3 and whose model is in MSH-4", () => {
  test.each([
    ["URIT 3000Vet Plus (document of a URIT-5160)", "generic-hl7", "URIT|3000Vet Plus", "3000Vet Plus"],
    ["Genrui KT-6400Vet (parser of a KT-60)", "generic-hl7", "Genrui|KT-6400Vet", "KT-6400Vet"],
    ["MNCHIP Celercare V5 (unverified)", "generic-hl7", "MNCHIP|Celercare V5", "Celercare V5"],
    ["Rayto RT-7600Vet (unverified)", "generic-hl7", "RT-7600Vet|Rayto", "RT-7600Vet"],
  ])("%s is named by its model", (_, profile, sender, name) => {
    const reading = readModel(
      profile,
      sender,
      [PATIENT, "OBR|1||7001"],
      [
        "Lym# | | 2.3 | 10^9/L | N",
        "GR% | | 75.0 | % | N",
        "P_LCR | | 31.6 | % |",
        "RDWsd | | 36.1 | fL |",
        "PDWsd | | 11.1 | fL |",
        "Eos# | | ---- | 10^9/L |",
      ],
    );
    expect(only(reportsOf(reading)).device_name).toBe(name);
    expect(rowsOf(reading)).toEqual(["LYM 2.3 10*9/L N", "GRAP 75 % N", "PLCR 31.6 %", "RDWSD 36.1 fL", "PDW 11.1 fL"]);
  });
});

test("a URIT-8031Vet that writes its maker before its model is not refused (unverified)", () => {
  expect(
    rowsOf(readModel("urit-chem", "URIT|URIT-8031Vet", [PATIENT, "OBR|1||7001"], ["ALT | ALT | 48.5 | U/I | N"])),
  ).toEqual(["ALT 48.5 U/L N"]);
});

test.each([
  ["Heska Element HT5 in PID-10 (unverified)", "PID|1||7001||Aydin^Karabas||20210304|M||Canine", [], "dog"],
  ["Zybio Z3 Vet in PV1-2, as Mindray (unverified)", PATIENT, ["PV1|1|Feline"], "cat"],
  ["two species", "PID|1||7001||Aydin^Karabas||20210304|M||Canine", ["PV1|1|Feline"], null],
  ["a human model with class and race", "PID|1||7001||Karabas||20210304|M||W", ["PV1|1|O"], null],
])("species: %s", (_, patient, visit, species) => {
  const reading = readModel("generic-hl7", "HT5|Heska", [patient, ...visit, "OBR|1||7001"], ["WBC | | 9.8 | K/µL | N"]);
  expect(only(reportsOf(reading)).species).toBe(species);
  expect(rowsOf(reading)).toEqual(["WBC 9.8 10*3/uL N"]);
});

test("Accent M320 (another program's parser): methods after the names", () => {
  const rows = [
    "ALAT IIGEN | | 48 | U/L |",
    "CREA ENZ | | 1.1 | mg/dL |",
    "CA ARS | | 9.8 | mg/dL |",
    "BIL TOTAL | | 0,3 | mg/dl |",
  ];
  expect(rowsOf(readModel("generic-hl7", "M320|PZ", [PATIENT, "OBR|1||7001"], rows))).toEqual([
    "ALT 48 U/L",
    "CREA 1.1 mg/dL",
    "CA 9.8 mg/dL",
    "TBIL 0.3 mg/dL",
  ]);
});

test("MNCHIP PointCare (another program's parser): the name alone is in OBX-4", () => {
  const rows = [" | ALB | 34.1 | g/L | N", " | TBA | <1.0 | μmol/L | L", " | CRE | 88 | umol/L | N"];
  const pid = "PID|1|7001||7001|Dog|Karabas|Aydin|M|20210304";
  const reading = readModel("celercare", "MNCHIP|PointCare V3", [pid, "OBR|1|7001"], rows);
  expect(rowsOf(reading)).toEqual(["ALB 34.1 g/L N", "BA <1 umol/L L", "CREA 88 umol/L N"]);
  expect(only(reportsOf(reading))).toMatchObject({ species: "dog", patient_hint: { name: "Karabas" } });
});

test("Samsung PT10V, Skyla HB1 and Nova (unverified): calculated rows with a mark, ratios and both names of an enzyme", () => {
  const rows = [
    "*GLOB | | 3.1 | g/dL | N",
    "BUN/CREA Ratio | | 16 | |",
    "ALT (GPT) | | 48 | U/l |",
    "Alb. | | 3,4 | g/dl |",
    "T.Bil | | 0.3 | mg/dl |",
    "r-GT | | 5 | IU/L |",
    "HCT(%) | | 41 | % |",
    "BE-ECF | | -2.1 | mmol/L |",
  ];
  expect(rowsOf(readModel("generic-hl7", "PT10V|SAMSUNG", [PATIENT, "OBR|1||7001"], rows)).toSorted()).toEqual(
    [
      "GLOB 3.1 g/dL N",
      "BUNCR 16 {ratio}",
      "ALT 48 U/L",
      "ALB 3.4 g/dL",
      "TBIL 0.3 mg/dL",
      "GGT 5 U/L",
      "HCT 41 %",
      "BEECF -2.1 mmol/L",
    ].toSorted(),
  );
});

describe("urine strips: URIT-50Vet, Urisys 1100, Clinitek (printed forms of their manuals)", () => {
  const strip = (...rows: readonly string[]) =>
    rowsOf(readModel("generic-hl7", "URIT-50Vet|URIT", [PATIENT, "OBR|1||7001|||||||||||Urine"], rows));

  test("the grade beside its amount is the rank, and a dash is negative", () => {
    const reading = readModel(
      "generic-hl7",
      "URIT-50Vet|URIT",
      [PATIENT, "OBR|1||7001|||||||||||Urine"],
      [
        "LEU | | 2+ 125 | Leu/uL |",
        "NIT | | - | |",
        "PRO | | 2+ 100 mg/dL | |",
        "BLD | | 3+(200) | |",
        "KET | | +/- | |",
        "URO | | Normal 3.4 | umol/L |",
        "GLU | | - 0 | mmol/L |",
        "BIL | | SMALL | |",
      ],
    );
    const ranks = reportsOf(reading).flatMap(({ rows }) => rows.map(({ code, value, text }) => [code, value, text]));
    expect(ranks).toEqual([
      ["ULEU", 2, "2+ 125"],
      ["UNIT", 0, "-"],
      ["UPRO", 2, "2+ 100 mg/dL"],
      ["UBLD", 3, "3+(200)"],
      ["UKET", 0.5, "+/-"],
      ["UUBG", 0, "Normal 3.4"],
      ["UGLU", 0, "- 0"],
      ["UBIL", 1, "SMALL"],
    ]);
  });

  test("two dashes are a placeholder, and two grades are no rank", () => {
    expect(strip("NIT | | -- | |", "LEU | | 1+ 2+ | |", "PRO | | 2+ | |")).toEqual(["ULEU 1+ 2+", "UPRO 2+"]);
  });

  test("negative in another language is rank 0", () => {
    const texts = ["NEG(-)", "Negatif", "阴性", "(-)"];
    for (const text of texts) {
      const reading = readModel(
        "generic-hl7",
        "URIT-50Vet|URIT",
        [PATIENT, "OBR|1||7001|||||||||||Urine"],
        [`KET | | ${text} | |`],
      );
      expect(only(only(reportsOf(reading)).rows)).toMatchObject({ code: "UKET", value: 0, text });
    }
  });
});

test("a name's unit is that of the value, and only a unit of the analyte makes it that analyte", () => {
  const rows = [
    "HGB (g/L) | | 158 | |",
    "PDW (%) | | 36.1 | |",
    "HCT (%) | | 0.41 | L/L |",
    "PT (INR) | | 1.1 | |",
    "PCT (ng/mL) | | 0.2 | |",
  ];
  const reading = readModel("generic-hl7", "PT10V|SAMSUNG", [PATIENT, "OBR|1||7001"], rows);
  expect(rowsOf(reading).toSorted()).toEqual(
    ["HGB 158 g/L", "HCT 0.41 L/L", "PCT (ng/mL) 0.2 ng/mL", "PDWCV 36.1 %", "PT (INR) 1.1 INR"].toSorted(),
  );
});

test("a chemistry analyzer's index of turbidity makes no urine of its sample", () => {
  const rows = ["AST | | 48 | U/L |", "Turbidity | | 12 | |"];
  const { rows: found } = only(reportsOf(readModel("generic-hl7", "SK300|SK", [PATIENT, "OBR|1||7001"], rows)));
  expect(found.map(({ code, codeSource }) => [code, codeSource])).toEqual([
    ["AST", undefined],
    ["Turbidity", "device"],
  ]);
});

test("calcium by its ion alone may be the total", () => {
  const rows = ["Ca2+ | | 2.5 | mmol/L |"];
  expect(rowsOf(readModel("generic-hl7", "SK300|SK", [PATIENT, "OBR|1||7001"], rows))).toEqual(["Ca2+ 2.5 mmol/L"]);
});

test.each(["Sonuç yok", "Not read", "nicht messbar", "No strip"])("%s is not a negative pad", (text) => {
  const strip = [PATIENT, "OBR|1||7001|||||||||||Urine"];
  const reading = readModel("generic-hl7", "URIT-50Vet|URIT", strip, [`KET | | ${text} | |`]);
  expect(only(only(reportsOf(reading)).rows)).toMatchObject({ code: "UKET", value: null, text });
});

test("pictures are kept, whatever their type, and are neither a value nor a comment", () => {
  const picture = "iVBORw0KGgo".repeat(30);
  const rows = ["WBC | | 12.3 | 10^9/L |", `WBCHistogram | | ${picture} | |`, "WBCHIST | | 000102 | |"];
  const report = only(reportsOf(readModel("generic-hl7", "KT-6400Vet|Genrui", [PATIENT, "OBR|1||7001"], rows)));
  expect(report).toMatchObject({
    rows: [{ code: "WBC" }],
    comments: [],
    leftOut: [],
    notes: expect.arrayContaining(["kept in the message, not read: WBCHistogram, WBCHIST"]) as string[],
  });
});

test("a background count is no animal's, and no control's", () => {
  const reading = readModel(
    "generic-hl7",
    "KT-6400Vet|Genrui",
    ["PID|1", "OBR|1||Background"],
    ["WBC | | 0.0 | 10^9/L |"],
  );
  expect(reading).toEqual({ is: "not-for-patients", reason: "sample Background is a control: not for a patient" });
});

test("a header whose escape mark is escaped is read", () => {
  const header = "MSH|^~\\\\&|InSight|Woodley|||20261121093015||ORU^R01|12|P|2.3.1";
  const obx = "OBX|1|NM|WBC||12.3|10^9/L||N|||F";
  expect(rowsOf(readWith(hl7Device("generic-hl7"), header, PATIENT, "OBR|1||7001", obx))).toEqual([
    "WBC 12.3 10*9/L N",
  ]);
});
