import { beforeEach, describe, expect, test } from "vitest";
import type { FilingDevice } from "../../../../agent/study/assess.ts";
import { store } from "../../../../agent/tools/offline/reprocess.ts";
import { cat, dog } from "../../../support/runner/fixtures.ts";
import { type FilingClinic, resultsOf, type Revision, useFilingClinic } from "../../../support/clinic/filing-clinic.ts";
import { HEADER, only, resultRecord } from "../../records.ts";
import { astmDevice, hl7Device } from "../../../support/clinic/profiles.ts";

const genericAstm = astmDevice("generic-astm");
const genericHl7 = hl7Device("generic-hl7");

// Goal: a mapping of a device's code reaches what is stored as one new revision, and no reprocessing undoes a later result.

let clinic: FilingClinic;

useFilingClinic((created) => (clinic = created));

const plain: FilingDevice = { profile: genericAstm, timeZone: "UTC", model: null };

beforeEach(() => teach({}));

/** Sets the codes of the device, as a restart with another agent.yaml does. */
function teach(codes: Readonly<Record<string, string>>, device = plain): void {
  clinic.devices.set("chem-1", { ...device, codes: new Map(Object.entries(codes)) });
}

const AT = { 13: "20261121113015" };
const at = (...rows: readonly [code: string, value: string, unit?: string][]) =>
  rows.map(([code, value, unit = ""]) => resultRecord(`^^^${code}`, value, unit, AT));

/** Receives the rows of the dog's sample S-1. */
const receive = (...records: readonly string[]) =>
  clinic.receive("chem-1", [HEADER, "P|1|4711", "O|1|S-1||^^^Panel|R||20261121110000", ...records, "L|1|N"]);

async function reprocessed(states: readonly ("filed" | "unmatched")[] = ["filed"]): Promise<Revision[]> {
  await clinic.reprocess({ states });
  return clinic.push();
}

describe("a corrected patient", () => {
  test("has its results flagged again in one new revision, for the species that it is", async () => {
    await clinic.know(dog, "4711");
    await receive(...at(["ALT", "52", "U/L"], ["CREA", "1.7", "mg/dL"]));
    const first = only(await clinic.push());
    expect(first.snapshot.animal?.species).toBe("dog");
    await clinic.know({ ...dog, species: "cat" }, "4711");
    const again = only(await reprocessed());
    expect([again.fp, again.revision, again.snapshot.animal?.species]).toEqual([first.fp, 2, "cat"]);
    expect(resultsOf(again)).not.toEqual(resultsOf(first));
    expect(await reprocessed()).toEqual([]);
  });
});

describe("a new mapping of codes", () => {
  beforeEach(() => clinic.know(dog, "4711"));

  test("replaces the row of the device's code in a new revision, with unit and flag, and goes back when it is removed", async () => {
    await receive(...at(["413", "118", "mg/dL"], ["ALT", "52", "U/L"]));
    const first = only(await clinic.push());
    expect(resultsOf(first)).toEqual(["413 118 mg/dL no flag device", "ALT 52 U/L normal catalogue"]);

    teach({ "413": "GLU" });
    const mapped = only(await reprocessed());
    expect([mapped.fp, mapped.revision, mapped.body.dedupe_key]).toEqual([first.fp, 2, first.body.dedupe_key]);
    expect(resultsOf(mapped).toSorted()).toEqual(["ALT 52 U/L normal catalogue", "GLU 118 mg/dL high clinic"]);
    expect(await reprocessed()).toEqual([]);

    teach({});
    const back = only(await reprocessed());
    expect(back.revision).toBe(3);
    expect(resultsOf(back).toSorted()).toEqual(resultsOf(first).toSorted());
  });

  test("is shown before it is stored, row by row", async () => {
    await receive(...at(["413", "118", "mg/dL"]));
    await clinic.push();
    teach({ "413": "GLU" });
    expect(only(await clinic.reprocess({ states: ["filed"] })).diff).toEqual([
      "- filed: unmapped: 413",
      "+ to be sent",
      expect.stringMatching(/^- 413 .* 118 {2}mg\/dL {2}no range {2}no flag$/) as string,
      expect.stringMatching(/^\+ GLU .* 118 {2}mg\/dL {2}\S+ {2}high$/) as string,
    ]);
  });

  test("reaches only the messages of the device and of the time that are wanted", async () => {
    await receive(...at(["413", "118", "mg/dL"]));
    await clinic.push();
    teach({ "413": "GLU" });
    expect(await clinic.reprocess({ states: ["filed"], devices: ["chem-2"] })).toEqual([]);
    expect(await clinic.reprocess({ states: ["filed"], since: Date.now() + 1_000 })).toEqual([]);
    expect(await clinic.reprocess({ states: ["filed"], devices: ["chem-1"] })).toHaveLength(1);
  });

  test("leaves a word under the device's code if the analyte has a number", async () => {
    await receive(...at(["413", "Positive"]));
    expect(resultsOf(only(await clinic.push()))).toEqual(["413 Positive - no flag device"]);
    teach({ "413": "GLU" });
    expect(await reprocessed()).toEqual([]);
  });

  test("keeps the key of a sample without number and time", async () => {
    const anonymous = () => clinic.receive("chem-1", [HEADER, "P|1|4711", "O|1", "R|1|^^^413|118|mg/dL", "L|1|N"]);
    await anonymous();
    const first = only(await clinic.push());
    teach({ "413": "GLU" });
    const mapped = only(await reprocessed());
    expect([mapped.fp, mapped.revision, mapped.body.dedupe_key]).toEqual([first.fp, 2, first.body.dedupe_key]);
    await anonymous(); // the device sends it again
    expect(await clinic.push()).toEqual([]);
  });

  test("reaches every message of a study that came test by test, in one revision", async () => {
    await receive(...at(["413", "118", "mg/dL"]));
    await receive(...at(["ALT", "52", "U/L"]));
    await receive(...at(["414", "1.1", "mg/dL"]));
    await clinic.push();
    teach({ "413": "GLU", "414": "CREA" });
    const mapped = only(await reprocessed());
    expect(resultsOf(mapped).toSorted()).toEqual([
      "ALT 52 U/L normal catalogue",
      "CREA 1.1 mg/dL normal clinic",
      "GLU 118 mg/dL high clinic",
    ]);
    expect(clinic.listed().map(({ state }) => state)).toEqual(["filed", "filed", "filed"]);
  });

  test("reaches a study that the device collects from one-test messages", async () => {
    const device = { ...plain, profile: { ...genericHl7, collectHours: 12 } };
    teach({}, device);
    const collect = (code: string, value: string, minute: string) =>
      clinic.receive("chem-1", [
        `MSH|^~\\&|LAB|V|||2026112111${minute}||ORU^R01|${minute}|P|2.5.1`,
        "PID|1||4711",
        "OBR|1|S-100234||X",
        `OBX|1|NM|${code}||${value}|mg/dL|||||F|||2026112111${minute}`,
      ]);
    await collect("413", "118", "10");
    await collect("CREA", "1.1", "40");
    const sent = await clinic.push();
    expect(new Set(sent.map(({ fp }) => fp)).size).toBe(1);
    teach({ "413": "GLU" }, device);
    const mapped = only(await reprocessed());
    expect(resultsOf(mapped).toSorted()).toEqual(["CREA 1.1 mg/dL normal catalogue", "GLU 118 mg/dL high clinic"]);
  });

  test("does not bring back a value that a later message corrected", async () => {
    await receive(...at(["413", "118", "mg/dL"], ["ALT", "52", "U/L"]));
    await receive(...at(["ALT", "70", "U/L"]));
    await clinic.push();
    teach({ "413": "GLU" });
    const mapped = only(await reprocessed());
    expect(resultsOf(mapped).toSorted()).toEqual(["ALT 70 U/L normal catalogue", "GLU 118 mg/dL high clinic"]);
  });

  test("does not overwrite a correction that arrives between its reading and its storing", async () => {
    await receive(...at(["413", "118", "mg/dL"], ["ALT", "52", "U/L"]));
    await clinic.push();
    teach({ "413": "GLU" });
    const older = await clinic.reassess({ states: ["filed"] });
    await receive(...at(["ALT", "70", "U/L"]));
    await clinic.push();

    expect(store(clinic.folder, older)).toEqual({ stored: 0, overtaken: 1 });
    expect(await clinic.push()).toEqual([]);
    const mapped = only(await reprocessed());
    expect(resultsOf(mapped).toSorted()).toEqual(["ALT 70 U/L normal catalogue", "GLU 118 mg/dL high clinic"]);
  });

  test("moves a row to the study of its own modality", async () => {
    await receive(...at(["413", "9.8", "10*9/L"]));
    const [first] = await clinic.push();
    expect(first?.body.modality).toBe("BIOCHEMISTRY");
    teach({ "413": "WBC" });
    const moved = await reprocessed();
    expect(moved.map(({ fp, revision, body }) => [fp === first?.fp, revision, body.modality])).toEqual([
      [false, 1, "HEMATOLOGY"],
      [true, 2, "BIOCHEMISTRY"],
    ]);
    expect(moved.map(resultsOf)).toEqual([["WBC 9.8 10*9/L normal clinic"], []]);
    expect(await reprocessed()).toEqual([]);
  });

  test("moves one of several rows to the study of its own modality", async () => {
    await receive(...at(["413", "118", "mg/dL"], ["WBC", "9.8", "10*9/L"], ["RBC", "7.1", "10*12/L"]));
    const first = only(await clinic.push());
    expect(first.body.modality).toBe("HEMATOLOGY");
    teach({ "413": "GLU" });
    const moved = await reprocessed();
    expect(new Map(moved.map((revision) => [revision.body.modality, resultsOf(revision)]))).toEqual(
      new Map([
        ["HEMATOLOGY", ["WBC 9.8 10*9/L normal catalogue", "RBC 7.1 10*12/L normal catalogue"]],
        ["BIOCHEMISTRY", ["GLU 118 mg/dL high clinic"]],
      ]),
    );
  });

  test("moves a row that a later message added", async () => {
    await receive(...at(["WBC", "9.8", "10*9/L"]));
    await receive(resultRecord("^^^413", "118", "mg/dL", { 13: "20261121114500" }), ...at(["RBC", "7.1", "10*12/L"]));
    await clinic.push();
    teach({ "413": "GLU" });
    const moved = await reprocessed();
    expect(new Map(moved.map((revision) => [revision.body.modality, resultsOf(revision)]))).toEqual(
      new Map([
        ["HEMATOLOGY", ["WBC 9.8 10*9/L normal catalogue", "RBC 7.1 10*12/L normal catalogue"]],
        ["BIOCHEMISTRY", ["GLU 118 mg/dL high clinic"]],
      ]),
    );
  });

  test("leaves a filed study with its patient after another one got the identifier", async () => {
    await receive(...at(["413", "118", "mg/dL"]));
    await clinic.push();
    await clinic.know(dog);
    await clinic.know(cat, "4711");
    teach({ "413": "GLU" });
    expect(await clinic.reprocess({ states: ["filed"] })).toEqual([]);
  });
});

test("a new mapping reaches an unmatched study, which stays unmatched", async () => {
  await receive(...at(["413", "118", "mg/dL"]));
  await clinic.push();
  teach({ "413": "GLU" });
  const mapped = only(await reprocessed(["unmatched"]));
  expect(mapped.body.patient_fp).toBeNull();
  expect(resultsOf(mapped)).toEqual(["GLU 118 mg/dL no flag clinic"]);
});

test("messages are selected by the code of their reason, whatever their words are", async () => {
  await clinic.receive("chem-1", [
    HEADER,
    "P|1|unknown",
    "O|1|S-2||^^^Panel|R||20261121110000",
    ...at(["ALT", "52"]),
    "L|1|N",
  ]);
  await clinic.push();
  const [stored] = clinic.listed();
  expect([stored?.code, stored?.state]).toEqual(["MATCH.UNKNOWN_IDENTIFIER", "unmatched"]);
  expect(await clinic.reassess({ codes: ["MATCH.UNKNOWN_IDENTIFIER", "MESSAGE.SET_ASIDE"] })).toHaveLength(1);
  expect(await clinic.reassess({ codes: ["MESSAGE.SET_ASIDE"] })).toEqual([]);
});
