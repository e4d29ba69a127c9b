import { framed, type Hl7Case, header, inUtf8 } from "./hl7-fixtures.ts";

// HL7 fixtures of Boule, EDAN, Siemens and BioSystems: documented layouts with invented names, numbers and values.

/** OBX of an Exigo: every row is final with status P, and `""` stands for nothing. */
function exigoRow(number: number, code: string, value: string, unit = "", range = "", mark = '""'): string {
  const isText = unit === "";
  const fields = ["OBX", number, isText ? "ST" : "NM", code, "", value, unit, range, isText ? "" : mark];
  return [...fields, "", "", "P"].join("|");
}

function exigo(id: string, typed: string, ...rows: readonly string[]): string {
  return framed(
    header({ 3: "BM850^HL7MW", 10: id, 12: "2.7", 18: "UNICODE UTF-8" }),
    "SFT|Boule Medical AB|r1|E|r1",
    `OBR|1||212|${typed}${"|".repeat(18)}202611211130`,
    'NTE|1||""',
    exigoRow(1, "ID2", '""'),
    exigoRow(2, "PROF", "DOG (3POP)"),
    exigoRow(3, "METH", "OT"),
    exigoRow(4, "OPID", '""'),
    ...rows,
  );
}

const bouleExigo: readonly Hl7Case[] = [
  {
    name: "dog-three-parts",
    wire: exigo(
      "BM_7",
      "Zeytin",
      exigoRow(5, "RBC", "6.31", "10*12/L", "5.50-8.50"),
      exigoRow(6, "MCV", "66.2", "fL", "60.0-72.0"),
      exigoRow(7, "HCT", "41.8", "%", "37.0-55.0"),
      exigoRow(8, "RDWR", "14.1", "%", "12.0-17.5"),
      exigoRow(9, "RDWA", "44.9", "fL", "35.0-65.0"),
      exigoRow(10, "PLT", "241", "10*9/L", "200-500"),
      exigoRow(11, "HGB", "14.9", "g/dL", "12.0-18.0"),
      exigoRow(12, "WBC", "10.4", "10*9/L", "6.0-17.0"),
      exigoRow(13, "LYMA", "2.2", "10*9/L", "0.9-5.0"),
      exigoRow(14, "MONA", "0.7", "10*9/L", "0.3-1.5"),
      exigoRow(15, "GRNA", "7.5", "10*9/L", "3.5-12.0"),
      exigoRow(16, "LYMR", "21.2", "%", "0.0-99.9"),
      exigoRow(17, "MONR", "6.7", "%", "0.0-99.9"),
      exigoRow(18, "GRNR", "72.1", "%", "0.0-99.9"),
      exigoRow(19, "EOSA", '""', "10*9/L", "0.1-1.5"),
      exigoRow(20, "EOSR", '""', "%", "0.1-99.9"),
    ),
    patient: "dog",
  },
  {
    // The staff typed the identifier. HH is a trouble of the hemoglobin channel; alert limits and histograms are no results.
    name: "marks-of-doubt",
    wire: exigo(
      "BM_8",
      "4711",
      exigoRow(5, "HGB", "14.9", "g/dL", "12.0-18.0", "HH"),
      exigoRow(6, "MCHC", "35.6", "g/dL", "32.0-38.5", "HH"),
      exigoRow(7, "WBC", "120.5", "10*9/L", "6.0-17.0", "MH"),
      exigoRow(8, "PLT", "12", "10*9/L", "200-500", "ML~TU"),
      exigoRow(9, "RBC", "6.31", "10*12/L", "5.50-8.50"),
      "OBX|10|NM|MCHCAL|||g/dL|30.0-40.0||||P",
      "OBX|11|ED|HGRAM||^Image^JSON^Base64^eyJ4IjpbMV19||||||P",
    ),
    patient: "dog",
  },
];

/** OBX of an H30: OBX-3 is 0, OBX-12 the value before rounding. */
function h30Row(name: string, value: string, unit: string, range: string, mark: "0" | "1" | "2"): string {
  const judged = { "0": "", "1": "|H", "2": "|L" }[mark];
  return inUtf8(`OBX||NM|0|${name}|${value}|${unit}|${range}|${mark}||0||${value}004^${unit}${judged}`);
}

function h30(kind: string, ...rows: readonly string[]): string {
  return framed(
    header({ 3: "H30_Pro^1207", 4: "EDANLAB", 10: "88", 12: "2.4", 16: "0", 18: "UTF8" }),
    "PID|41||4711^0||Zeytin|||0|0",
    `OBR||61||EDANLAB^H30Pro^${kind}|0|General|20261121113015||0||1|^Mild Anemia@Macrocytes||20261121112500||||vet1|0`,
    ...rows,
  );
}

const h30Rows = [
  h30Row("WBC", "18.21", "10\\S\\3/μL", "6.00-17.00", "1"),
  h30Row("NEUT#", "13.04", "10\\S\\3/μL", "3.00-12.00", "1"),
  h30Row("NEUT%", "71.6", "%", "60.0-77.0", "0"),
  h30Row("MXD#", "1.02", "10\\S\\3/μL", "0.10-1.80", "0"),
  h30Row("RBC", "4.97", "10\\S\\6/μL", "5.50-8.50", "2"),
  h30Row("RDW_CV", "14.8", "%", "11.0-17.0", "0"),
];

const edanH30: readonly Hl7Case[] = [
  { name: "one-sample", wire: h30("Sample", ...h30Rows), patient: "dog" },
  { name: "not-a-sample", wire: h30("Background", ...h30Rows), patient: null },
];

/** OBX of an i15: OBX-3 is 0 or 1, OBX-7 `low^high`, OBX-8 an arrow, OBX-13 the check. */
function i15Row(name: string, value: string, unit: string, range: string, mark = "", check = "Pass"): string {
  const kind = name.startsWith("c") || name.includes("(") ? "1" : "0";
  return inUtf8(`OBX||NM|${kind}|${name}|${value}|${unit}|${range}|${mark}|||F||${check}|20261121113015||vet1`);
}

const edanI15: readonly Hl7Case[] = [
  {
    name: "blood-gas",
    wire: framed(
      header({ 3: "EDAN", 4: "i15^2301", 5: "LIS", 10: "", 12: "2.4", 16: "0", 18: "UTF8" }),
      "PID|1|4711|||Zeytin",
      "OBR|1||61|EDAN^i15|||20261121113015||||||||Venous|vet1",
      i15Row("pH", "7.312", "", "7.350^7.450", "↓"),
      i15Row("pCO2", "38.2", "mmHg", "33.0^51.0"),
      i15Row("Na+", "148", "mmol/L", "140^153"),
      i15Row("Ca++", "1.31", "mmol/L", "1.16^1.40"),
      i15Row("Glu", "6.9", "mmol/L", "3.3^6.4", "↑"),
      i15Row("Lac", "2.1", "mmol/L", "0.5^2.5", "", "Fail"),
      i15Row("cH+", "48.8", "nmol/L", "", ""),
      i15Row("tHb(est)", "13.4", "g/dL", "", ""),
    ),
    patient: "dog",
  },
];

/** OBX of a Clinitek: words in OBX-5, the time in OBX-19. */
function pad(number: number, code: string, value: string, unit = ""): string {
  return `OBX|${number}|ST|${code}||${value}|${unit}|||||F||||||||202611211130`;
}

const pads = (
  [
    ["GLU", "Negative"],
    ["BLO", "Trace"],
    ["PRO", "2+"],
    ["SG", "<=1.005"],
    ["pH", "6.5"],
  ] as const
).map(([code, value], index) => pad(index + 1, code, value));

function clinitek(...segments: readonly string[]): string {
  return framed(header({ 3: "Clinitek Status", 10: "636796458870000417", 12: "2.4", 18: "" }), ...segments);
}

const siemensClinitek: readonly Hl7Case[] = [
  {
    name: "patient-strip",
    wire: clinitek(
      "PID|1||4711||4711",
      "PV1|1",
      "OBR|1||212|Multistix 10 SG|||||||||||UR^^^^^^P",
      ...pads,
      pad(6, "URO", "3.2", "umol/L"),
      pad(7, "COL", "Yellow"),
      pad(8, "CLA", "Clear"),
    ),
    patient: "dog",
  },
  {
    name: "control-strip",
    wire: clinitek(
      "OBR|1||213|Multistix 10 SG|||||||||||ORH^^^^^^Q",
      "NTE|1||QCName:Negative QCLevel:1 QCLot:7A2 QCExpiry:202712 QCResult:PASS",
      ...pads.flatMap((row) => [row, "NTE|1||QCRResult:P"]),
    ),
    patient: null,
  },
];

/** OBR, ORC and OBX of one test of a BA. */
function method(name: string, value: string, unit: string, time: string): string[] {
  const [coded, unitCoded] = [name, unit].map((text) => `${text}^${text}^A400`);
  return [
    `OBR||""||${coded}`,
    "ORC|OK||||CM||||20261121113100",
    `OBX|1|NM|${coded}||${value}|${unitCoded}||NONE|||F|||||ADMIN||A400^Biosystems~834000123^Biosystems|${time}`,
  ];
}

function biosystems(type: string, ...segments: readonly string[]): string {
  const address = { 3: "BA200", 4: "Biosystems", 5: "Host", 6: "Host provider" };
  const rest = { 9: type, 10: "f3b1c2d4-0000-4000-8000-000000000001", 12: "2.5.1", 15: "ER", 16: "AL" };
  return framed(header({ ...address, ...rest, 18: "UNICODE UTF-8", 21: "LAB-29^IHE" }), ...segments);
}

const biosystemsBa: readonly Hl7Case[] = [
  {
    name: "one-sample",
    wire: biosystems(
      "OUL^R22^OUL_R22",
      "SPM|1|Zeytin A||SER|||||||P",
      ...method("ALT-GPT", "48.5633411", "U/L", "20261121112540"),
      ...method("CREATININE", "1.135651588", "mg/dL", "20261121112332"),
      ...method("IRON FERROZINE", "88.75784826", "\\Z03BC\\g/dL", "20261121112511"),
      ...method("UREA-BUN-UV", "24.036623", "mg/dL", "20261121112323"),
      ...method("OWN METHOD", "1.5", "U/L", "20261121112941"),
    ),
    patient: "dog",
  },
  {
    name: "control",
    wire: biosystems(
      "OUL^R22^OUL_R22",
      "SPM|1|Serum I||SER|||||||Q",
      ...method("ALT-GPT", "41.1", "U/L", "20261121082540"),
    ),
    patient: null,
  },
];

const ichromaRow = (number: number, value: string) => `OBX|${number}|ST|PCT^PCT^L||${value}||||||R|||20261121113015`;

const ichromaIii: readonly Hl7Case[] = [
  {
    name: "two-units",
    wire: framed(
      header({ 3: "1", 4: "ichroma3", 9: "OUL^R24^OUL_R24", 10: "12", 11: "T", 12: "2.5.1" }),
      "PID|1|4711",
      "OBR|1||12|PCT|||20261121113015",
      ichromaRow(1, "0.87 ng/mL "),
      ichromaRow(2, "0.87 ug/L "),
    ),
    patient: "dog",
  },
];

export const modelFolders: Readonly<Record<string, readonly Hl7Case[]>> = {
  "boule-exigo": bouleExigo,
  "edan-h30": edanH30,
  "edan-i15": edanI15,
  "siemens-clinitek": siemensClinitek,
  "biosystems-ba": biosystemsBa,
  "ichroma-iii": ichromaIii,
};
