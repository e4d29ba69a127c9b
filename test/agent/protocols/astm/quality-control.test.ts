import { expect, test } from "vitest";
import { HEADER, only, readGeneric, readWith, reportsOf, VETSCAN_HEADER } from "../../records.ts";
import { astmDevice } from "../../../support/clinic/profiles.ts";

const abaxisVetscanVs2 = astmDevice("abaxis-vetscan-vs2");

// Control material in ASTM messages: it makes no study, in whichever field the device names it.

const ALT = "R|1|^^^ALT|52|U/L||N||F||||20261121113015";

/** An O record with the fields from O-3 on, by number. */
function order(fields: Readonly<Record<number, string>>): string {
  const parts = Array.from({ length: 16 }, (_, index) => fields[index + 1] ?? "");
  return ["O", "1", ...parts.slice(2)].join("|");
}

test.each([
  ["O-12 is Q", order({ 3: "LEVEL 1", 12: "Q" })],
  ["O-3 starts with QC", order({ 3: "QC-12340801" })],
  ["the third component of O-4 starts with QC", order({ 4: "^^        QC-60990801^B" })],
  ["O-3 has the word CONTROLE", order({ 3: "BMM 399 CONTROLE^^3" })],
  ["O-3 starts with CTRL", order({ 3: "ctrl N" })],
  ["O-16 is Control", order({ 3: "17", 16: "Control" })],
])("an order is quality control if %s", (_why, record) => {
  expect(readGeneric(["P|1", record, ALT])).toMatchObject({
    is: "not-for-patients",
    reason: "order 1 is quality control: not for a patient",
  });
});

test.each(["P|1|QC12", "P|1||CONTROL 2", "P|1|||ctrl-3"])("%s names no patient", (patient) => {
  expect(readGeneric([patient, order({ 3: "17" }), ALT])).toMatchObject({ is: "not-for-patients" });
});

test.each([
  ["its card is numbered QC", "P|1|QC1234|||^Zeytin", order({ 3: "17" })],
  ["its sample is numbered QC", "P|1|4711", order({ 3: "QC-17" })],
  ["it is named Control", "P|1||||Control Rex", order({ 3: "17" })],
  ["its name was typed as the sample", "P|1", order({ 3: "Control Rex" })],
  ["it is on a control diet", "P|1|4711", order({ 3: "17", 16: "control diet" })],
])("a patient's results stay though %s", (_why, ...records) => {
  expect(only(reportsOf(readGeneric([...records, ALT]))).rows).toHaveLength(1);
});

test("results of a control without an order are not for a patient", () => {
  expect(readGeneric(["P|1|QC12", ALT])).toMatchObject({
    is: "not-for-patients",
    reason: "a result without an order is quality control: not for a patient",
  });
});

test("a control among patients' orders loses only itself", () => {
  const reading = readGeneric([
    "P|1|4711",
    order({ 3: "S-1" }),
    ALT,
    order({ 3: "QC-1", 12: "Q" }).replace("O|1", "O|2"),
    ALT.replace("|52|", "|99|"),
    "C|1|I|control comment",
    "O|3|S-1||^^^AST",
    "R|1|^^^AST|31|U/L||N||F||||20261121113015",
  ]);
  const report = only(reportsOf(reading));
  expect(report.rows.map(({ code, text }) => [code, text])).toEqual([
    ["ALT", "52"],
    ["AST", "31"],
  ]);
  expect(report.comments).toEqual([]);
  expect(reading).toMatchObject({ notes: ["order 2 is quality control: not for a patient"] });
});

test("a control with a patient's sample number and time is not joined with the patient's order", () => {
  const reading = readGeneric(["P|1|4711", order({ 3: "17" }), ALT, order({ 3: "17", 12: "Q" }), ALT]);
  expect(only(reportsOf(reading)).rows).toHaveLength(1);
});

test("results without a P record are a control's if the device always names its patient", () => {
  const records = ["O|1|||^^^Panel", "R|1|1742-6^^LN^ALT|41|U/L|10 to 118|N", "L|1|N"];
  expect(readWith(abaxisVetscanVs2, VETSCAN_HEADER, ...records)).toMatchObject({ is: "not-for-patients" });
  expect(readWith(abaxisVetscanVs2, VETSCAN_HEADER, "P|1", ...records)).toMatchObject({ is: "reports" });
  expect(readGeneric(["O|1|||^^^Panel", ALT])).toMatchObject({ is: "reports" });
});

test("words of the profile in an M record make its order quality control", () => {
  const records = ["P|1|4711", "O|1|||^^^Panel", "M|1|* QUALITY CONTROL REPORT *", ALT, "L|1|N"];
  expect(readWith(abaxisVetscanVs2, VETSCAN_HEADER, ...records)).toMatchObject({
    is: "not-for-patients",
    reason: "an M record says quality control: not for a patient",
  });
});

test("an M record after its results hides them alone, not a patient's order of the same time", () => {
  const panel = "O|1|||^^^Panel||20261121110000";
  const control = [panel, ALT.replace("|52|", "|99|"), "M|1|* QUALITY CONTROL REPORT *"];
  const reading = readWith(abaxisVetscanVs2, VETSCAN_HEADER, "P|1|4711", panel, ALT, ...control, "L|1|N");
  expect(only(reportsOf(reading)).rows.map(({ text }) => text)).toEqual(["52"]);
});

test.each(["Q", "D", "T"])("a message with H-12 %s is not for patients", (purpose) => {
  const header = HEADER.replace("|P|", `|${purpose}|`);
  expect(readWith({ ...abaxisVetscanVs2, sender: /./ }, header, "P|1", order({ 3: "1" }), ALT, "L|1|N")).toMatchObject({
    is: "not-for-patients",
  });
});
