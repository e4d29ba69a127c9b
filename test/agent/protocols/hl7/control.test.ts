import { describe, expect, test } from "vitest";
import type { Hl7Profile } from "../../../../agent/protocols/hl7/profile.ts";
import { reportsOf } from "../../records.ts";
import { ALT, msh, OBR, obx, PID, readGeneric, readWith, segment } from "./segments.ts";
import { hl7Device } from "../../../support/clinic/profiles.ts";

const genericHl7 = hl7Device("generic-hl7");

// Each place where HL7 or a device marks a result as not a patient's.

const rowsOf = (reading: ReturnType<typeof readGeneric>) =>
  reportsOf(reading).map(({ identifier, rows }) => [identifier, rows.map(({ code }) => code)]);
const PATIENT = [["4711", ["ALT"]]];
const CREA = obx("^CREA", "9", { 6: "mg/dL" });

describe("roles of the specimen", () => {
  const order = (role: string) => segment("OBR", { 1: "2", 3: "143", 4: "Multistix", 15: `ORH^^^^^^${role}` });

  test.each(["Q", "q", "C", "V", "Q&Control&HL70369"])(
    "OBR-15.7 %s is a control; the patient's order stays",
    (role) => {
      expect(readGeneric(msh(), order(role), ALT)).toMatchObject({
        is: "not-for-patients",
        reason: expect.stringMatching(/^the specimen is a .*: not for a patient$/) as string,
      });
      expect(rowsOf(readGeneric(msh(), PID, OBR, ALT, order(role), CREA))).toEqual(PATIENT);
    },
  );

  test.each(["P", "", "R"])("OBR-15.7 %j is a patient's", (role) => {
    expect(rowsOf(readGeneric(msh(), PID, order(role), ALT))).toEqual(PATIENT);
  });
});

describe("words of orders and notes", () => {
  test.each(["00003^LJ QCR^99MRC", "LQC", "LQC^Liquid control", "PRF"])("order %s is a control", (service) => {
    const control = segment("OBR", { 1: "2", 4: service });
    expect(rowsOf(readGeneric(msh(), PID, OBR, ALT, control, CREA))).toEqual(PATIENT);
  });

  test.each(["PRF1", "PROFILE", "LQCX^Panel", "XQCR"])("order %s is a patient's", (service) => {
    expect(rowsOf(readGeneric(msh(), PID, segment("OBR", { 1: "1", 4: service }), ALT))).toEqual(PATIENT);
  });

  test.each(["QCName:Negative", "QCResult:PASS", "QCRResult:P", "QCName:x QCLevel:1", "qclot : 12"])(
    "the note %s makes its order a control, at any place",
    (text) => {
      const note = `NTE|1||${text}`;
      const reason = "a note says quality control: not for a patient";
      for (const segments of [
        [msh(), note, OBR, ALT],
        [msh(), "PID|1", note, OBR, ALT],
        [msh(), "PID|1", OBR, note, ALT],
        [msh(), OBR, ALT, note],
        [msh({ 9: "OUL^R22" }), "SPM|1|S-1", note, OBR, ALT],
      ]) {
        expect(readGeneric(...segments)).toMatchObject({ is: "not-for-patients", reason });
      }
      expect(rowsOf(readGeneric(msh(), PID, OBR, ALT, "OBR|2||S-2", note, CREA))).toEqual(PATIENT);
      expect(rowsOf(readGeneric(msh(), "PID|1||QC-7", OBR, note, CREA, PID, OBR, ALT))).toEqual(PATIENT);
    },
  );

  test.each(["QC: OK", "INST QC: OK CHEM QC: OK", "checked by QC"])("the note %s stays with the patient", (text) => {
    const [report] = reportsOf(readGeneric(msh(), PID, OBR, ALT, `NTE|1||${text}`));
    expect(report).toMatchObject({ identifier: "4711", comments: [`ALT: ${text}`] });
  });
});

describe("sample numbers", () => {
  test.each(["QC-1", "QC", "QC LOW", "qc2", "CTRL-Normal", "CONTROL", "Control 2", "CONTROL-High"])(
    "%s names a control in OBR-2, OBR-3, SPM-2, SAC-3 or the PID",
    (number) => {
      for (const segments of [
        [`OBR|1|${number}`, ALT],
        [`OBR|1||${number}`, ALT],
        ["PID|1||0", `OBR|1||${number}`, ALT],
        [`PID|1||${number}`, "OBR|1||7", ALT],
        [`PID|1||${number}^^^Clinic^MR`, "OBR|1||7", ALT],
        ["OBR|1", ALT, `SPM|1|${number}`],
        ["OBR|1", ALT, "SPM|1", `SAC|||${number}`],
      ]) {
        expect(readGeneric(msh(), ...segments)).toMatchObject({
          is: "not-for-patients",
          reason: `sample ${number} is a control: not for a patient`,
        });
      }
    },
  );

  test.each(["Controlla", "Control Rex", "SQC-1", "Kontrol", "control visit"])("%s may be a patient's", (number) => {
    expect(rowsOf(readGeneric(msh(), `OBR|1||${number}`, ALT))).toEqual([[null, ["ALT"]]]);
  });

  test("a named patient's sample is never a control by its number alone", () => {
    expect(rowsOf(readGeneric(msh(), PID, "OBR|1||QC-1", ALT))).toEqual(PATIENT);
    expect(rowsOf(readGeneric(msh(), "PID|1||||^Zeytin", "OBR|1||QC-1", ALT))).toEqual([[null, ["ALT"]]]);
  });
});

describe("profiles", () => {
  const withOption = (option: Partial<Hl7Profile>): Hl7Profile => ({ ...genericHl7, ...option });

  test("a device that sends T for patients is read; Q stays a control", () => {
    const profile = withOption({ patientProcessing: /^T$/ });
    expect(rowsOf(readWith(profile, msh({ 11: "T" }), PID, OBR, ALT))).toEqual(PATIENT);
    expect(readWith(profile, msh({ 11: "Q" }), PID, OBR, ALT).is).toBe("not-for-patients");
    expect(readGeneric(msh({ 11: "T" }), PID, OBR, ALT).is).toBe("not-for-patients");
  });

  test("an order without PID is a control if the profile declares it, but not with a patient's role", () => {
    const profile = withOption({ controlWithoutPatient: true });
    const reason = "without a PID it is a control: not for a patient";
    expect(readWith(profile, msh(), OBR, ALT)).toMatchObject({ is: "not-for-patients", reason });
    expect(rowsOf(readWith(profile, msh(), PID, OBR, ALT))).toEqual(PATIENT);
    expect(rowsOf(readWith(profile, msh(), "OBR|1||143||||||||||||SER^^^^^^P", ALT))).toEqual([[null, ["ALT"]]]);
    expect(rowsOf(readGeneric(msh(), OBR, ALT))).toEqual([[null, ["ALT"]]]);
  });

  test("words of a profile are looked for in orders and notes", () => {
    const profile = withOption({ notForPatients: /Background/ });
    const order = "OBR|1||1|EDANLAB^H30Pro^Background";
    expect(readWith(profile, msh(), order, ALT)).toEqual({
      is: "not-for-patients",
      reason: "order EDANLAB^H30Pro^Background is not for a patient",
    });
    expect(readWith(profile, msh(), OBR, ALT, "NTE|1||Background").is).toBe("not-for-patients");
    expect(rowsOf(readGeneric(msh(), PID, order, ALT))).toEqual(PATIENT);
  });
});
