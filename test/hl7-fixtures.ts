// HL7 fixtures in the notation of bytes(): documented layouts with invented data. make-fixtures.ts writes them.

/** Fixture of a profile, with the patient of its Reports. */
export interface Hl7Case {
  readonly name: string;
  readonly wire: string;
  readonly patient: "dog" | "cat" | null;
}

/** Encodes a message in a frame, each segment ended by CR. */
export function framed(...segments: readonly string[]): string {
  return `<VT>${segments.map((segment) => `${segment}<CR>`).join("")}<FS><CR>`;
}

/** Encodes a header by field numbers. */
export function header(fields: Readonly<Record<number, string>>): string {
  const values: Readonly<Record<number, string>> = {
    7: "20261121113100",
    9: "ORU^R01",
    10: "1",
    11: "P",
    12: "2.3.1",
    18: "UNICODE",
    ...fields,
  };
  const last = Math.max(...Object.keys(values).map(Number));
  return ["MSH|^~\\&", ...Array.from({ length: last - 2 }, (_, index) => values[index + 3] ?? "")].join("|");
}

/** OBX: number, OBX-2, OBX-3, value, unit, range, flags. */
export function obx(
  number: number,
  type: string,
  code: string,
  value: string,
  unit = "",
  range = "",
  flag = "",
): string {
  return `OBX|${number}|${type}|${code}||${value}|${unit}|${range}|${flag}|||F`;
}

/** Encodes messages, each in its frame. */
export function frames(...messages: readonly (readonly string[])[]): string {
  return messages.map((segments) => framed(...segments)).join("");
}

/** Encodes UTF-8 text in the notation of bytes(), one character per byte. */
export function inUtf8(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

const DONE = "20261121113015";
const PATIENT = "PID|1||4711^^^^MR||Aydin^Zeytin||20190504|F";
const observed = (sample: string, service = "00001^Automated Count^99MRC") =>
  `OBR|1||${sample}|${service}|||${DONE}||||||||||||||||||HM`;

const hematology = [
  obx(1, "NM", "6690-2^WBC^LN", "9.81", "10*9/L", "6.00-17.00", "N"),
  obx(2, "NM", "789-8^RBC^LN", "6.72", "10*12/L", "5.50-8.50", "N"),
  obx(3, "NM", "718-7^HGB^LN", "15.1", "g/dL", "12.0-18.0", "N"),
  obx(4, "NM", "777-3^PLT^LN", "118", "10*9/L", "200-500", "L"),
];

const chemistry = [
  obx(1, "NM", "1742-6^ALT^LN", "143", "U/L", "10-118", "H"),
  obx(2, "NM", "2160-0^CREA^LN", "1.4", "mg/dL", "0.3-1.4", "N"),
];

const lab = (fields: Readonly<Record<number, string>>) => header({ 3: "LAB-1", 4: "Vendor", ...fields });
const hema = (fields: Readonly<Record<number, string>>) => header({ 3: "HEMA-1", 4: "Vendor", ...fields });

const generic: readonly Hl7Case[] = [
  {
    name: "oru-r01",
    wire: framed(hema({ 10: "20261121-7" }), PATIENT, "PV1|1", observed("S-2001"), ...hematology),
    patient: "dog",
  },
  {
    // Order before specimen; the second specimen is a control.
    name: "oul-r24",
    wire: framed(
      lab({ 9: "OUL^R24^OUL_R24", 10: "24", 12: "2.5.1", 15: "NE", 16: "AL", 18: "UNICODE UTF-8" }),
      "PID|1||4711^^^Clinic^MR||Aydin^Zeytin||20190504|F|||||||||||||||||||||||||||CANINE^Canine|MIX^Mixed breed",
      `OBR|1|P-77||CHEM^Chemistry^99LAB|||${DONE}`,
      ...chemistry,
      "OBX|3|NM|3141-9^Body weight^LN||17.4|kg|||||F",
      "SPM|1|S-2002||SER^Serum^HL70487|||||||P||||||20261121110000",
      "OBR|2|P-78||CHEM^Chemistry^99LAB",
      obx(1, "NM", "1742-6^ALT^LN", "99", "U/L"),
      "SPM|2|CTRL-1||SER^Serum^HL70487|||||||Q",
    ),
    patient: "dog",
  },
  {
    // Specimen before its orders; the second specimen is urine.
    name: "oul-r22",
    wire: framed(
      lab({ 9: "OUL^R22^OUL_R22", 10: "22", 12: "2.5.1", 15: "AL", 16: "NE", 18: "UNICODE UTF-8" }),
      "PID|1||4711^^^Clinic^MR||^Zeytin|||FS|||||||||||||||||||||||||||CANINE^Canine",
      "SPM|1|S-2003||SER^Serum^HL70487|||||||P||||||20261121110000",
      "SAC|||C-2003",
      "OBR|1|||CHEM^Chemistry^99LAB",
      `${obx(1, "NM", "1742-6^ALT^LN", "52", "U/L", "10-118", "N")}|||${DONE}`,
      "SPM|2|S-2004||UR^Urine^HL70487|||||||P||||||20261121110500",
      "OBR|2|||UA^Urinalysis^99LAB",
      obx(1, "ST", "^PRO", "1+"),
      obx(2, "NM", "2965-2^SG^LN", "1.030"),
    ),
    patient: "dog",
  },
  {
    name: "oru-r30",
    wire: framed(
      lab({ 9: "ORU^R30^ORU_R30", 10: "30", 12: "2.5" }),
      "PID|1||4711",
      "ORC|NW",
      `OBR|1|||GAS^Blood gas^99LAB|||${DONE}`,
      obx(1, "NM", "2951-2^Na^LN", "147", "mmol/L"),
      obx(2, "NM", "6298-4^K^LN", "4.1", "mmol/L"),
    ),
    patient: "dog",
  },
  {
    // Two patients, and one without an identifier: their results stay apart.
    name: "several-patients",
    wire: framed(
      lab({ 9: "OPU^R25^OPU_R25", 10: "25", 12: "2.6" }),
      "PID|1||4711^^^^MR||Aydin^Zeytin",
      "NTE|1||fasted",
      `OBR|1|H-1|A-1|CHEM|||${DONE}`,
      obx(1, "NM", "^ALT", "52", "U/L"),
      "NTE|1||repeated",
      `OBR|2|H-1|A-1|CHEM|||${DONE}`,
      obx(1, "NM", "^CREA", "1.0", "mg/dL"),
      "PID|2||4712^^^^MR||Demir^Lokum",
      `OBR|1|H-1|A-1|CHEM|||${DONE}`,
      obx(1, "NM", "^ALT", "31", "U/L"),
      "PID|3||||^Zeytin",
      `OBR|1|H-1|A-1|CHEM|||${DONE}`,
      obx(1, "NM", "^ALT", "77", "U/L"),
      "PID|4||||^Zeytin",
      `OBR|1|H-1|A-1|CHEM|||${DONE}`,
      obx(1, "NM", "^ALT", "78", "U/L"),
    ),
    patient: "dog",
  },
  {
    name: "corrected",
    wire: frames(
      [lab({ 10: "31" }), PATIENT, `OBR|1||S-2005|CHEM|||${DONE}`, ...chemistry],
      [
        lab({ 10: "32" }),
        PATIENT,
        `OBR|1||S-2005|CHEM|||${DONE}`,
        obx(1, "NM", "1742-6^ALT^LN", "134", "U/L", "10-118", "H").replace(/F$/, "C"),
      ],
    ),
    patient: "dog",
  },
  {
    // Comparators, text results, rows without a value, and rows without a final value.
    name: "values",
    wire: framed(
      lab({ 10: "33" }),
      PATIENT,
      `OBR|1||S-2006|CHEM|||${DONE}`,
      obx(1, "NM", "^CRP", "<0.2", "mg/L^milligram per litre^UCUM"),
      obx(2, "SN", "^ALT", ">^1000", "U/L"),
      obx(3, "SN", "^CREA", "^1^-^2", "mg/dL"),
      obx(4, "NM", "^GLU", "5,41", "mmol/L"),
      obx(5, "NM", "^ALP", "~~~", "U/L"),
      obx(6, "NM", "^AST", "HEM", "U/L"),
      obx(7, "NM", "^CA", '""', "mg/dL"),
      obx(8, "CWE", "^TP", "260385009^Negative^SCT"),
      obx(9, "CWE", "^ALB", "260385009^^SCT"),
      obx(10, "NM", "^BUN", "14~15", "mg/dL"),
      obx(11, "NM", "^NA", "147", "mmol/L").replace(/F$/, "P"),
      obx(12, "NM", "^K", "4.1", "mmol/L").replace(/F$/, "X"),
      obx(13, "NM", "", "7", "U/L"),
      obx(14, "NM", "4711-1^Unknown^LN", "7", "U/L"),
      obx(15, "ST", "^CHOL", "see Dogs & cats", "mg/dL"),
      "OBX|16|NM|^LDH||88|U/L",
    ),
    patient: "dog",
  },
  {
    // Pictures, curves and histograms stay in the message; alarms are remarks.
    name: "data-and-alarms",
    wire: framed(
      hema({ 10: "34" }),
      PATIENT,
      observed("S-2007"),
      ...hematology.slice(0, 2),
      obx(3, "IS", "17790-7^WBC Left Shift?^LN", "T"),
      obx(4, "IS", "34165-1^Imm Granulocytes?^LN", "F"),
      obx(5, "ED", "15000^WBC Histogram. Binary^99MRC", `^Application^Octer-stream^Base64^${"AAEC".repeat(20)}`),
      obx(6, "ED", "15010^WBC Scattergram^99MRC", `^Image^BMP^Base64^${"Qk0A".repeat(20)}`),
      obx(7, "NA", "CURVE^Fluorescence^99LAB", "1^2^3~4^5^6"),
      obx(8, "NM", "777-3^PLT^LN", "318", "10*9/L", "200-500", "~A"),
    ),
    patient: "dog",
  },
  {
    name: "urine-strip",
    wire: framed(
      lab({ 10: "35" }),
      PATIENT,
      `OBR|1||S-2008|UA|||${DONE}||||||||UR^Urine`,
      ...[
        ["GLU", "neg"],
        ["PRO", "1+"],
        ["ERY", "2+^2+^99LAB"],
        ["NIT", "positive"],
        ["pH", "6.5"],
        ["SG", "1.030"],
      ].map(([code = "", value = ""], index) => obx(index + 1, value.includes("^") ? "CE" : "ST", code, value)),
    ),
    patient: "dog",
  },
  {
    name: "own-delimiters",
    wire: framed(
      `MSH#@*/%#LAB-2#Vendor###20261121113100##ORU@R01#36#P#2.3.1`,
      "PID#1##4711@@@@MR##O/F/Neill@Zey%tin",
      `OBR#1##S-2009#CHEM###${DONE}`,
      "OBX#1#NM#1742-6@ALT@LN##52#U/L#10-118#N*A###F",
    ),
    patient: "dog",
  },
  {
    name: "escapes",
    wire: framed(
      lab({ 3: "LAB\\S\\1", 10: "37" }),
      "PID|1||47\\X31\\1||O\\F\\Neill^Zey\\T\\tin",
      `OBR|1||S\\T\\2010|CHEM|||${DONE}`,
      obx(1, "NM", "1742-6^ALT^LN", "52", "U/L"),
      "NTE|1||\\H\\lipemic\\N\\\\.br\\repeat \\E\\ C:\\temp",
    ),
    patient: "dog",
  },
  {
    name: "names-utf8",
    wire: framed(
      lab({ 10: "38" }),
      inUtf8("PID|1||4711||Aydın^Gümüş"),
      `OBR|1||S-2011|CHEM|||${DONE}`,
      ...chemistry.slice(0, 1),
    ),
    patient: "dog",
  },
  {
    // MSH-18 is empty and the bytes are invalid UTF-8.
    name: "names-windows-1252",
    wire: framed(
      lab({ 10: "39", 18: "" }),
      "PID|1||4711||M\xfcller^Gr\xf6\xdfe",
      `OBR|1||S-2012|CHEM|||${DONE}`,
      ...chemistry.slice(0, 1),
    ),
    patient: "dog",
  },
  {
    // The second byte of each character is a delimiter: 81 5C, 81 7C, 81 5E.
    name: "names-gb18030",
    wire: framed(
      lab({ 10: "40", 18: "GB 18030-2000" }),
      "PID|1||4711||\x81\x5c^\x81\x7c\x81\x5e",
      `OBR|1||S-2013|CHEM|||${DONE}`,
      ...chemistry.slice(0, 1),
    ),
    patient: "dog",
  },
  {
    name: "line-ends",
    wire: ["<LF>", "<CR><LF>", "<CR><CR>"]
      .map((end, index) =>
        framed(
          lab({ 10: `4${index + 1}` }),
          PATIENT,
          `OBR|1||S-2014-${index}|CHEM|||${DONE}`,
          ...chemistry.slice(0, 1),
        ).replaceAll("<CR>", end),
      )
      .map((wire) => wire.replace(/<FS>.*$/, "<FS><CR>"))
      .join(""),
    patient: "dog",
  },
  {
    name: "two-in-one-frame",
    wire: framed(
      lab({ 10: "44" }),
      PATIENT,
      `OBR|1||S-2015|CHEM|||${DONE}`,
      ...chemistry.slice(0, 1),
      lab({ 10: "45" }),
      "PID|1||4712^^^^MR||Demir^Lokum",
      `OBR|1||S-2016|CHEM|||${DONE}`,
      ...chemistry.slice(1),
    ),
    patient: "dog",
  },
  {
    name: "no-times",
    wire: framed(lab({ 7: "noon", 10: "46" }), "PID|1||4711", "OBR|1|||CHEM|||99999999", ...chemistry.slice(0, 1)),
    patient: "dog",
  },
  { name: "training", wire: framed(lab({ 10: "47", 11: "T" }), PATIENT, observed("S-1"), ...chemistry), patient: null },
  { name: "alarm", wire: framed(lab({ 9: "ORU^R40", 10: "48" }), obx(1, "ST", "ALARM", "door open")), patient: null },
  {
    name: "query",
    wire: framed(
      lab({ 9: "QBP^Q11^QBP_Q11", 10: "49", 12: "2.5.1", 15: "NE", 16: "AL" }),
      "QPD|WOS^Work Order Step^IHE_LABTF|tag-1|S-2017",
      "RCP|I||R",
    ),
    patient: null,
  },
  { name: "acknowledgement", wire: framed(lab({ 9: "ACK^R01", 10: "50" }), "MSA|AA|1"), patient: null },
  { name: "other-type", wire: framed(lab({ 9: "ADT^A01", 10: "51" }), PATIENT), patient: null },
  { name: "no-control-id", wire: framed(lab({ 10: "" }), PATIENT, observed("S-1"), ...chemistry), patient: null },
  { name: "noise", wire: `noise${framed("noise")}<STX>`, patient: null },
  {
    // Cut within OBX-5: 14 may be the start of 143. The next frame is whole.
    name: "cut-by-a-new-frame",
    wire: `${framed(lab({ 10: "52" }), PATIENT, observed("S-2018"), ...chemistry).split("3|U/L")[0]}${framed(
      lab({ 10: "53" }),
      PATIENT,
      `OBR|1||S-2018|CHEM|||${DONE}`,
      ...chemistry,
    )}`,
    patient: "dog",
  },
];

const bcModes = [
  obx(1, "IS", "08001^Take Mode^99MRC", "O"),
  obx(2, "IS", "08002^Blood Mode^99MRC", "W"),
  obx(3, "IS", "08003^Test Mode^99MRC", "CBC+DIFF"),
];

/** Mindray's order of rows: modes, group, age, counts with flags, alarms, histograms. */
function bloodCount(group: string, age: string, marks: string): string[] {
  return [
    ...bcModes,
    obx(4, "IS", "01002^Ref Group^99MRC", group),
    obx(5, "NM", "30525-0^Age^LN", age, "yr"),
    obx(6, "NM", "6690-2^WBC^LN", "9.81", "10*9/L", "6.00-17.00", "N"),
    obx(7, "NM", "704-7^BAS#^LN", "0.03", "10*9/L", "0.00-0.10", "N~A"),
    obx(8, "NM", "751-8^NEU#^LN", "7.04", "10*9/L", "3.00-11.80", "N~A"),
    obx(9, "NM", "26477-0^*ALY#^LN", "0.00", "10*9/L", "0.00-0.20", "N"),
    obx(10, "NM", "10000^*LIC#^99MRC", "0.12", "10*9/L", "0.00-0.20", "~A"),
    obx(11, "NM", "789-8^RBC^LN", "6.72", "10*12/L", "5.50-8.50", "N"),
    obx(12, "NM", "718-7^HGB^LN", "151", "g/L", "120-180", "N"),
    obx(13, "NM", "4544-3^HCT^LN", "0.431", "", "0.370-0.550", "N"),
    obx(14, "NM", "777-3^PLT^LN", "118", "10*9/L", "200-500", "L"),
    obx(15, "NM", "32207-3^PDW^LN", "16.0", "", "9.0-17.0", "N"),
    obx(16, "NM", "10002^PCT^99MRC", "0.179", "%", "0.108-0.282", "N"),
    obx(17, "IS", "17790-7^WBC Left Shift?^LN", "T"),
    obx(18, "NM", `15001^WBC Histogram. Left Line^99MRC`, marks),
    obx(19, "ED", "15000^WBC Histogram. Binary^99MRC", `^Application^Octer-stream^Base64^${"AAEC".repeat(24)}`),
  ];
}

const bc = (fields: Readonly<Record<number, string>>) => header({ 3: "BC-5380", 4: "Mindray", ...fields });

const mindrayBc: readonly Hl7Case[] = [
  {
    name: "dog",
    wire: framed(
      bc({ 10: "1" }),
      "PID|1||4711^^^^MR||^Zeytin",
      "PV1|1",
      observed("155"),
      ...bloodCount("Dog", "7", "12"),
    ),
    patient: "dog",
  },
  {
    name: "human-reference-group",
    wire: framed(bc({ 10: "1" }), "PID|1||4711^^^^MR", "PV1|1", observed("156"), ...bloodCount("General", "", "12")),
    patient: "dog",
  },
  {
    name: "quality-control",
    wire: frames(
      [
        bc({ 10: "2", 11: "Q" }),
        observed("QC-1", "00003^LJ QCR^99MRC"),
        obx(1, "NM", "6690-2^WBC^LN", "7.1", "10*9/L"),
      ],
      // The same message of a firmware that keeps MSH-11 at P.
      [bc({ 10: "3" }), observed("QC-1", "00003^LJ QCR^99MRC"), obx(1, "NM", "6690-2^WBC^LN", "7.1", "10*9/L")],
    ),
    patient: "dog",
  },
  { name: "wrong-sender", wire: framed(hema({}), PATIENT, observed("S-1"), ...hematology), patient: "dog" },
  { name: "query", wire: framed(bc({ 9: "ORM^O01", 10: "4" }), "ORC|RF||VDAG0001||IP"), patient: null },
];

const dymind: readonly Hl7Case[] = [
  {
    // A background count: values of 0, and values that are not numbers.
    name: "invalid-values",
    wire: framed(
      header({ 3: "DF5x", 4: "Dymind", 10: "20261121_113015_1" }),
      "PID|1||4711",
      "PV1|1",
      `OBR|1||5|01001^Automated Count^99MRC||20261121112500|${DONE}|||||||20261121112500||||||||20261121114000||HM`,
      obx(1, "IS", "02001^Take Mode^99MRC", "O"),
      obx(2, "NM", "30525-0^Age^LN", "", "yr"),
      obx(3, "IS", "09001^Remark^99MRC", ""),
      obx(4, "IS", "03001^Ref Group^99MRC", "General"),
      obx(5, "NM", "6690-2^WBC^LN", "<0.01", "10*9/L", "4.00-10.00", "L~A"),
      obx(6, "NM", "770-8^NEU%^LN", "**.*", "%", "50.0-70.0", "~A"),
      obx(7, "NM", "751-8^NEU#^LN", "***.**", "10*9/L", "2.00-7.00", "~A"),
      obx(8, "NM", "786-4^MCHC^LN", "****", "g/L", "320-360", "~A"),
      obx(9, "NM", "11003^PCT^99MRC", ".***", "%", "0.108-0.282", "~A"),
      obx(10, "NM", "789-8^RBC^LN", "0.00", "10*6/uL", "3.50-5.50", "L~A"),
    ),
    patient: "dog",
  },
  {
    name: "query",
    wire: framed(header({ 3: "DF5x", 4: "Dymind", 9: "ORM^O01", 10: "20261121_113015_2" }), "ORC|RF||VDAG0001||IP"),
    patient: null,
  },
];

const zybio: readonly Hl7Case[] = [
  {
    name: "decimal-commas",
    wire: framed(
      header({ 3: "Z3 CRP", 4: "Zybio", 10: "1", 16: "0" }),
      "PID|1||4711",
      observed("12"),
      obx(1, "NM", "31525-0^Age^LN", "7", "yr"),
      obx(2, "NM", "6690-2^WBC^LN", "7,1", "10*9/L", "3,0-9,0", "N"),
      obx(3, "NM", "777-3^PLT^LN", "318", "10*9/L", "200-500", "N"),
    ),
    patient: "dog",
  },
  {
    name: "quality-control",
    wire: framed(header({ 3: "Z3 CRP", 4: "Zybio", 10: "2", 16: "2" }), observed("1"), ...hematology),
    patient: null,
  },
];

const bs = (id: string, kind = "0") => header({ 3: "Mindray", 4: "BS-200E", 10: id, 16: kind, 18: "ASCII" });
const bsTest = (id: string, number: number, name: string, value: string, unit: string) => [
  bs(id),
  "PID|1|4711||12|^Zeytin||20190504|F||O",
  "OBR|1|LAB-000123|7|Mindray^BS-200E|Y",
  `OBX|1|NM|${number}|${name}|${value}|${unit}|-||||F`,
];

const mindrayBs: readonly Hl7Case[] = [
  {
    // One test per message, with constant ids.
    name: "three-tests",
    wire: frames(
      bsTest("1", 2, "ALT", "52.000000", "U/L"),
      bsTest("1", 5, "CREA", "1.000000", "mg/dL"),
      bsTest("1", 9, "Test9", "5.000000", "g/ml"),
    ),
    patient: "dog",
  },
  {
    name: "calibration-and-control",
    wire: frames(
      [bs("1", "1"), "OBR|1|1|GLU|Mindray^BS-200E||20261121060015|||||||CAL-1"],
      [
        bs("1", "2"),
        "OBR|1|1|GLU|Mindray^BS-200E||20261121060015|||||||CTRL-Normal|LOT-2026-001|||M|100.000000|3.500000",
      ],
    ),
    patient: null,
  },
  {
    name: "query",
    wire: framed(
      header({ 3: "Mindray", 4: "BS-200E", 9: "QRY^Q02", 10: "8", 18: "ASCII" }),
      "QRD|20261121113100|R|D|8|||RD|VDAG0001|OTH|||T|",
      "QRF|BS-200E|20261121113100|20261121113100|||RCT|COR|ALL||",
    ),
    patient: null,
  },
];

/** Two CR end each segment, and times have a blank and colons. */
function vcheck(id: string, ...segments: readonly string[]): string {
  const guid = "70387552-0000-4602-9c20-81256deacdc0^VA20B99VA9999^70b3d50000000000^GUID";
  return framed(
    header({
      3: " VA20B99VA9999^70b3d50000000000^EUI-64",
      4: "BioNote",
      7: "20261121 11:31:00+0300",
      9: "ORU^R01^ORU_R01",
      10: `{${id}}`,
      12: "2.6",
      15: "AL",
      16: "NE",
      18: "UNICODE UTF-8",
    }),
    "PID|||4711||^^^^^^U",
    `OBR|1| ${guid}|${guid}|BN0010^Canine CRP^LN|||20261121 11:28:00+0300|20261121 11:30:15+0300 `,
    "NTE| 1||Device Information,Date of manufacture=20260908,LotNo=0,SerialNo=00000,Kind=FLine1",
    ...segments,
  )
    .replaceAll("<CR>", "<CR><CR>")
    .replace("<FS><CR><CR>", "<FS><CR>");
}

const vcheckRow = (type: string, code: string, value: string, unit: string, range: string, status = "F") =>
  `OBX| 1|${type}|${code}|1.0.0.1|${value}|${unit}|${range}||||${status}|||20261121 11:30:15+0300||guest|||20261121 11:30:15+0300`;
const crp = vcheckRow("NM", "BN0010^Canine CRP^LN", "16.7", "mg/L^milligram per liter^UCUM", "[10.00;200.00]");

const bionote: readonly Hl7Case[] = [
  {
    name: "canine-crp",
    wire: vcheck("00000000-0000-4000-8000-000000000001", crp, "NTE|1||Interpretation=Normal"),
    patient: "dog",
  },
  {
    // A user resends the result under a new MSH-10. The study stays the same.
    name: "sent-again",
    wire: [1, 2].map((number) => vcheck(`00000000-0000-4000-8000-00000000000${number}`, crp)).join(""),
    patient: "dog",
  },
  {
    // An index is not a concentration, so its name replaces the unit.
    name: "value-in-a-note",
    wire: vcheck(
      "00000000-0000-4000-8000-000000000003",
      vcheckRow("", "BN0010^Canine CRP^LN", "", "", ""),
      "NTE|1||Cut Off Index,Value=0.57",
    ),
    patient: "dog",
  },
  {
    name: "answer-in-component-3",
    wire: vcheck("00000000-0000-4000-8000-000000000004", vcheckRow("CWE", "SDB-0601^CPV Ag^LN", "^^Negative", "", "")),
    patient: "dog",
  },
  {
    name: "invalid-run",
    wire: vcheck("00000000-0000-4000-8000-000000000005", vcheckRow("NM", "BN0010^Canine CRP^LN", "", "mg/L", "", "X")),
    patient: "dog",
  },
];

const bionoteC10: readonly Hl7Case[] = [
  {
    name: "oul-r22",
    wire: framed(
      header({
        3: "C10",
        4: "BioNote",
        9: "OUL^R22^OUL_R22",
        10: "C10-1",
        12: "2.5.1",
        15: "NE",
        16: "AL",
        18: "UNICODE UTF-8",
      }),
      "PID|1||4711^^^^Hospital||Zeytin||20190504|FS|||||||||||||Aydin||||||||||||||Canine|Mixed",
      "SPM|1|S-3001||SER^Serum^HL70487|||||||P",
      "SAC|||S-3001",
      `OBR|1|||DC001B^Comprehensive 17^VCHECK|||${DONE}`,
      obx(1, "NM", "ALT^ALT^VCHECK", "143", "U/L", "10-118", "H"),
      obx(2, "NM", "CREA^CREA^VCHECK", "1.4", "mg/dL", "0.3-1.4", "N"),
      obx(3, "NM", "TBIL^TBIL^VCHECK", "<0.1", "mg/dL", "0.0-0.6", "N"),
    ),
    patient: "dog",
  },
  {
    name: "query",
    wire: framed(
      header({
        3: "C10",
        4: "BioNote",
        9: "QBP^Q11^QBP_Q11",
        10: "C10-2",
        12: "2.5.1",
        15: "NE",
        16: "AL",
        18: "UNICODE UTF-8",
        21: "LAB-27^IHE",
      }),
      "QPD|WOS_ALL^Work Order Step All^IHELAW|20261121113100",
      "RCP|||R^Real Time^HL70394",
    ),
    patient: null,
  },
];

const bionoteH6: readonly Hl7Case[] = [
  {
    name: "blood-count",
    wire: framed(
      header({ 3: "H6", 4: "BioNote", 10: "H6-1", 18: "UTF-8" }),
      "PID|1|4711|||Zeytin|Aydin|7Y|SF||^Canine",
      observed("S-3002"),
      obx(1, "ST", "Age", "7Y"),
      obx(2, "NM", "Weight", "17.4", "kg"),
      obx(3, "ST", "RBC Title", "Red cells"),
      obx(4, "NM", "WBC", "9.81", "10^9/L", "6.00-17.00"),
      obx(5, "NM", "RBC", "6.72", "10^12/L", "5.50-8.50"),
      obx(6, "NM", "PLT", "318", "10^9/L", "200-500"),
      obx(7, "ED", "IMG", `^Image^PNG^Base64^${"iVBO".repeat(12)}`),
    ),
    patient: "dog",
  },
  {
    name: "query",
    wire: framed(
      header({ 3: "H6", 4: "BioNote", 9: "QRY^Q02", 10: "H6-2", 18: "UTF-8" }),
      "QRD|20261121113100|R|D|1|||RD|VDAG0001|OTH|||T|",
    ),
    patient: null,
  },
];

export const hl7Folders: Readonly<Record<string, readonly Hl7Case[]>> = {
  "mindray-bc": mindrayBc,
  "dymind-df": dymind,
  "zybio-z": zybio,
  "mindray-bs": mindrayBs,
  "bionote-vcheck": bionote,
  "bionote-vcheck-c10": bionoteC10,
  "bionote-vcheck-h6": bionoteH6,
  "generic-hl7": generic,
};
