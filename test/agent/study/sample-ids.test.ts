import { createHash } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { fujiDriChemNx } from "../../../agent/devices/text/fuji-dri-chem-nx.ts";
import { genericPoct1a } from "../../../agent/devices/generic-poct1a.ts";
import { readText } from "../../../agent/protocols/text/read.ts";
import { readSpool, searchSpool } from "../../../agent/spool/access.ts";
import { read } from "../../../agent/study/read.ts";
import { explain } from "../../../agent/tools/offline/explain.ts";
import type { Profile } from "../../../agent/devices/profile.ts";
import { cat, dog } from "../../support/runner/fixtures.ts";
import { type FilingClinic, useFilingClinic } from "../../support/clinic/filing-clinic.ts";
import { hello, said } from "../protocols/poct1/wire.ts";
import { ALT, context, HEADER, only, reportOf, reportsOf, resultRecord } from "../records.ts";
import { astmDevice, hl7Device } from "../../support/clinic/profiles.ts";

const genericAstm = astmDevice("generic-astm");
const genericHl7 = hl7Device("generic-hl7");

function sampleIdsOf(text: string, profile: Profile): readonly string[] | undefined {
  return only(reportsOf(read(Buffer.from(text, "latin1"), profile, context))).sampleIds;
}

describe("the numbers of a sample", () => {
  test("ASTM sends it in O-3, with rack and position; O-4 is the instrument's own", () => {
    expect(reportOf(["P|1", "O|1|S-77^3^12|R1", ALT]).sampleIds).toEqual(["S-77"]);
    expect(reportOf(["P|1", "O|1|^^S-77", ALT]).sampleIds).toEqual(["S-77"]);
    expect(reportOf(["P|1", "O|1", ALT])).not.toHaveProperty("sampleIds");
  });

  test("HL7 sends them in OBR-2, OBR-3, SPM-2 and SAC-3, each with its namespace", () => {
    const segments = [
      "MSH|^~\\&|LAB|V|||20261121120000||ORU^R01|1|P|2.5.1",
      "PID|1||K-1",
      "OBR|1|P-1^CLINIC|F-1^LAB|X",
      "OBX|1|NM|ALT||52|U/L|||||F",
      "SPM|1|S-1&CLINIC^S-2&LAB|",
      "SAC|||C-1^LAB",
    ];
    expect(sampleIdsOf(`${segments.join("\r")}\r`, genericHl7)).toEqual(["P-1", "F-1", "S-1", "S-2", "C-1"]);
  });

  test("POCT1-A sends them as SPC.specimen_id and ORD.order_id", () => {
    const observed = '<OBS><OBS.observation_id V="pH"/><OBS.value V="7.31"/></OBS>';
    const service = `<SVC><SVC.role_cd V="OBS"/><SPC><SPC.specimen_id V="S-9"/></SPC><ORD><ORD.order_id V="A-17"/></ORD><PT>${observed}</PT></SVC>`;
    expect(sampleIdsOf(hello() + said("OBS.R01", 2, service), genericPoct1a)).toEqual(["S-9", "A-17"]);
  });

  test("a device with a layout of its own sends its sample number", () => {
    const results = [{ names: ["ALT"], value: "52", unit: "U/L", range: "", flag: "", notFinal: null }];
    const patient = { identifier: "", name: "", species: "", specimen: "0042", measuredAt: "202611211200" };
    const profile = { ...fujiDriChemNx, read: () => ({ is: "sample" as const, sample: { ...patient, results } }) };
    expect(only(reportsOf(readText(new Uint8Array(), profile, context))).sampleIds).toEqual(["0042"]);
  });

  test("equal numbers are listed once, and a long one is cut at 64 characters", () => {
    const orders =
      "MSH|^~\\&|LAB|V|||20261121120000||ORU^R01|1|P|2.5.1\rPID|1\rOBR|1|S-1|S-1|X\rOBX|1|NM|ALT||52|U/L\r";
    expect(sampleIdsOf(orders, genericHl7)).toEqual(["S-1"]);
    expect(reportOf(["P|1", `O|1|${"9".repeat(70)}`, ALT]).sampleIds).toEqual(["9".repeat(64)]);
  });
});

let clinic: FilingClinic;

useFilingClinic((created) => (clinic = created));

beforeEach(() => {
  clinic.devices.set("plain-1", { profile: genericAstm, timeZone: "UTC", model: null });
  clinic.devices.set("scan-1", { profile: genericAstm, timeZone: "UTC", model: null, matchBySampleId: true });
});

/** Sends ALT of a sample. @returns the fp of the patient, or the reason without one */
async function match(device: string, sample: string, patient = "P|1"): Promise<string> {
  const id = await clinic.receive(device, [HEADER, patient, `O|1|${sample}||^^^Panel`, ALT, "L|1|N"]);
  const revision = (await clinic.push()).at(-1);
  return revision?.body.patient_fp ?? clinic.listed().find((message) => message.id === id)?.reason ?? "";
}

const receipt = { at: expect.any(String), bytes: expect.any(Number), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) };

test("the receipt of a study has the digest of its message's exact bytes", async () => {
  const id = await clinic.receive("plain-1", [HEADER, "P|1|4711", "O|1|S-77^1^2||^^^Panel", ALT, "L|1|N"]);
  const { body } = only(await clinic.push());
  const bytes = readSpool(clinic.folder, (db) => db.prepare("SELECT bytes FROM message WHERE id = ?").pluck().get(id));
  const sha256 = createHash("sha256")
    .update(bytes as Uint8Array)
    .digest("hex");
  expect(body.source.receipt).toEqual({ ...receipt, bytes: (bytes as Uint8Array).length, sha256 });
});

test("the numbers are in the source of the study, in the list of messages and in explain", async () => {
  await clinic.receive("plain-1", [HEADER, "P|1|4711", "O|1|S-77^1^2||^^^Panel", ALT, "L|1|N"]);
  const { fp, body } = only(await clinic.push());
  expect(body.source).toEqual({
    device_id: "plain-1",
    message_id: "M0",
    profile: "generic-astm@1",
    receipt,
    sample_ids: ["S-77"],
  });
  expect(clinic.listed()).toEqual([expect.objectContaining({ study_fps: [fp], sample_ids: ["S-77"] })]);
  const lines = await searchSpool(clinic.folder, (db) => explain(db, fp, (id) => clinic.devices.get(id)));
  expect(lines.join("\n")).toContain("name none, species none, sample S-77");
});

test("a study without a sample number has none in its source", async () => {
  await clinic.receive("plain-1", [HEADER, "P|1|4711", "O|1|||^^^Panel", ALT, "L|1|N"]);
  expect(only(await clinic.push()).body.source).toEqual({
    device_id: "plain-1",
    message_id: "M0",
    profile: "generic-astm@1",
    receipt,
  });
});

test("an accession that the agent issued names its patient as the number of any field, without a setting", async () => {
  clinic.devices.set("hl7-1", { profile: genericHl7, timeZone: "UTC", model: null });
  await clinic.know(dog);
  await clinic.order({ accession: "V34679AC", device: "hl7-1", patientFp: dog.fp, tests: ["ALT"] });
  const order = ["OBR|1|||X", "OBX|1|NM|ALT||52|U/L|||||F", "SPM|1|^V34679AC"];
  await clinic.receive("hl7-1", ["MSH|^~\\&|LAB|V|||20261121120000||ORU^R01|1|P|2.5.1", "PID|1", ...order]);
  const { body, snapshot } = only(await clinic.push());
  expect([body.patient_fp, snapshot.notes[0]]).toEqual([dog.fp, `matched ${dog.fp} by accession V34679AC`]);
});

test.each(["0", "-", ".", "^0"])(
  "%s names nobody, as identifier of a patient or as number of a sample",
  async (nobody) => {
    await clinic.know(dog, nobody, "0");
    expect(reportOf([`P|1|${nobody}`, `O|1|${nobody}`, ALT])).toMatchObject({ identifier: null, otherIdentifiers: [] });
    expect(reportOf([`P|1|${nobody}`, `O|1|${nobody}`, ALT])).not.toHaveProperty("sampleIds");
    for (const device of ["plain-1", "scan-1"]) {
      expect(await match(device, nobody, `P|1|${nobody}`)).toBe("the device sent no patient identifier");
    }
  },
);

describe("matching by the number of a sample", () => {
  test("a number names its patient only at a device that matches by it", async () => {
    await clinic.know(dog, "S-77");
    expect(await match("plain-1", "S-77")).toBe("the device sent no patient identifier");
    expect(await match("scan-1", "S-77")).toBe(dog.fp);
    await clinic.receive("scan-1", [HEADER, "P|1", "O|1|S-77||^^^Other", resultRecord("^^^AST", "30"), "L|1|N"]);
    const { snapshot } = only(await clinic.push());
    expect(snapshot.notes[0]).toBe(`matched ${dog.fp} by the sample number "S-77"`);
  });

  test("a number is compared exactly, and never as a part", async () => {
    await clinic.know(dog, "S-777");
    expect(await match("scan-1", "S-77")).toBe('no patient has the sample number "S-77"');
  });

  test.each(["7", "0042", "9999", "00000", "-", "."])("the running number %s names nobody", async (number) => {
    await clinic.know(dog, number);
    expect(await match("scan-1", number)).toBe("the device sent no patient identifier");
  });

  test("a number of five digits names its patient", async () => {
    await clinic.know(dog, "10042");
    expect(await match("scan-1", "10042")).toBe(dog.fp);
  });

  test("a number of two patients names neither", async () => {
    await clinic.know(dog, "S-77");
    await clinic.know(cat, "S-77");
    expect(await match("scan-1", "S-77")).toBe("the identifiers name 2 patients");
  });

  test("two numbers of two patients name neither", async () => {
    clinic.devices.set("hl7-1", { profile: genericHl7, timeZone: "UTC", model: null, matchBySampleId: true });
    await clinic.know(dog, "S-77");
    await clinic.know(cat, "I-99");
    const segments = ["PID|1", "OBR|1|S-77|I-99|X", "OBX|1|NM|ALT||52|U/L|||||F"];
    await clinic.receive("hl7-1", ["MSH|^~\\&|LAB|V|||20261121120000||ORU^R01|1|P|2.5.1", ...segments]);
    await clinic.push();
    expect(clinic.listed()).toEqual([expect.objectContaining({ reason: "the identifiers name 2 patients" })]);
  });

  test("a device that states another species is refused", async () => {
    clinic.devices.set("scan-1", {
      profile: { ...genericAstm, species: (patient: { field(number: number): string }) => patient.field(16) },
      timeZone: "UTC",
      model: null,
      matchBySampleId: true,
    });
    await clinic.know(dog, "S-77");
    expect(await match("scan-1", "S-77", `P|1${"|".repeat(14)}Cat`)).toBe(
      "species contradiction: the device says cat, the patient is a dog",
    );
  });

  test("with a typed identifier a number names nobody", async () => {
    await clinic.know(dog, "S-77");
    expect(await match("scan-1", "S-77", "P|1|K-12")).toBe('no patient has the identifier "K-12"');
  });

  test("a result with an unknown number waits, and finds the patient who gets it", async () => {
    expect(await match("scan-1", "S-77")).toBe('no patient has the sample number "S-77"');
    await clinic.know(dog, "S-77");
    await clinic.filing.rematch(["scan-1"]);
    expect(only(await clinic.push()).body.patient_fp).toBe(dog.fp);
  });
});
