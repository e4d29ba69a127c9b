import type { Hl7Profile } from "../../protocols/hl7/profile.ts";
import type { Segment } from "../../protocols/hl7/message/segment.ts";

/**
 * Mindray BS, chemistry, HL7 2.3.1. Source: a log of a BS-200E, its manual, and a sample for a BS-240 by another program's author.
 * Factory names may have a method in brackets. Unverified: BS-240 and Vet models, factory names.
 */
export const mindrayBs: Hl7Profile = {
  id: "mindray-bs",
  protocol: "hl7",
  link: { kind: "mllp" },
  device_name: "Mindray BS",
  modality: "BIOCHEMISTRY",
  marks: /\|Mindray\^BS-\d/i,
  sender: /\bBS-\d/i,
  code: (obx) => namesOf(obx),
  patient: () => ({ species: null }), // PID-35 is undefined for it, and PID-10 is a blood type
  // QRY^Q02 gets QCK^Q02 and DSR^Q03, without a species.
  orders: { tests: { pattern: /^\d{1,4}$/, example: "2,5: the numbers that the tests have on the analyzer" } },
  collectHours: 12, // one test per message; a sample number is reused the next day
};

/**
 * Returns the test's names. OBX-4 of a BS-200E has the name, and OBX-3 a test number of this one analyzer. A BS-240 sends 1 in
 * OBX-4, and code and name in OBX-3.
 */
function namesOf(obx: Segment): readonly string[] {
  const name = obx.field(4).trim();
  const sent = /^\d*$/.test(name) ? [obx.component(3, 1), obx.component(3, 2)] : [name];
  return [...sent, ...sent.flatMap(factoryNames)];
}

/** A method in brackets: `Creatinine (Jaffe)`. The display may cut the closing one. */
const BRACKETS = /[([{（【]([^)\]}）】]*)[)\]}）】]?/g;
/** Words in brackets that name another quantity: `Bilirubin (direct)`, `Calcium (ionized)`, `Protein (urine)`. */
const QUANTITY =
  /\b(?:d|t|i|u|dir\w*|tot\w*|ind\w*|(?:un)?conj\w*|ioni[sz]ed|free|urin\w*|csf|fluid|bone|pancrea\w*|hdl|ldl|vldl|mb|corr\w*)\b/i;

/** Factory names that the catalogue lacks: they are ambiguous on a device that is not a chemistry analyzer. */
const FACTORY: Readonly<Record<string, string>> = {
  "total bilirubin": "TBIL",
  "direct bilirubin": "DBIL",
  calcium: "CA",
  "inorganic phosphorus": "PHOS",
  "phosphorus inorganic": "PHOS",
  "total cholesterol": "CHOL",
  "total bile acid": "BA",
  "total bile acids": "BA",
  "carbon dioxide": "TCO2",
  "α-amylase": "AMYL",
  "γ-glutamyltransferase": "GGT",
  "γ-glutamyl transferase": "GGT",
};

/** Returns a name as the catalogue may have it: without the method in brackets. */
function factoryNames(name: string): string[] {
  const plain = name
    .replace(BRACKETS, (_, inside: string) => (QUANTITY.test(inside) ? ` ${inside} ` : " "))
    .replace(/\s+/g, " ")
    .trim();
  return [FACTORY[plain.toLowerCase()] ?? plain].filter((text) => text !== "" && text !== name);
}
