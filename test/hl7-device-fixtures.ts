import { frames, framed, type Hl7Case, header, obx } from "./hl7-fixtures.ts";

// HL7 fixtures of further devices: documented layouts with invented names, numbers and values.

const noSender = (id: string) => header({ 7: "20261121190000", 10: id });

const mindrayBc: readonly Hl7Case[] = [
  {
    // A BC-20S: three parts, its reference group under 01001, suspicions in words. It sends again after weeks.
    name: "no-sender",
    wire: framed(
      noSender("1001"),
      "PID|1||4711^^^^MR||Aydin^Zeytin||20190504000000|Female",
      "PV1|1|Outpatient",
      "OBR|1||S-4001|00001^Automated Count^99MRC||20261121112500|20261121113015|||vet1||||20261121112600||||||||||HM",
      obx(1, "IS", "08001^Take Mode^99MRC", "O"),
      obx(2, "IS", "08002^Blood Mode^99MRC", "W"),
      obx(3, "IS", "08003^Test Mode^99MRC", "CBC+DIFF"),
      obx(4, "ST", "01001^Ref Group^99MRC", "Dog"),
      obx(5, "NM", "30525-0^Age^LN", "7", "yr"),
      obx(6, "NM", "6690-2^WBC^LN", "21.3", "10*9/L", "6.0-17.0", "H"),
      obx(7, "NM", "731-0^LYM#^LN", "4.1", "10*9/L", "0.8-5.1", "N"),
      obx(8, "NM", "736-9^LYM%^LN", "19.2", "%", "12.0-30.0", "N"),
      obx(9, "NM", "10027^MID#^99MRC", "1.3", "10*9/L", "0.0-1.8", "N"),
      obx(10, "NM", "10029^MID%^99MRC", "6.1", "%", "2.0-9.0", "N"),
      obx(11, "NM", "10028^GRAN#^99MRC", "15.9", "10*9/L", "4.0-12.6", "H"),
      obx(12, "NM", "10030^GRAN%^99MRC", "74.7", "%", "60.0-83.0", "N"),
      obx(13, "NM", "789-8^RBC^LN", "5.1", "10*12/L", "5.5-8.5", "L"),
      obx(14, "NM", "718-7^HGB^LN", "***", "g/L", "110-190"),
      obx(15, "NM", "4544-3^HCT^LN", "36.8", "%", "39.0-56.0", "L"),
      obx(16, "NM", "777-3^PLT^LN", "318", "10*9/L", "117-460", "N"),
      obx(17, "NM", "32207-3^PDW^LN", "15.8", "", "", "N"),
      obx(18, "NM", "10002^PCT^99MRC", "0.27", "%", "", "N"),
      obx(30, "ST", "^Anemia^99MRC", "Anemia"),
      obx(31, "ST", "^Leukocytosis^99MRC", "Leukocytosis"),
    ),
    patient: "dog",
  },
];

const bs240 = (sample: string, ...rows: readonly string[]) => [
  header({ 3: "Mindray", 4: "BS-240", 10: "1", 16: "0", 18: "ASCII" }),
  "PID|1|4711||12|^Zeytin||20190504|F||O",
  `OBR|1|${sample}|7|Mindray^BS-240|Y`,
  ...rows,
];

const mindrayBs: readonly Hl7Case[] = [
  {
    // A BS-240 sends several tests a message, each with the constant 1 in OBX-4.
    name: "tests-of-a-sample",
    wire: frames(
      bs240(
        "LAB-000124",
        "OBX|1|NM|ALT^Alanine|1|61.000000|U/L|-||||F",
        "OBX|2|NM|GLU^Glucose|1|5.410000|mmol/L|-||||F",
      ),
      bs240("LAB-000124", "OBX|1|NM|XCK^CK-Lab|1|210.000000|U/L|-||||F"),
    ),
    patient: "dog",
  },
];

const dymind: readonly Hl7Case[] = [
  {
    // A DH3x: three parts, decimal comma, `H~A` for a value outside its range.
    name: "decimal-comma",
    wire: framed(
      header({ 3: "DH3x", 4: "Dymind", 10: "20261121_113015_2" }),
      "PID|1||4711||^Zeytin",
      "PV1|1",
      "OBR|1||N104|01001^Automated Count^99MRC||20261121112500|20261121113015|||||||20261121112500||||||||20261121114000||HM",
      obx(1, "IS", "02001^Take Mode^99MRC", "O"),
      obx(2, "IS", "02003^Test Mode^99MRC", ""),
      obx(3, "IS", "03001^Ref Group^99MRC", "General"),
      obx(4, "NM", "6690-2^WBC^LN", "18,61", "10*9/L", "6,00-17,00", "H~A"),
      obx(5, "NM", "736-9^LYM%^LN", "22,4", "%", "12,0-30,0", "~N"),
      obx(6, "NM", "20482-6^GRAN%^LN", "73,9", "%", "60,0-83,0", "~N"),
      obx(7, "NM", "32155-4^MID%^LN", "3,7", "%", "2,0-9,0", "~N"),
      obx(8, "NM", "19023-1^GRAN#^LN", "13,75", "10*9/L", "4,00-12,60", "H~A"),
      obx(9, "NM", "32154-7^MID#^LN", "0,69", "10*9/L", "0,00-1,80", "~N"),
      obx(10, "NM", "718-7^HGB^LN", "14,2", "g/dL", "11,0-19,0", "~N"),
      obx(11, "NM", "11003^PCT^99MRC", "0,241", "%", "0,108-0,282", "~N"),
      obx(12, "NM", "34167-7^P-LCC^LN", "71", "10*9/L", "30-90", "~N"),
      obx(13, "NM", "787-2^MCV^LN", "71,2", "fL", "60,0-77,0", "~A"),
    ),
    patient: "dog",
  },
  {
    // A Panca: no sender, bare names, settings rows without codes.
    name: "names-only",
    wire: framed(
      header({ 10: "402", 17: "CHA", 18: "UTF-8" }),
      "PID|1||4711||Zeytin|||O",
      "PV1|1",
      "OBR|1||S-4003|||20261121112043|20261121113015|||||||20261121112000||||Admin||||||HM",
      ...[
        ["WBC", "9.81", "10^9/L", "6.00-17.00"],
        ["Neu#", "7.04", "10^9/L", "3.00-11.80"],
        ["Neu%", "71.8", "%", "60.0-77.0"],
        ["NLR", "2.94", "", "-"],
        ["RBC", "6.72", "10^12/L", "5.50-8.50"],
        ["PDW-CV", "12.9", "%", "9.0-17.0"],
        ["PDW-SD", "10.1", "fL", "9.0-17.0"],
        ["P-LCC", "61", "10^9/L", "30-90"],
      ].map(([name = "", value = "", unit = "", range = ""], at) => obx(at + 1, "NM", name, value, unit, range)),
      ...["Take Mode^O", "Low Mode^L-WBC/PLT", "Ref Group^Dog", "Age^", "Recheck flag^Y", "WBC Alarm^", "Print_BMP^C"]
        .map((row) => row.split("^"))
        .map(([name = "", value = ""], at) => obx(at + 9, "IS", name, value)),
    ),
    patient: "dog",
  },
];

const zybio: readonly Hl7Case[] = [
  {
    // An EXR100: the maker's own numbers for SAA and cardiac markers look like LOINC.
    name: "saa-and-blood-count",
    wire: framed(
      header({ 3: "Q3", 4: "Zybio", 10: "3", 16: "0" }),
      "SFT|Zybio|1.0|EXR100",
      "PID|1||4711",
      "OBR|1||13|00001^Automated Count^99MRC|||20261121113015||||||||||||||||||HM",
      obx(1, "NM", "6690-2^WBC^LN", "9.81", "10*9/L", "6.00-17.00", "N"),
      obx(2, "NM", "6806-1^SAA^LN", "12.4", "mg/L", "0-10", "H"),
      obx(3, "NM", "6802-2^CK-MB^LN", "2.1", "ng/mL"),
    ),
    patient: "cat",
  },
  {
    name: "control-run",
    wire: framed(
      header({ 3: "Q3", 4: "Zybio", 10: "4", 11: "Q", 16: "2" }),
      "OBR|1||L-1|02001^QCR|||20261121113015",
      "OBX|1|NM|6690-2^WBC^LN|7.1^0.4|7.2|10*9/L|||||F",
    ),
    patient: null,
  },
];

const urit = (id: string) => header({ 3: "URIT", 4: "UT-5160", 5: "LIS", 6: "PC", 10: id });
/** OBX of a URIT: with OBX-10, nature of the abnormal test. */
const uritRow = (number: number, name: string, value: string, unit: string, range: string, flag = "", nature = "") =>
  `OBX|${number}|NM|${name}||${value}|${unit}|${range}|${flag}||${nature}|F`;

const urit5160: readonly Hl7Case[] = [
  {
    // Percentages have the names of their counts; `0-1079738368` is an uninitialised interval; C and B are doubts.
    name: "percentages-and-doubts",
    wire: framed(
      urit("0001"),
      "PID|1||||Zeytin",
      "PV1|1",
      "OBR|1|7|BAR4711|URIT^UT-5160||||20261121113015|||||fever^fasted",
      uritRow(1, "WBC", "11.2", "10^9/L", "6.0-17.0"),
      uritRow(2, "LYM", "21.50", "%", "12.00-30.00"),
      uritRow(3, "NEU", "71.20", "%", "60.00-77.00"),
      uritRow(4, "LYM#", "2.4", "10^9/L", "1.0-4.8"),
      uritRow(5, "NEU#", "8.0", "10^9/L", "3.0-11.8"),
      uritRow(6, "RBC", "5.10", "10^12/L", "5.50-8.50", "L", "C"),
      uritRow(7, "HGB", "0", "g/L", "0-1079738368", "L"),
      uritRow(8, "RDW_CV", "13.9", "%", "11.0-16.0"),
      uritRow(9, "RDW_SD", "41.0", "fL", "35.0-56.0"),
      uritRow(10, "PLT", "0", "10^9/L", "117-460", "L", "B"),
      uritRow(11, "P_LCR", "24.10", "%", "13.00-43.00"),
      uritRow(12, "MCV", "68.0", "fL", "0-1081344000"),
      `OBX|13|ED|RBCHistogram||UT5160^Image^BMP^Base64^${"Qk0A".repeat(8)}`,
    ),
    patient: "dog",
  },
  {
    // A control: its lot stands in PID-3, the end of its validity in PID-7.
    name: "control",
    wire: framed(
      urit("0001"),
      "PID|1||LOT20260901||||20270301",
      "OBR|1||1|URIT^UT-5160||||20261121080015",
      uritRow(1, "WBC", "7.4", "10^9/L", "7.5-0.6"),
    ),
    patient: null,
  },
  {
    // The Vet model: percentages by name, species in OBR-16, ranges with two hyphens, histograms in hexadecimal digits.
    name: "vet",
    wire: framed(
      urit("0001"),
      "PID|1||4711||Zeytin||20190504|F",
      "OBR|1||BAR4712|URIT^UT-5160|||20261121113015|||||||||Canine",
      uritRow(1, "WBC", "9.8", "10^9/L", "6.0--17.0"),
      uritRow(2, "LYM%", "21.5", "%", "12.0--30.0"),
      uritRow(3, "NEU%", "71.2", "%", "60.0--77.0"),
      `OBX|2|ST|WBCHistogram||^32Byte^HEX^${"0A1B".repeat(16)}`,
    ),
    patient: "dog",
  },
  {
    name: "query",
    wire: framed(
      header({ 3: "URIT", 4: "UT-5160", 9: "QRY^Q02", 10: "1001" }),
      "QRD|20261121113100|R|D|1|||RD|VDAG0001|OTH|||T|",
      "QRF|UT-5160|20261121113100|20261121113100|||RCT|COR|ALL||",
    ),
    patient: null,
  },
];

const uritChem: readonly Hl7Case[] = [
  {
    // Names of the laboratory in OBX-4, a running number in OBX-3, a date without a time.
    name: "laboratory-names",
    wire: framed(
      header({ 3: "urit", 4: "8030", 7: "2026-11-21", 10: "1", 18: "ASCII" }),
      "PID|1||||Zeytin",
      "OBR|1|BAR4713|5|urit^8030|||2026-11-21",
      "OBX|1|NM|1|GLI|5.41|mmol/L|3.50-6.50|N|||F||0.1853|2026-11-21",
      "OBX|2|NM|1|BIL|4.20|umol/L|0.00-10.00|N|||F||0.0211|2026-11-21",
      "OBX|3|NM|1|ALT|52.00|U/L|10.00-118.00|N|||F||0.3305|2026-11-21",
    ),
    patient: "dog",
  },
];

const guid = "70387552-0000-4602-9c20-81256deacdc0^FA20F99FA9999^70b3d50000000000^GUID";
const F200_TIME = "20261121113015+0300";

/** A message of an F200: MSH-4 is empty. */
function f200(id: string, service: string, ...segments: readonly string[]): string {
  return framed(
    header({
      3: "FA20F99FA9999^70b3d50000000000^EUI-64",
      7: "20261121113100+0300",
      9: "ORU^R01^ORU_R01",
      10: `{00000000-0000-4000-8000-0000000001${id}}`,
      12: "2.6",
      15: "AL",
      16: "NE",
      18: "UNICODE UTF-8",
    }),
    "PID|||4711||^^^^^^U",
    `OBR|1|${guid}|${guid}|${service}|||${F200_TIME}|${F200_TIME}`,
    "NTE|1||Device Information,Date of manufacture=20260908,LotNo=011,SerialNo=00000,Kind=FLine23",
    ...segments,
  );
}

const f200Row = (type: string, code: string, value: string, status = "F") =>
  `OBX|1|${type}|${code}|1.0.0.86|${value}|||N|||${status}|||${F200_TIME}||guest|||${F200_TIME}`;

const bionote: readonly Hl7Case[] = [
  {
    name: "index-of-an-f200",
    wire: f200(
      "01",
      "SDB-0860^F TBLAM FIA ^LN",
      f200Row("", "SDB-0860^F TBLAM FIA ^LN", ""),
      "NTE|1||Cut Off Index,Value=0.57",
    ),
    patient: "dog",
  },
  {
    // One row with the answers of two tests.
    name: "two-answers",
    wire: f200(
      "02",
      "BN0330^Canine CPV/CCV Ag^LN",
      f200Row("CWE", "BN0330^Canine CPV/CCV Ag^LN", "BN0330-1^CPV Ag^Positive^LN~BN0330-2^CCV Ag^Negative^LN"),
    ),
    patient: "dog",
  },
  {
    name: "titre-step",
    wire: f200(
      "03",
      "BN0340^Canine CAV Ab^LN",
      f200Row("CWE", "BN0340^CAV Ab^LN", "^CAV Ab^Positive,VN4^LN"),
      "NTE|1||interpretation=High",
    ),
    patient: "dog",
  },
  {
    // Z in the note of a result says that the run is invalid, as status X does.
    name: "invalid-by-note",
    wire: f200(
      "04",
      "BN0330^Canine CPV/CCV Ag^LN",
      f200Row("CWE", "BN0330^Canine CPV/CCV Ag^LN", "BN0330-1^CPV Ag^Negative^LN~BN0330-2^CCV Ag^Negative^LN"),
      "NTE|1||Z",
    ),
    patient: "dog",
  },
];

/** A message of an M10 with one row a node of its tree. */
function m10(
  id: string,
  ...rows: readonly (readonly [code: string, node: string, value: string, more?: Node])[]
): string {
  return framed(
    header({
      3: "M10X99M9999^70b3d50000000000^EUI-64",
      4: "PCR_LAB01^70b3d50000000000^EUI-64",
      7: "20261121113100+0300",
      9: "ORU^R01^ORU_R01",
      10: `{00000000-0000-4000-8000-0000000002${id}}`,
      12: "2.6",
      15: "AL",
      16: "NE",
      18: "UNICODE UTF-8",
    }),
    "PID|||4711||^^^^^^U",
    `OBR|1|${guid}|${guid}|SDB-M1002^Canine Babesia^LN|||${F200_TIME}|${F200_TIME}`,
    ...rows.map(
      ([code, node, value, { type = "ST", unit = "", range = "" } = {}], at) =>
        `OBX|${at + 1}|${type}|${code}|${node}|${value}|${unit}|${range}||||F|||${F200_TIME}||guest|||${F200_TIME}`,
    ),
  );
}

interface Node {
  readonly type?: string;
  readonly unit?: string;
  readonly range?: string;
}

const CT: Node = { unit: "ct", range: "[0;38]" };

/** The rows of one target: word, sample rate, Ct value, curve. */
function target(number: number, code: string, word: string, ct: string) {
  const node = `1.0.${number}`;
  return [
    [code, node, word, CT],
    ["", `${node}.1`, "0.5", { type: "NM" }],
    ["", `${node}.2`, ct, { type: "NM", unit: "ct" }],
    ["", `${node}.3`, "1.0^1.1^9.7", { type: "NA" }],
  ] as const;
}

const GIBSONI = "SDB-M1002-00^B. gibsoni^LN";
const CANIS = "SDB-M1002-01^B. canis^LN";
const IC = "SDB-M1002-02^IC^LN";

const bionoteM10: readonly Hl7Case[] = [
  {
    name: "two-targets",
    wire: m10(
      "01",
      ...target(1, GIBSONI, "Positive", "24.31"),
      ...target(2, CANIS, "Negative", "0.00"),
      ...target(3, IC, "Positive", "30.02"),
    ),
    patient: "dog",
  },
  {
    name: "internal-control-failed",
    wire: m10("02", ...target(1, GIBSONI, "Negative", "0.00"), ...target(3, IC, "Negative", "0.00")),
    patient: "dog",
  },
  {
    name: "cut-curve",
    wire: m10("04", ...target(1, GIBSONI, "Positive", "24.31"), ...target(2, CANIS, "Negative", "0.00").slice(0, 3)),
    patient: "dog",
  },
  {
    name: "half-tree",
    wire: m10("03", ...target(1, GIBSONI, "Positive", "24.31"), ...target(2, CANIS, "Negative", "0.00").slice(0, 2)),
    patient: "dog",
  },
];

const nx = (id: string) =>
  header({
    5: '""',
    6: '""',
    9: "OUL^R22^OUL_R22",
    10: id,
    12: "2.5.1",
    18: "UNICODE UTF-8",
    21: "LAB-29^IHE",
  });

/** A result of an NX, the row of its slide, and TCD. */
function slide(
  number: number,
  code: string,
  value: string,
  unit: string,
  range: string,
  flag: string,
  marks = "",
  status = "F",
) {
  const [id = "", name = "", system = ""] = code.split("^");
  return [
    `OBX|${number}|NM|${code}||${value}|${unit}|${range}|${flag}|||${status}|||||vet1||SN0000000001|20261121113015`,
    `OBX|${number}|ST|${id}\\T\\MDT^${name}^${system}||345678,2027/10,${marks.padEnd(11)},0,0,0||||||F`,
    `TCD|${code}|^1^:^1||||||O^Original, first run^HL70389`,
  ];
}

/** The segments before the results of a specimen. */
const tube = (type: string, role: string, sample: string) => [
  `SPM|1|${sample}||${type}|||||||${role}`,
  "SAC|||000471199||||||||||||1^A^L",
  "OBR||||U^Unspecified identifier^L",
  "ORC|SC||||CM",
];

const SERUM = "SER^Serum^HL70487";
const PATIENT_ROLE = "P^Patient^HL70369";

const fujiNxHl7: readonly Hl7Case[] = [
  {
    name: "serum",
    wire: framed(
      nx("1"),
      ...tube(SERUM, PATIENT_ROLE, "4711"),
      ...slide(1, "2345-7^GLU^LN", "112", "mg/dL^^UCUM", "75-128", '""'),
      ...slide(2, "2160-0^CRE^LN", "2.31", "mg/dL^^UCUM", "0.40-1.40", "H"),
      ...slide(3, "1742-6^GPT/ALT^LN", "1000", "U/L^^UCUM", "17-78", ">~A", " @"),
      ...slide(4, "BUN/CRE^BUN/CRE^L", "12.1", "(SI)^^L", '""', '""'),
      ...slide(5, "2028-9^TCO2^LN", "", "mmol/L^^UCUM", '""', '""', "         \\E\\", "X"),
      ...slide(6, "3A010000002329101^TP^JC10", "6.4", "g/dL^^UCUM", "5.0-7.2", "A", "  #"),
    ),
    patient: "dog",
  },
  {
    name: "control",
    wire: framed(
      nx("2"),
      ...tube(SERUM, "Q^Control specimen^HL70369", "QC-1"),
      ...slide(1, "2345-7^GLU^LN", "98", "mg/dL^^UCUM", '""', '""'),
    ),
    patient: null,
  },
  {
    name: "urine",
    wire: framed(
      nx("3"),
      ...tube("UR^Urine^HL70487", PATIENT_ROLE, "4711"),
      ...slide(1, "2161-8^CRE^LN", "88", "mg/dL^^UCUM", '""', '""'),
    ),
    patient: "dog",
  },
];

const seamaty: readonly Hl7Case[] = [
  {
    name: "panel",
    wire: framed(
      header({ 3: "SMT-120VP", 10: "1" }),
      "PID|1||4711||Aydin^Zeytin||||20190504|Dog",
      "OBR|1||S-4010|Panel|||20261121113015",
      "OBX|1|NM|1|Crea|88|umol/L|27-124||||F",
      "OBX|2|NM|2|CHE||U/L|2300||||F",
    ),
    patient: "dog",
  },
];

const celercare: readonly Hl7Case[] = [
  {
    name: "panel",
    wire: framed(
      header({ 3: "Celercare V", 10: "1" }),
      "PID|1||4711||Canine|Zeytin|Aydin||20190504|F",
      "OBR|1||S-4011|Panel|||20261121113015",
      "OBX|1|NM|1|ALB|31|g/L|22-44||||F",
      "OBX|2|NM|2|ALT|61|U/L|5-125||||F",
    ),
    patient: "dog",
  },
];

const genrui: readonly Hl7Case[] = [
  {
    name: "blood-count",
    wire: framed(
      header({ 3: "Genrui", 4: "VH30", 10: "1" }),
      "PID|1|||4711|Zeytin|Dog",
      "OBR|1||S-4012|Automated Count|||20261121113015",
      obx(1, "NM", "WBC", "9.81", "10^9/L", "6.00-17.00"),
      obx(2, "NM", "RBC", "6.72", "10^12/L", "5.50-8.50"),
    ),
    patient: "dog",
  },
];

export const hl7DeviceFolders: Readonly<Record<string, readonly Hl7Case[]>> = {
  "mindray-bc": mindrayBc,
  "mindray-bs": mindrayBs,
  "dymind-df": dymind,
  "zybio-z": zybio,
  "urit-5160": urit5160,
  "urit-chem": uritChem,
  "bionote-vcheck": bionote,
  "bionote-vcheck-m10": bionoteM10,
  "fuji-dri-chem-nx-hl7": fujiNxHl7,
  "seamaty-smt": seamaty,
  celercare,
  "genrui-vh30": genrui,
};
