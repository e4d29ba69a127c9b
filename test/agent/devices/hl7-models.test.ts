import { describe, expect, test } from "vitest";
import { msh, obx, readWith } from "../protocols/hl7/segments.ts";
import { only, reportsOf } from "../records.ts";
import { playFixture, readingOf, reportOf } from "./fixture.ts";
import { hl7Device } from "../../support/clinic/profiles.ts";

const siemensClinitek = hl7Device("siemens-clinitek");

/** Returns device code and value as printed of each row. */
function printed(path: string): string[] {
  return reportOf(path).rows.map(({ device_code, text }) => `${device_code} ${text}`);
}

function flagsOf(path: string): (string | null)[] {
  return reportOf(path).rows.map(({ device_flag }) => device_flag);
}

describe("Boule Exigo", () => {
  const path = "boule-exigo/dog-three-parts";

  test("each row of status P is read, and an empty one is listed", () => {
    expect(printed(path)).toHaveLength(14);
    expect(printed(path).slice(-3)).toEqual(["LYMR 21.2", "MONR 6.7", "GRNR 72.1"]);
    const report = reportOf(path);
    expect(report.leftOut).toEqual([expect.stringMatching(/^EOS/), expect.stringMatching(/^EOS/)]);
    expect(report.withdrawn).toBeUndefined();
    expect(report).toMatchObject({ modality: "HEMATOLOGY", acquired_at: "2026-11-21T08:30:00.000Z" });
  });

  test("OBR-4 is the patient as typed: a name, or with digits the identifier; PROF is the species", () => {
    expect(reportOf(path)).toMatchObject({
      identifier: null,
      species: "dog",
      sampleIds: ["212", "Zeytin"],
      patient_hint: { name: "Zeytin", species: "DOG (3POP)" },
      comments: ["PROF: DOG (3POP)", "METH: OT"],
    });
    expect(reportOf("boule-exigo/marks-of-doubt")).toMatchObject({
      identifier: "4711",
      patient_hint: { identifier: "4711", name: null },
    });
  });

  test("a mark doubts its value: HH is not a high value, and the value gets no flag", () => {
    const marks = "boule-exigo/marks-of-doubt";
    expect(
      reportOf(marks).rows.map(({ device_code, device_flag, comment }) => [device_code, device_flag, comment]),
    ).toEqual([
      ["HGB", "HH", "hemoglobin is doubtful (HH)"],
      ["MCHC", "HH", "hemoglobin is doubtful (HH)"],
      ["WBC", "MH", "above the measuring range (MH)"],
      ["PLT", "ML TU", "below the measuring range (ML); trouble while measuring (TU)"],
      ["RBC", null, undefined],
    ]);
    const flags = playFixture(marks).messages.flatMap(({ studies }) => studies.flatMap(({ results }) => results));
    expect(flags.map(({ flag }) => flag)).toEqual([null, null, null, null, "normal"]);
  });

  test("alert limits and histograms are not results", () => {
    expect(reportOf("boule-exigo/marks-of-doubt")).toMatchObject({
      leftOut: [],
      notes: ["kept in the message, not read: HGRAM"],
    });
  });
});

describe("EDAN H30", () => {
  const path = "edan-h30/one-sample";

  test("names are in OBX-4, and 0, 1, 2 are normal, high, low", () => {
    expect(printed(path)).toEqual(["WBC 18.21", "NEUT# 13.04", "NEUT% 71.6", "MXD# 1.02", "RBC 4.97", "RDW_CV 14.8"]);
    expect(flagsOf(path)).toEqual(["H", "H", "N", "N", "L", "N"]);
    expect(reportOf(path).rows[0]).toMatchObject({
      code: "WBC",
      unit: "10*3/uL",
      device_range: { text: "6.00-17.00" },
    });
  });

  test("the run's time is OBR-7, and the comments of OBR-12 are kept", () => {
    expect(reportOf(path)).toMatchObject({
      identifier: "4711",
      acquired_at: "2026-11-21T08:30:15.000Z",
      comments: ["Group: General", "Mild Anemia", "Macrocytes"],
      notes: [],
    });
  });

  test("an order without a sample gives no study", () => {
    const reason = "order EDANLAB^H30Pro^Background is not for a patient";
    expect(readingOf("edan-h30/not-a-sample")).toEqual({ is: "not-for-patients", reason });
  });
});

describe("EDAN i15", () => {
  const path = "edan-i15/blood-gas";

  test("an empty MSH-10 is acknowledged, and arrows are flags", () => {
    expect(playFixture(path)).toMatchObject({ replies: expect.stringContaining("MSA|AA||") as string, warnings: [] });
    expect(flagsOf(path)).toEqual(["L", null, null, null, "H", null, null]);
    expect(reportOf(path).rows[0]).toMatchObject({ code: "PH", device_range: { low: 7.35, high: 7.45 } });
  });

  test("Ca++ is ionized calcium, and a row that fails the check is withheld", () => {
    expect(reportOf(path).rows.find(({ device_code }) => device_code === "Ca++")?.code).toBe("ICA");
    expect(printed(path).slice(-2)).toEqual(["cH+ 48.8", "tHb(est) 13.4"]);
    expect(reportOf(path).leftOut).toEqual(["Lac has no final value: the device's check is Fail"]);
  });
});

describe("Siemens Clinitek Status", () => {
  const path = "siemens-clinitek/patient-strip";

  test("all pads of a patient are read: ranks, words and limits", () => {
    const pads = ["GLU Negative", "BLO Trace", "PRO 2+", "SG <=1.005", "pH 6.5", "URO 3.2", "COL Yellow", "CLA Clear"];
    expect(printed(path)).toEqual(pads);
    expect(reportOf(path)).toMatchObject({
      modality: "URINALYSIS",
      identifier: "4711",
      patient_hint: { name: null }, // PID-5 repeats the identifier
      acquired_at: "2026-11-21T08:30:00.000Z",
    });
  });

  test("COL is the colour, never cholesterol", () => {
    expect(reportOf(path).rows.map(({ code }) => code)).not.toContain("CHOL");
  });

  test("a control is recognised by its role, its notes, or the missing patient", () => {
    expect(readingOf("siemens-clinitek/control-strip").is).toBe("not-for-patients");
    const order = (role: string) => `OBR|1||213|Multistix 10 SG${"|".repeat(11)}ORH^^^^^^${role}`;
    const read = (...segments: readonly string[]) =>
      readWith(siemensClinitek, msh({ 3: "Clinitek Status", 4: "" }), ...segments, obx("GLU", "Negative", { 2: "ST" }))
        .is;
    expect([
      read(order("Q")),
      read("PID|1", order("Q")),
      read(order("")),
      read("PID|1", order("")),
      read(order("P")),
    ]).toEqual(["not-for-patients", "not-for-patients", "not-for-patients", "reports", "reports"]);
  });
});

describe("BioSystems BA", () => {
  const path = "biosystems-ba/one-sample";

  test("all tests of a sample are one study, under the laboratory's names", () => {
    expect(printed(path)).toEqual([
      "ALT-GPT 48.5633411",
      "CREATININE 1.135651588",
      "IRON FERROZINE 88.75784826",
      "UREA-BUN-UV 24.036623",
      "OWN METHOD 1.5",
    ]);
    expect(flagsOf(path)).toEqual([null, null, null, null, null]);
    expect(reportOf(path)).toMatchObject({ sampleIds: ["Zeytin A"], acquired_at: "2026-11-21T08:25:40.000Z" });
    expect(playFixture(path).replies).toContain("MSA|AA|");
  });

  test("urea or its nitrogen is never guessed", () => {
    expect(reportOf(path).rows.find(({ device_code }) => device_code === "UREA-BUN-UV")).toMatchObject({
      code: "UREA-BUN-UV",
      codeSource: "device",
      unit: "mg/dL",
    });
  });

  test("a control gives no study", () => {
    const reason = "the specimen is a control: not for a patient";
    expect(readingOf("biosystems-ba/control")).toMatchObject({ is: "not-for-patients", reason });
  });
});

test("iChroma III: T is a patient's, R is final, and the unit follows the value", () => {
  const report = reportOf("ichroma-iii/two-units");
  expect(report.identifier).toBe("4711");
  expect(report.rows).toMatchObject([
    { value: 0.87, unit: "ng/mL" },
    { value: 0.87, unit: "ug/L" },
  ]);
});

describe("Genrui KT", () => {
  const rows = [
    obx("^WBC^", "6.44", { 6: "10^3/uL", 7: "4.00-10.00" }),
    obx("^Ref Group^", "dog", { 2: "IS" }),
    obx("^Remarks^", "clotted?", { 2: "IS" }),
  ];

  test.each(["genrui-vh30", "generic-hl7"])("%s: its group is the species, and what staff typed a comment", (id) => {
    const sent = [msh({ 3: "Genrui", 4: "KT-6300" }), "PID|1||||Zeytin", "OBR|1||S-1|", ...rows];
    expect(only(reportsOf(readWith(hl7Device(id), ...sent)))).toMatchObject({
      species: "dog",
      rows: [{ code: "WBC", value: 6.44 }],
      comments: ["Remarks: clotted?"],
    });
  });
});
