import { bytes } from "./agent/protocols/astm/wire.ts";

// Texts of Fujifilm's analyzers in their documented layouts, with invented data.

interface FujiCase {
  readonly name: string;
  /** In the notation of bytes(). */
  readonly wire: string;
  readonly patient: "dog" | null;
}

/** Encodes STX, text, ETX, BCC. @param change is added to the right BCC */
export function bccFrame(text: string, change = 0): string {
  let bcc = change;
  for (const byte of bytes(`${text}<ETX>`)) bcc ^= byte;
  return `<STX>${text}<ETX>${String.fromCharCode(bcc)}`;
}

interface Head {
  readonly type?: string;
  readonly condition?: string;
  readonly date?: string;
  readonly number?: string;
  readonly id?: string;
  readonly name?: string;
  readonly species?: string;
  readonly sex?: string;
  readonly count?: number;
  /** Operator, emergency and analyzer of types A and B. */
  readonly more?: readonly string[];
}

/** Encodes an R or T record. */
export function fujiRecord(tests: readonly string[], head: Head = {}): string {
  const { type = "R", condition = "NORMAL", date = "21-11-2026", number = "7", id = "4711", name = "Zeytin" } = head;
  const { species = "14", sex = "9", count = tests.length, more = [] } = head;
  const texts = [number, id, name].map((text) => text.padEnd(13));
  const rest = [species.padEnd(2), sex, "999", "01", String(count).padEnd(2), ...more];
  return [type, condition.padEnd(7), date, "11:30", ...texts, ...rest, ...tests].join(",");
}

interface Test {
  readonly sign?: string;
  readonly range?: readonly [string, string];
  /** Mark by place from 1. */
  readonly marks?: Readonly<Record<number, string>>;
}

function marksText(marks: Readonly<Record<number, string>> = {}): string {
  return Array.from({ length: 11 }, (_, index) => marks[index + 1] ?? " ").join("");
}

/** Encodes the seven columns of a test. */
export function fujiTest(
  name: string,
  value: string,
  unit: string,
  { sign = "=", range = ["", ""], marks }: Test = {},
) {
  const bounds = range.map((bound) => bound.padEnd(5));
  return [name.padEnd(8), sign, value.padEnd(9) + unit.padEnd(6), "01", ...bounds, marksText(marks)].join(",");
}

/** Encodes a text of type 3. */
function fixed(tests: readonly string[], condition = "NORMAL"): string {
  const head = [condition.padEnd(7), "2026-11-21", "11:30", "8".padEnd(13), "4711".padEnd(13), "01"];
  return [...head, ...tests].join("");
}

function fixedTest(name: string, value: string, unit: string, marks: Readonly<Record<number, string>> = {}, more = "") {
  return [name.padEnd(7), "=", value.padEnd(9), unit.padEnd(6), "01", marksText(marks), more].join("");
}

const slides = [
  fujiTest("TCHO-PS", "4.53", "mmol/l"),
  fujiTest("GLU-PS", "5.31", "mmol/l", { range: ["4.20", "7.10"] }),
  fujiTest("CRE-P", "18", "umol/l", { sign: "<", range: ["0.00", "0.00"] }),
  fujiTest("XYZ-PS", "1.20", "U/l"),
];

const marked = [
  fujiTest("GLU-PS", "14.2", "mmol/l", { range: ["4.20", "7.10"], marks: { 1: "H" } }),
  fujiTest("ALP-PS", "29.1", "ukat/l", { sign: ">", marks: { 1: "H", 2: "@", 7: "&" } }),
  fujiTest("TP-PS", "71", "g/l", { marks: { 3: "#" } }),
  fujiTest("ALB-PS", "31", "g/l", { marks: { 4: "$" } }),
  fujiTest("BUN-PS", "7.41", "mmol/l", { marks: { 4: "+" } }),
  fujiTest("CRE-PS", "82", "umol/l", { marks: { 4: "-" } }),
  fujiTest("TBIL-PS", "4", "umol/l", { marks: { 5: "*" } }),
  fujiTest("IP-PS", "1.31", "mmol/l", { marks: { 5: "?" } }),
  fujiTest("GLOB", "40", "g/l", { marks: { 9: "E" } }),
  fujiTest("Ca-PS", "2.44", "mmol/l", { marks: { 10: "\\", 11: "Z" } }),
];

const withoutValues = [
  fujiTest("GLU-PS", "****", "mmol/l", { marks: { 5: "*" } }),
  fujiTest("Na-PS", "+OR", "mEq/l"),
  fujiTest("K-PS", "-OR", "mEq/l"),
  fujiTest("CRP-PS", "EXP", "mg/l"),
  fujiTest("NH3-P", "CHK QC", "umol/l"),
  fujiTest("ALB-PS", "32", "g/l"),
];

const ratios = [
  fujiTest("BUN/CRE", "92.4", "(SI)", { range: ["48.1", "121.5"] }),
  fujiTest("ALB/GLB", "0.8", "", { range: ["0.6", "1.8"] }),
  fujiTest("v-AMY-P", "812", "U/l"),
  fujiTest("HDL-C-PS", "3.1", "mmol/l"),
  fujiTest("Hb-W", "121", "g/l"),
];

const urine = [fujiTest("CRE-U", "9120", "umol/l"), fujiTest("GLU-U", "0.6", "mmol/l")];

const typeA = [
  `${fujiTest("GLU-PS", "5.31", "mmol/l")},204118,202708`,
  `${fujiTest("GPT-PS", "0.71", "ukat/l")},      ,      `,
];
const headOfA = { more: ["vt2".padEnd(13), "1", "70012233"] };

/** A run whose BCC is this byte. */
function runWithBcc(bcc: number): string {
  const runs = Array.from({ length: 1000 }, (_, index) => bccFrame(fujiRecord(slides, { number: `${index}` })));
  return runs.find((run) => run.charCodeAt(run.length - 1) === bcc) ?? "";
}

const blocks = `${fujiRecord(slides.slice(0, 2), { count: 4 })}<ETB>${slides.slice(2).join(",")}`;
const error = `E,21-11-2026,11:31:08,I4102,01,The slide is stuck`;
const begun = `S,NORMAL ,21-11-2026,11:24,${["7", "4711", "Zeytin"].map((text) => text.padEnd(13)).join(",")},01`;

const dog = (name: string, ...wire: readonly string[]): FujiCase => ({ name, wire: wire.join(""), patient: "dog" });

const driChem: readonly FujiCase[] = [
  dog("four-slides", bccFrame(fujiRecord(slides))),
  dog("marks", bccFrame(fujiRecord(marked))),
  dog("no-values", bccFrame(fujiRecord(withoutValues))),
  dog("ratios", bccFrame(fujiRecord(ratios))),
  dog("year-first", bccFrame(fujiRecord(slides, { date: "2026-11-21", sex: "1" }))),
  dog("katakana", bccFrame(fujiRecord(slides, { name: "\xc0\xcf" }))),
  dog("urine", bccFrame(fujiRecord([...urine, fujiTest("BUN/CRE", "31.0", "(SI)")]))),
  dog("urine-and-serum", bccFrame(fujiRecord([...slides, ...urine, fujiTest("BUN/CRE", "31.0", "(SI)")]))),
  dog("type-a", bccFrame(fujiRecord(typeA, headOfA))),
  dog(
    "type-3",
    `<STX>${fixed([fixedTest("GLU-PS", "5.31", "mmol/l"), fixedTest("GPT-PS", "0.71", "ukat/l", { 1: "H" })])}<ETX>`,
  ),
  dog("type-3-lost-character", `<STX>${fixed([fixedTest("GLU-PS", "5.31", "mmol/l")]).replace("5.31", "531")}<ETX>`),
  dog("control", bccFrame(fujiRecord(slides, { condition: "CONTROL", name: "QP-L" }))),
  dog("qc", bccFrame(fujiRecord(slides, { condition: "QC" }))),
  dog("unknown-condition", bccFrame(fujiRecord(slides, { condition: "CALIB" }))),
  dog("wrong-bcc", bccFrame(fujiRecord(slides, { name: "" }), 1), bccFrame(fujiRecord(slides, { number: "8" }))),
  dog("control-characters-as-bcc", runWithBcc(0x02), runWithBcc(0x03), runWithBcc(0x17)),
  // BCC before ETX, as another program writes it: a character behind the marks.
  dog("displaced-bcc", `<STX>${fujiRecord(slides)}h<ETX>`),
  // Without BCC the layout has to prove the text. A lost character of a value takes its row only.
  dog("lost-character", `<STX>${fujiRecord(slides).replace("5.31 ", "531 ")}<ETX>`),
  dog("lost-comma", `<STX>${fujiRecord(slides).replace("=,5.31", "=5.31")}<ETX>`),
  dog("lost-result", `<STX>${fujiRecord(slides.slice(1), { count: 4 })}<ETX>`),
  dog("blocks", bccFrame(blocks)),
  dog("test-begun-and-error", bccFrame(begun), bccFrame(error)),
  dog("request", bccFrame("I,,10"), bccFrame("W,VDAG0001     ")),
  dog("cut", `<STX>${fujiRecord(slides).slice(0, 90)}`),
];

const hormones = [
  fujiTest("v-T4", " 1.23", "ng/mL", { range: ["1.10", "4.20"] }),
  fujiTest("v-CORT", "52.1", "ng/mL", { sign: ">", marks: { 1: "H", 2: "@" } }),
  fujiTest("vf-SAA", "3.8", "ug/mL", { marks: { 3: "#", 5: "w" } }),
];

const au: readonly FujiCase[] = [
  dog("hormones", bccFrame(fujiRecord(hormones))),
  dog(
    "with-interval",
    bccFrame(
      fujiRecord(
        hormones.map((test) => `${test},3`),
        { type: "T", species: "15" },
      ),
    ),
  ),
  dog("type-3", `<STX>${fixed([fixedTest("v-TSH", "0.21", "ng/mL")])}<ETX>`),
  dog(
    "type-3-with-interval",
    `<STX>${fixed([fixedTest("v-PRG", "8.40", "ng/mL", { 1: "H", 4: "+" }, `153${"0.30 "}${"2.10 "}`)])}<ETX>`,
  ),
  dog("control", bccFrame(fujiRecord(hormones, { condition: "CONTROL" }))),
  dog("request", bccFrame("X,,,,05"), bccFrame("Y,VDAG0001     ,             ,             ,01")),
];

export const fujiFolders: Readonly<Record<string, readonly FujiCase[]>> = {
  "fuji-dri-chem-nx": driChem,
  "fuji-au": au,
};
