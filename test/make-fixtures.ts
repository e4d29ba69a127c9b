import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Patient } from "../shared/api/patient.ts";
import { bytes, frame } from "./agent/protocols/astm/wire.ts";
import { astmDeviceFolders } from "./astm-device-fixtures.ts";
import { fujiFolders } from "./fuji-fixtures.ts";
import { hl7DeviceFolders } from "./hl7-device-fixtures.ts";
import { hl7Folders } from "./hl7-fixtures.ts";
import { modelFolders } from "./hl7-model-fixtures.ts";
import { poct1Fixtures } from "./poct1-fixtures.ts";
import { textFixtures } from "./text-fixtures.ts";

// `node test/make-fixtures.ts` writes the bytes of fixtures/: documented layouts with invented data. Do not edit a fixture by
// hand, since test/agent/tools/fixtures.slow.test.ts compares the committed bytes with the generated ones.

export const fixturesFolder = fileURLToPath(new URL("../fixtures/", import.meta.url));

export interface MadeFixture {
  /** Path within fixtures/. */
  readonly path: string;
  readonly bytes: Buffer;
  /** The patient of its Reports. */
  readonly patient: Patient | null;
}

export const dog: Patient = {
  fp: "patient_01JA2Z3Y4X5W6V7T8S9R0QPNMK",
  name: "Zeytin",
  species: "dog",
  breed: null,
  sex: "FS",
  date_of_birth: "2019-05-04",
  weight_kg: 17.4,
  owner_customer_fp: "customer_01JA2Z3Y4X5W6V7T8S9R0QPNMA",
  created_at: "2026-01-05T08:00:00.000Z",
  updated_at: "2026-01-05T08:00:00.000Z",
};

export const cat: Patient = {
  ...dog,
  fp: "patient_01JA2Z3Y4X5W6V7T8S9R0QPNMC",
  name: "Lokum",
  species: "cat",
  sex: "MN",
  weight_kg: 4.6,
};

/** Encodes an ETX frame per record, as most analyzers send. */
function session(records: readonly string[]): string {
  return `<ENQ>${records.map((record, index) => frame((index + 1) % 8, `${record}<CR>`)).join("")}<EOT>`;
}

/** Encodes the whole message in one ETX frame. */
function oneFrame(records: readonly string[]): string {
  return `<ENQ>${frame(1, records.map((record) => `${record}<CR>`).join(""))}<EOT>`;
}

/** Cuts the message every 240 characters; ETX ends only the last frame. */
function cutAt240(records: readonly string[]): string {
  const text = records.map((record) => `${record}\r`).join("");
  const parts = text.match(/[^]{1,240}/g) ?? [];
  const frames = parts.map((part, index) =>
    frame((index + 1) % 8, part.replaceAll("\r", "<CR>"), index === parts.length - 1 ? "ETX" : "ETB"),
  );
  return `<ENQ>${frames.join("")}<EOT>`;
}

/** Encodes an ETB frame per record; ETX ends only L. */
function etbFrames(records: readonly string[]): string {
  const frames = records.map((record, index) =>
    frame((index + 1) % 8, `${record}<CR>`, index === records.length - 1 ? "ETX" : "ETB"),
  );
  return `<ENQ>${frames.join("")}<EOT>`;
}

/** Encodes UTF-8 text in the notation of bytes(), one character per byte. */
function inUtf8(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

const VETSCAN = "ABAXIS, INC.^VetScan VS2^3.1.35^0000V99999";

function vetscanHeader({ sender = VETSCAN, processing = "P", sentAt = "20261121101502" } = {}): string {
  return `H|\\^&|||${sender}|||||||${processing}|E 1394-97|${sentAt}`;
}

function vetscanPatient(number: number, id: string, species: string): string {
  return `P|${number}|${id}|||||20190504|F||||||Yilmaz^7 Yrs.^20260301|${species}||||||||||K-4`;
}

const VETSCAN_ORDER = "O|1|||^^^Comprehensive Diagnostic: 9999A||20261121100030||||2||||||2|||||||||F";
const VETSCAN_COMMENTS = ["C|1|I|^^INST QC: OK    CHEM QC: OK|G", "C|2|I|^^HEM:   0 LIP:  12 ICT:   1|G"];
const VETSCAN_QC = [
  "O|2|||^^^* QUALITY CONTROL REPORT *: 9999A||20261121100030||||1||||||1|||||||||F",
  "C|1|I|^^CHEMISTRY QC:           0|G",
  "C|2|I|^^ACCEPTABLE MINIMUM:    50|G",
  ...[98, 99, 101, 103, 97, 100, 102, 104].map(
    (percent, index) => `R|${index + 1}|^^^LEVEL 1: IQC ${index + 1}|${percent}||90 to 110|`,
  ),
];
const END = "L|1|N";

function vetscanResults(ranges: Readonly<Record<"ALB" | "ALP" | "ALT" | "TBIL" | "BUN" | "CREA" | "GLU", string>>) {
  return [
    `R|1|1751-7^^LN^Albumin SerPl-mCnc|3.1|g/dL|${ranges.ALB}|N`,
    `R|2|6768-6^^LN^ALP SerPl-cCnc|96|U/L|${ranges.ALP}|N`,
    `R|3|1742-6^^LN^ALT SerPl-cCnc|143|U/L|${ranges.ALT}|H`,
    `R|4|1975-2^^LN^Bilirub SerPl-mCnc|0.3|mg/dL|${ranges.TBIL}|N`,
    `R|5|3094-0^^LN^BUN SerPl-mCnc|6|mg/dL|${ranges.BUN}|L`,
    `R|6|2160-0^^LN^Creat SerPl-mCnc|1.4|mg/dL|${ranges.CREA}|N`,
    `R|7|2345-7^^LN^Glucose SerPl-mCnc|118|mg/dL|${ranges.GLU}|N`,
  ];
}

const DOG_RANGES = {
  ALB: "2.5 to 4.4",
  ALP: "20 to 150",
  ALT: "10 to 118",
  TBIL: "0.1 to 0.6",
  BUN: "7 to 25",
  CREA: "0.3 to 1.4",
  GLU: "60 to 110",
};
const CAT_RANGES = {
  ALB: "2.2 to 4.4",
  ALP: "10 to 90",
  ALT: "20 to 100",
  TBIL: "0.1 to 0.6",
  BUN: "10 to 30",
  CREA: "0.3 to 2.1",
  GLU: "70 to 150",
};

const vetscanDog = [
  vetscanHeader(),
  vetscanPatient(1, "4711", "Dog"),
  VETSCAN_ORDER,
  ...VETSCAN_COMMENTS,
  "C|3|I|^^|G",
  "C|4|I|^^Sample repeated by operator|G",
  "C|5|I|^^|G",
  ...vetscanResults(DOG_RANGES),
  ...VETSCAN_QC,
  END,
];

/** A run without the QC order. */
const vetscanShort = [...vetscanDog.slice(0, 5), ...vetscanResults(DOG_RANGES).slice(2, 5), END];

function vetscanFrames(records: readonly string[]): string[] {
  return records.map((record, index) => frame((index + 1) % 8, `${record}<CR>`));
}

function badChecksum(): string {
  const frames = vetscanFrames(vetscanShort);
  // Noise on the line changed the 1 of 143 to 9.
  const noisy = (frames[5] ?? "").replace("|143|", "|943|");
  return `<ENQ>${[...frames.slice(0, 5), noisy, ...frames.slice(5)].join("")}<EOT>`;
}

function lostAck(): string {
  const frames = vetscanFrames(vetscanShort);
  return `<ENQ>${[...frames.slice(0, 6), ...frames.slice(5)].join("")}<EOT>`;
}

const header = (sender: string, sentAt = "20261121120000") => `H|\\^&|||${sender}|||||||P|LIS2-A2|${sentAt}`;
const DONE = "20261121113015";
const result = (number: number, code: string, value: string, unit: string, rest = `|N||F||||${DONE}`) =>
  `R|${number}|${code}|${value}|${unit}|${rest}`;

const chemistry = [
  result(1, "^^^ALT", "52", "U/L"),
  result(2, "^^^CREA", "1.0", "mg/dL"),
  result(3, "^^^GLU", "95", "mg/dL"),
];

/** Sysmex XP: code in component 5, values padded, an empty P, the specimen number with a flag letter. */
const xpCodes: readonly (readonly [string, string, string])[] = [
  ["WBC", "  9.8", "10*3/uL"],
  ["RBC", " 6.72", "10*6/uL"],
  ["HGB", " 15.1", "g/dL"],
  ["HCT", " 45.0", "%"],
  ["MCV", " 67.0", "fL"],
  ["PLT", "   18", "10*3/uL"],
  ["LYM%", " 21.3", "%"],
  ["MXD%", "  6.1", "%"],
  ["NEUT%", " 72.6", "%"],
  ["LYM#", "-----", "10*3/uL"],
  ["RDW-CV", " 13.2", "%"],
  ["PDW", " 11.9", "fL"],
  ["PCT", " 0.02", "%"],
];
const xp = [
  "H|\\^&|||XP-200^00-01^^^^Z0001^ZZ000001||||||||E1394-97",
  "P|1",
  `O|1||^^             42^B|${xpCodes.map(([code]) => `^^^^${code}`).join("\\")}|||||||N||||||||||||||F`,
  ...xpCodes.map(
    ([code, value, unit], index) =>
      `R|${index + 1}|^^^^${code}^1|${value}|${unit}||N||||               ||20261121113015`,
  ),
  END,
];

const strip: readonly (readonly [string, string])[] = [
  ["GLU", "neg"],
  ["PRO", "1+"],
  ["KET", "trace"],
  ["BIL", "2+"],
  ["ERY", "+"],
  ["LEU", "norm"],
  ["NIT", "positive"],
  ["UBG", "normal"],
  ["pH", "6,5"],
  ["SG", "1.030"],
  ["COL", "yellow"],
];

/** Sysmex XN: code in component 5, comments on patient and order, alarms and picture names among the results. */
const xn = [
  "H|\\^&|||    XN-350^00-24^99999^^^^ZZ000002||||||||E1394-97",
  "P|1|||4711|^Zeytin||20190504|F|||||^DR.2||||||||||||^^^EAST",
  "C|1||RECHECK",
  "O|1||^^                    52^M|^^^^WBC\\^^^^RBC\\^^^^NEUT#|||||||N||||||||||||||F",
  "C|1||",
  result(1, "^^^^WBC^1", "9.81", "10*3/uL"),
  result(2, "^^^^RBC^1", "6.72", "10*6/uL"),
  result(3, "^^^^NEUT#^1", "7.04", "10*3/uL"),
  result(4, "^^^^RET%^1", "----", "%"),
  result(5, "^^^^IG%^1", "0.4", "%"),
  result(6, "^^^^Anemia", "", "", `|A||F||||${DONE}`),
  result(7, "^^^^Left_Shift?", "10", "", `|||F||||${DONE}`),
  result(8, "^^^^DIST_RBC", "PNG&R&20261121&R&2026_11_21_11_30_15_RBC.PNG", ""),
  "C|1||",
  END,
];

/** Pentra: mnemonic in component 4, LOINC in 5; 1 is in place of a unit; W may be wrong, X has no result. */
const pentra = [
  "H|\\^&|||ABX|||||||P|E1394-97|20261121113015",
  "P|1||4711||^|||U",
  "O|1|AUTO_SID9^00^00||^^^DIF|||||||||||Standard||||||||||F",
  "R|1|^^^WBC^804-5^1|9.8|1||||W||op||20261121113015",
  "C|1|I|Alarm_WBC^LMNE-^NL|I",
  "R|2|^^^NEU#^751-8^1|7.1|1||||W||op||20261121113015",
  "R|3|^^^BAS#^704-7^1|-----|1||HH||X||op||20261121113015",
  "R|4|^^^HGB^717-9^1|15.1|1||||F||op||20261121113015",
  "R|5|^^^PLT^777-3^1|318|1||||F||op||20261121113015",
  "C|1|I|PLATELET AGGREGATES|I",
  END,
];

/** Erba: the repeat delimiter is a backquote, and values contain words. */
const erba = [
  "H|`^&|||XL-like^1|||||||P|E 1394-97|20261121120000",
  "P|1|4711|||Aydin^Zeytin||20190504|F",
  "O|1|S-901||^^^ALT`^^^CREA`^^^GLU|R||20261121111500||||N||||Serum",
  result(1, "^^^ALT", "52.0", "U/L", `10^118|N||F||||${DONE}`),
  result(2, "^^^CREA", "neg^", "mg/dL"),
  result(3, "^^^GLU", "7,41", "mmol/L"),
  END,
];

/** GeneXpert: one frame above 240 bytes, verdicts in component 1 and numbers in 2, results without a known analyte. */
const geneXpert = [
  "H|@^\\|URM-abc-01||000001 Clinic^GeneXpert^4.8|||||LIS||P|1394-97|20261121120000",
  "P|1||||^^^^",
  "O|1|S-902|||R|20261121103000|||||||||ORH||||||||||F",
  "R|1|^XYZ^^Xpert^Xpert XYZ^1^XYZ^|NOT DETECTED^|||||F||op|20261121103000|20261121113000",
  "C|1|I|Notes^^second swab|I",
  "R|2|^XYZ^^Xpert^^^SPC^Ct|^24.7|||",
  "R|3|^XYZ^^Xpert^^^SPC^|PASS^|||",
  END,
];

/** VITROS: a numeric code, and a vendor reference to the result in R-7. */
const vitros = [
  "H|\\^&|||3600999||||||||LIS2-A|20261121113100",
  "P|1",
  "O|1|44444422^2^10||^^^1.0000+950+1.0\\951+1.0|R||||||N||||5||||||||||F",
  "R|1|^^^1.0000+950+1.0|51|||^0^NQ||V|||20261121113011|20261121113028|36000999",
  "R|2|^^^1.0000+951+1.0|5|||^0^NQ||V|||20261121113011|20261121113028|36000999",
  END,
];

/** Yumizen: LOINC in component 5, histograms as M records, all of it cut every 240 characters. */
const yumizen = [
  "H|\\^&|||H500^99YWZ^9.9||||||||LIS2-A2|20261121113200",
  "P|1|4711|||^Zeytin",
  "O|1|S-903||^^^DIF|||20261121112500||||N||||||||||||||F",
  "R|1|^^^WBC^6690-2|9.81|10*3/uL|6.00 - 17.00^REFERENCE_RANGE|N||F||op||20261121113015",
  "R|2|^^^HGB^718-7|15.1|g/dL|12.0 - 18.0^REFERENCE_RANGE|N||F||op||20261121113015",
  `M|1|HISTOGRAM^RBC^FLOATLE-stream/deflate:base64^${Buffer.from("own-made histogram ".repeat(60)).toString("base64")}`,
  `M|2|MATRIX^LMNE^FLOATLE-stream/deflate:base64^${Buffer.from("own-made matrix ".repeat(60)).toString("base64")}`,
  "R|3|^^^PLT^777-3|318|10*3/uL|150 - 500^REFERENCE_RANGE|N||F||op||20261121113015",
  END,
];

function skylaRecords(name: string): string[] {
  const at = "20261121111500";
  return [
    `H|\\^&|||Skyla VB1^9.9.9.9|||||P|1|${at}`,
    `P|1|4711|||${name}||^7^Year|F|||||||Yilmaz|Canine||17.4^Kg`,
    `O|1|000031||^^^LiverPanel|A|20261121111000|||||N`,
    `R|1|^^^ALB|3.1|g/dL|2.3-4.0|N||||F||${at}`,
    `R|2|^^^ALT|143|U/L|10-100|H||||F||${at}`,
    `R|3|^^^ALP|88|U/L|23-212|N||||P||${at}`, // R-11, in place of LIS02's operator
    `R|4|^^^TBIL|<0.1|mg/dL|0.0-0.9|N||||F||${at}`,
    END,
  ];
}

/** ü and ö in IBM 850. */
const CP850_NAME = "G\x81m\x81\x94";

/** Parts of a BC-2800Vet body: id, mode and time before the results, then the rest. */
const bcHead = (id: string) => `A${id}0112120261130`;
const bcRegions = "030070090250030160010210";
const bcHistograms = Array.from({ length: 768 }, (_, channel) => String((channel * 37) % 400).padStart(3, "0")).join(
  "",
);
const bcTail = `${"0".repeat(16)}${bcHistograms}`;
const BC_RED = "0672151033606700225132450";
const BC_PLATELETS = "0318084158267";
const BC_DIFFERENTIAL = "002100060071214061725";

/** WBC 9.8, LYM# 2.1, MID# 0.6, GRAN# 7.1, 21.4 6.1 72.5 %, RBC 6.72, HGB 151, MCHC 336, MCV 67.0, MCH 22.5, RDW 13.2, HCT 45.0, PLT 318, MPV 8.4, PDW 15.8, PCT 0.267. */
function bcBody(
  species: string,
  { id = "00004711", wbc = "0098", differential = BC_DIFFERENTIAL, platelets = BC_PLATELETS } = {},
): string {
  return `${bcHead(id)}${wbc}${differential}${BC_RED}${platelets}${"0".repeat(21)}${species}0${bcRegions}${bcTail}`;
}

const bcDog = bcBody("00");
const bcPig = bcBody("03", { differential: "0".repeat(21) });
const bcGoat = `${bcHead("00004714")}0098${"0".repeat(21)}${BC_RED}${"0".repeat(38)}60${bcRegions}${bcTail}`;
const bcQcFile = `BB99999911212026${"0".repeat(60)}`;
const bcQcRun = `C112120261130${"0".repeat(40)}`;

const handshake = (body: string) => `<ENQ>${body}<EOT><ETX>`;

interface Case {
  readonly name: string;
  readonly wire: string;
  readonly patient: Patient | null;
}

const vetscan: readonly Case[] = [
  { name: "dog", wire: session(vetscanDog), patient: dog },
  {
    name: "cat",
    wire: session([
      vetscanHeader(),
      vetscanPatient(1, "4712", "Cat"),
      ...vetscanDog.slice(2, 5),
      ...vetscanResults(CAT_RANGES),
      ...VETSCAN_QC,
      END,
    ]),
    patient: cat,
  },
  {
    // The QC order ends with its patient. The next results belong to a patient.
    name: "qc-after-patient",
    wire: session([
      ...vetscanDog.slice(0, -1),
      vetscanPatient(2, "4713", "Dog"),
      VETSCAN_ORDER.replace("100030", "103000"),
      "R|1|1742-6^^LN^ALT SerPl-cCnc|41|U/L|10 to 118|N",
      END,
    ]),
    patient: dog,
  },
  { name: "qc-only", wire: session([vetscanHeader(), "P|1", ...VETSCAN_QC, END]), patient: dog },
  {
    name: "sign-on",
    wire: session([vetscanHeader(), "C|1|I|^^Power Up Initialization Sign On|G", END]),
    patient: dog,
  },
  {
    name: "demo",
    wire: session([vetscanHeader({ processing: "D" }), ...vetscanShort.slice(1)]),
    patient: dog,
  },
  {
    name: "suppressed-values",
    wire: session([
      ...vetscanDog.slice(0, 4),
      "C|2|I|^^HEM: 310 LIP: 250 ICT:  40|G",
      "R|1|1751-7^^LN^Albumin SerPl-mCnc|HEM|g/dL|2.5 to 4.4|",
      "R|2|6768-6^^LN^ALP SerPl-cCnc|LIP|U/L|20 to 150|",
      "R|3|1742-6^^LN^ALT SerPl-cCnc|ICT|U/L|10 to 118|",
      "R|4|1975-2^^LN^Bilirub SerPl-mCnc|<0.2*|mg/dL|0.1 to 0.6|N",
      "R|5|3094-0^^LN^BUN SerPl-mCnc|3@|mg/dL|7 to 25|L",
      "R|6|2160-0^^LN^Creat SerPl-mCnc|~~~|mg/dL|0.3 to 1.4|",
      "R|7|2345-7^^LN^Glucose SerPl-mCnc|NA|mg/dL|60 to 110|",
      END,
    ]),
    patient: dog,
  },
  {
    name: "resent-result",
    wire:
      session(vetscanShort) +
      session([
        vetscanHeader({ sentAt: "20261121164400" }),
        ...vetscanShort.slice(1).map((record) => (record.startsWith("R|") ? `${record}||R` : record)),
      ]),
    patient: dog,
  },
  { name: "lost-ack", wire: lostAck(), patient: dog },
  { name: "bad-checksum", wire: badChecksum(), patient: dog },
  {
    name: "cut-before-l",
    wire: `${session(vetscanShort.slice(0, -2))}${session([
      vetscanHeader({ sentAt: "20261121101731" }),
      ...vetscanShort.slice(1),
    ])}`,
    patient: dog,
  },
  {
    name: "wrong-sender",
    wire: session([
      vetscanHeader({ sender: "ABAXIS, INC.^piccolo xpress^2.1.30^0000P99999" }),
      ...vetscanShort.slice(1),
    ]),
    patient: dog,
  },
];

const generic: readonly Case[] = [
  { name: "one-frame", wire: oneFrame(xp), patient: dog },
  {
    name: "etb-frames",
    wire: etbFrames([
      header("c-111-like^1"),
      "P|1|4711",
      "O|1|S-100|^1|^^^ALT\\^^^CREA\\^^^GLU|R||||||N",
      ...chemistry,
      END,
    ]),
    patient: cat,
  },
  {
    name: "cut-at-240",
    wire: cutAt240([
      header("splitter^9.9"),
      "P|1|4711|||Aydin^Zeytin",
      "O|1|S-101||^^^Panel|R|20261121111500|20261121112000",
      ...chemistry,
      result(4, "^^^ALB", "3.0", "g/dL"),
      result(5, "^^^TP", "6.4", "g/dL"),
      result(6, "^^^K", "4.4", "mmol/L"),
      `C|1|I|${"a long remark of the operator, ".repeat(12)}|G`,
      result(7, "^^^NA", "146", "mmol/L"),
      END,
    ]),
    patient: dog,
  },
  {
    name: "two-patients",
    wire: session([
      header("batch^1"),
      "P|1|4711|||Aydin^Zeytin",
      "O|1|S-201||^^^ALT|R||20261121110000",
      result(1, "^^^ALT", "52", "U/L"),
      "O|2|S-202||^^^CREA|R||20261121113000",
      result(1, "^^^CREA", "1.0", "mg/dL"),
      "P|2|4712|||Demir^Lokum",
      "O|1|S-203||^^^ALT|R||20261121110000",
      result(1, "^^^ALT", "31", "U/L"),
      "P|3",
      "O|1|||^^^ALT|R",
      result(1, "^^^ALT", "77", "U/L"),
      "P|4",
      "O|1|||^^^ALT|R",
      result(1, "^^^ALT", "77", "U/L"),
      END,
    ]),
    patient: dog,
  },
  {
    name: "order-per-test",
    wire: session([
      header("per-test^1"),
      "P|1|4711",
      ...chemistry.flatMap((record, index) => [
        `O|${index + 1}|S-301||${record.split("|")[2] ?? ""}|R||20261121111500`,
        record.replace(/^R\|\d/, "R|1"),
      ]),
      END,
    ]),
    patient: dog,
  },
  {
    name: "loinc-only",
    wire: session([
      header("coded^1"),
      "P|1|4711",
      "O|1|S-401||1742-6|R",
      result(1, "1742-6", "52", "U/L"),
      result(2, "2160-0^^LN", "88", "umol/L"),
      result(3, "^^^777^6690-2", "9.8", "10^9/L"),
      result(4, "718-7", "8.9", "mmol/L"),
      result(5, "99999-9", "1", "U/L"),
      END,
    ]),
    patient: dog,
  },
  {
    name: "mnemonics-only",
    wire: session([
      header("plain^1"),
      "P|1|4711",
      "O|1|S-402||^^^Panel|R",
      result(1, "^^^GPT", "52", "U/L"),
      result(2, "^CREA", "88", "umol/L"),
      result(3, "^^^TCHO/", "5.2", "mmol/L"),
      result(4, "^^^glu", "5.3", "mmol/L"),
      result(5, "^^^TPP", "6.4", "g/dL"),
      result(6, "^^^ALB", "31", "g/L"),
      result(7, "^^^CRP", "12", "furlong"),
      result(8, "^^^K", "4.4", ""),
      result(9, "^^^ALP", "0.9", "ukat/L"),
      END,
    ]),
    patient: dog,
  },
  {
    name: "urine-strip",
    wire: session([
      header("strip reader^1"),
      "P|1|4711",
      "O|1|U-1||^^^Strip|R",
      ...strip.map(([code, value], index) => result(index + 1, `^^^${code}`, value, "")),
      END,
    ]),
    patient: dog,
  },
  {
    // Only O-16 declares urine, so these results get no blood interval.
    name: "urine-specimen",
    wire: session([
      header("chem^1"),
      "P|1|4711",
      "O|1|||^^^GLU|R||||||N||||Serum",
      result(1, "^^^GLU", "95", "mg/dL"),
      "O|2|||^^^GLU\\^^^CREA\\^^^UPC|R||||||N||||Urine",
      result(1, "^^^GLU", "12", "mg/dL"),
      result(2, "^^^CREA", "140", "mg/dL"),
      result(3, "^^^UPC", "0.7", ""),
      END,
    ]),
    patient: dog,
  },
  {
    // Architect sends a result three times: final, interpretation, raw signal.
    name: "result-aspects",
    wire: session([
      header("ARCH-LIKE^1"),
      "P|1|4711",
      "O|1|S-501||^^^16^T4|R",
      result(1, "^^^16^T4^UNDILUTED^F", "2.1", "ug/dL"),
      result(2, "^^^77^XYZ^UNDILUTED^P", "48211.5", "RLU"),
      END,
    ]),
    patient: dog,
  },
  {
    name: "unmapped-codes",
    wire: session([
      header("c-311-like^1"),
      "P|1|4711",
      "O|1|S-502||^^^685/\\^^^687/|R",
      result(1, "^^^685/", "22.4", "U/l"),
      result(2, "^^^687/", "15.0", "U/l"),
      result(3, "^^^ALT/", "52", "U/l"),
      result(4, "", "7", "U/l"),
      END,
    ]),
    patient: dog,
  },
  {
    name: "delete-and-empty",
    wire: session([
      header("nulls^1"),
      'P|1|""|4711||""^Zeytin|""|""|""',
      'O|1|""||^^^ALT|R|""|20261121110000',
      result(1, "^^^ALT", '""', "U/L"),
      result(2, "^^^AST", "", "U/L"),
      result(3, "^^^CREA", "1.0", '""'),
      result(4, "^^^CRP", "1.0", '""', '""|""||F||||""'),
      END,
    ]),
    patient: dog,
  },
  {
    name: "escapes",
    wire: session([
      header("Kim &F& Sons^1"),
      "P|1|47&F&11|||Black &E& White^Fi&S&fi &H&Loud&N&",
      "O|1|S&R&1||^^^ALT|R",
      result(1, "^^^A&X4C&T", "52", "U&F&L"),
      "C|1|I|slightly hemolytic & lipemic|G",
      result(2, "^^^CREA", "1.0", "mg/dL"),
      END,
    ]),
    patient: dog,
  },
  {
    name: "own-delimiters",
    wire: session([
      "H|@^\\|||Cepheid-like^1|||||||P|LIS2-A2|20261121120000",
      "P|1|4711@4712|||Aydin^Zeytin",
      "O|1|S-601||^^^ALT@^^^CREA|R",
      result(1, "^^^ALT", "^52", "U/L"),
      result(2, "^^^CREA", "1.0@1.1", "mg/dL"),
      result(3, "^^^GLU", "95^101", "mg/dL"),
      result(4, "^^^TP", "6.4^", "g\\F\\dL", "|H@HH||F"),
      END,
    ]),
    patient: dog,
  },
  {
    name: "names-latin1",
    wire: session([header("caf\xe9^1"), "P|1|4711|||M\xfcller^Str\xe4mpfi", "O|1|S-701||^^^ALT|R", ...chemistry, END]),
    patient: cat,
  },
  {
    name: "names-utf8",
    wire: session([
      header("chem^1"),
      inUtf8("P|1|4711|||Işık Öztürk^Paşa 犬"),
      "O|1|S-701||^^^ALT|R",
      result(1, "^^^TBIL", "3", inUtf8("µmol/L")),
      END,
    ]),
    patient: cat,
  },
  {
    name: "no-l-record",
    wire: session([header("chem^1"), "P|1|4711", "O|1|S-801||^^^ALT|R", ...chemistry]),
    patient: dog,
  },
  {
    name: "l-error",
    wire: session([header("chem^1"), "P|1|4711", "O|1|S-802||^^^ALT|R", ...chemistry, "L|1|E"]),
    patient: dog,
  },
  { name: "host-query", wire: session([header("chem^1"), "Q|1|^S-803||ALL||||||||O", END]), patient: dog },
  {
    name: "training",
    wire: session([header("chem^1").replace("|P|", "|T|"), "P|1|4711", "O|1|S-804||^^^ALT|R", ...chemistry, END]),
    patient: dog,
  },
  {
    name: "control-order",
    wire: session([
      header("chem^1"),
      "P|1",
      "O|1|LEVEL 1||^^^ALT|R||||||Q",
      result(1, "^^^ALT", "101", "U/L"),
      "P|2|4711",
      "O|1|S-805||^^^ALT|R||||||N",
      result(1, "^^^ALT", "52", "U/L"),
      END,
    ]),
    patient: dog,
  },
  {
    name: "decimal-comma",
    wire: session([
      header("chem^1"),
      "P|1|4711||||||||||||||||17,4^kg",
      "O|1|S-806||^^^Panel|R",
      result(1, "^^^CREA", "0,9", "mg/dL"),
      result(2, "^^^CRP", "<5,0", "mg/L"),
      result(3, "^^^ALT", ">1000", "U/L"),
      result(4, "^^^TBIL", "<0,1", "mg/dL"),
      result(5, "^^^ALP", "1,234", "U/L"),
      result(6, "^^^ALB", ">= 3,0", "g/dL"),
      result(7, "^^^NH3", "12,345", "umol/L"),
      END,
    ]),
    patient: dog,
  },
  {
    name: "no-times",
    wire: session(["H|\\^&|||chem^1", "P|1|4711", "O|1|||^^^ALT|R", result(1, "^^^ALT", "52", "U/L", "|N||F"), END]),
    patient: dog,
  },
  {
    name: "impossible-date",
    wire: session([
      header("chem^1"),
      "P|1|4711||||20190230",
      "O|1|S-807||^^^ALT|R|20261131110000|20261121110000",
      result(1, "^^^ALT", "52", "U/L", "|N||F||||20260230101500"),
      END,
    ]),
    patient: dog,
  },
  {
    name: "time-with-offset",
    wire: session([
      header("chem^1"),
      "P|1|4711",
      "O|1|S-808||^^^ALT|R",
      result(1, "^^^ALT", "52", "U/L", "|N||F|||20261121091500-0500|20261121093000-0500"),
      END,
    ]),
    patient: dog,
  },
  {
    name: "mixed-modalities",
    wire: session([
      header("combi^1"),
      "P|1|4711|||Zeytin||20190504|F|||||||||17.4^kg",
      "O|1|S-809||^^^Panel|R",
      result(1, "^^^WBC", "9.8", "K/uL"),
      result(2, "^^^ALT", "52", "U/L"),
      result(3, "^^^XYZ", "1", ""),
      result(4, "^^^HCT", "0.45", ""),
      result(5, "^^^CREA", "88", "umol/L"),
      result(6, "^^^PLT", "18", "K/uL"),
      END,
    ]),
    patient: dog,
  },
  {
    // Only a final value (R-9) is a result.
    name: "result-statuses",
    wire: session([
      header("chem^1"),
      "P|1|4711",
      "O|1|S-810||^^^Panel|R",
      ...["F", "C", "R", "V", "P", "I", "S", "X", "N"].map((status, index) =>
        result(
          index + 1,
          `^^^${["ALT", "AST", "ALP", "GGT", "CREA", "BUN", "GLU", "TP", "ALB"][index] ?? ""}`,
          "5",
          "U/L",
          `|N||${status}`,
        ),
      ),
      END,
    ]),
    patient: dog,
  },
];

const shapes: readonly Case[] = [
  { name: "sysmex-xn", wire: session(xn), patient: dog },
  { name: "pentra", wire: session(pentra), patient: dog },
  { name: "erba", wire: session(erba), patient: dog },
  { name: "genexpert", wire: oneFrame(geneXpert), patient: dog },
  { name: "vitros", wire: session(vitros), patient: dog },
  { name: "yumizen", wire: cutAt240(yumizen), patient: dog },
];

const skyla: readonly Case[] = [
  { name: "liver-panel", wire: session(skylaRecords(inUtf8("金城武"))), patient: dog },
  { name: "name-in-ibm850", wire: session(skylaRecords(CP850_NAME)), patient: dog },
  {
    name: "demo",
    wire: session(
      skylaRecords("Zeytin").map((record, index) => (index === 0 ? record.replace("|P|1|", "|D|1|") : record)),
    ),
    patient: dog,
  },
  {
    name: "status",
    wire: session([...skylaRecords("").slice(0, 1), "C|1|I|Connected|G", END]),
    patient: dog,
  },
];

const bc2800: readonly Case[] = [
  { name: "dog", wire: handshake(bcDog), patient: dog },
  { name: "cat", wire: handshake(bcBody("01", { id: "00004712" })), patient: cat },
  { name: "pig", wire: handshake(bcPig), patient: null },
  { name: "goat", wire: handshake(bcGoat), patient: null },
  { name: "custom-animal", wire: handshake(bcBody("07", { differential: "0".repeat(21) })), patient: dog },
  { name: "no-values", wire: handshake(bcBody("00", { id: "********", platelets: "*************" })), patient: dog },
  { name: "qc-file", wire: handshake(bcQcFile), patient: dog },
  { name: "qc-run", wire: handshake(bcQcRun), patient: dog },
  // A character is lost on the line. The agent sends NAK, and the device resends the body.
  { name: "resent-body", wire: `<ENQ>${bcDog.replace("0098", "098")}<EOT><ETX>${bcDog}<EOT><ETX>`, patient: dog },
  { name: "lost-ack", wire: `${handshake(bcDog)}<ETX>`, patient: dog },
  { name: "two-runs", wire: handshake(bcDog) + handshake(bcBody("01", { id: "00004712" })), patient: null },
  { name: "cut", wire: `<ENQ>${bcDog.slice(0, 60)}`, patient: dog },
];

const bc2800OneWay: readonly Case[] = [
  { name: "dog", wire: `<STX>${bcDog}<SUB>`, patient: dog },
  { name: "lost-character", wire: `<STX>${bcDog.replace("0098", "098")}<SUB>`, patient: dog },
  {
    // One character is missing in the results and one is added in the histogram. The length is correct, but columns are shifted.
    name: "moved-columns",
    wire: `<STX>${bcDog.replace("0098", "098")}0<SUB>`,
    patient: dog,
  },
  { name: "cut", wire: `<STX>${bcDog.slice(0, 60)}<STX>${bcDog}<SUB>`, patient: dog },
];

const raw: readonly Case[] = [
  {
    name: "lines",
    wire: [header("plain^1"), "P|1|4711", "O|1|S-1001||^^^ALT|R", ...chemistry, END]
      .map((line) => `${line}<CR><LF>`)
      .join(""),
    patient: dog,
  },
  {
    name: "digits-before-records",
    wire: [header("plain^1"), "P|1|4711", "O|1|S-1002||^^^ALT|R", ...chemistry, END]
      .map((line, index) => `${(index + 1) % 8}${line}<CR>`)
      .join(""),
    patient: dog,
  },
  {
    name: "cut",
    wire: `noise${[header("plain^1"), "P|1|4711", "O|1|S-1003||^^^ALT|R", ...chemistry.slice(0, 1)].map((line) => `<CR>${line}`).join("")}`,
    patient: dog,
  },
];

const astmFolders = {
  "abaxis-vetscan-vs2": vetscan,
  skyla,
  "mindray-bc2800vet": bc2800,
  "mindray-bc2800vet-one-way": bc2800OneWay,
  "generic-astm": [...generic, ...shapes],
  "generic-astm-raw": raw,
};

function made(folder: string, extension: string, { name, wire, patient }: Case): MadeFixture {
  return { path: `${folder}/${name}.${extension}`, bytes: bytes(wire), patient };
}

const patients = { dog, cat };

/** @returns the patient of a case's study; null if the case declares none */
function patientOf(name: keyof typeof patients | null): Patient | null {
  return name === null ? null : patients[name];
}

export const madeFixtures: readonly MadeFixture[] = [
  ...Object.entries(astmFolders).flatMap(([folder, cases]) => cases.map((one) => made(folder, "astm", one))),
  ...Object.entries({ ...astmDeviceFolders, ...fujiFolders }).flatMap(([folder, cases]) =>
    cases.map((one) => made(folder, "astm", { ...one, patient: patientOf(one.patient) })),
  ),
  ...Object.entries(textFixtures).flatMap(([folder, cases]) =>
    cases.map((one) => made(folder, "astm", { ...one, patient: dog })),
  ),
  ...[...Object.entries(hl7Folders), ...Object.entries(hl7DeviceFolders)].flatMap(([folder, cases]) =>
    cases.map((one) => made(folder, "hl7", { ...one, patient: patientOf(one.patient) })),
  ),
  ...Object.entries(modelFolders).flatMap(([folder, cases]) =>
    cases.map((one) => made(folder, "hl7", { ...one, patient: patientOf(one.patient) })),
  ),
  ...poct1Fixtures.map(({ name, wire, patient }) => ({
    path: `generic-poct1a/${name}.poct1`,
    bytes: Buffer.from(wire, "latin1"),
    patient: patientOf(patient),
  })),
];

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { path, bytes: wire } of madeFixtures) {
    mkdirSync(dirname(fixturesFolder + path), { recursive: true });
    writeFileSync(fixturesFolder + path, wire);
  }
}
