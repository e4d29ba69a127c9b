import { describe, expect, test } from "vitest";
import { genericPoct1a } from "../../../../agent/devices/generic-poct1a.ts";
import { urineAnalyteOf } from "../../../../agent/protocols/poct1/dialect.ts";
import type { Reading } from "../../../../agent/report/report.ts";
import { read } from "../../../../agent/study/read.ts";
import { replay } from "../../../../agent/tools/offline/replay.ts";
import { recording } from "../../../support/runner/fixtures.ts";
import { context, reportsOf } from "../../records.ts";
import { bytes, hello, said } from "./wire.ts";

// The DCA Vantage's urine cartridge, and controls that only an identifier names.

const field = (name: string, value: string, more = "") => `<${name} V="${value}" ${more}/>`;
const potassium = `<OBS>${field("OBS.observation_id", "2823-3", 'SN="LN" DN="K"')}${field("OBS.value", "4.1", 'U="mmol/L"')}</OBS>`;

function service(id: string, more = ""): string {
  const at = field("SVC.observation_dttm", "2026-11-21T12:55:10+03:00");
  return `<SVC>${field("SVC.role_cd", "OBS")}${at}<PT>${field("PT.patient_id", id)}${potassium}</PT>${more}</SVC>`;
}

function readServices(...services: readonly string[]): Reading {
  return read(bytes(hello() + said("OBS.R01", 3, services.join(""))), genericPoct1a, context);
}

test.each(["QC-1", "CONTROL 2", "ctrl n"])("the patient %j is control material", (id) => {
  expect(readServices(service(id))).toMatchObject({
    is: "not-for-patients",
    reason: `not of a patient: control material ${id}`,
  });
});

test("a name outweighs a control's number, and Control Rex is a patient", () => {
  const name = '<PT.name V="Zeytin"/>';
  const named = service("QC-1").replace("<OBS>", `${name}<OBS>`);
  expect(reportsOf(readServices(named, service("Control Rex"))).map(({ identifier }) => identifier)).toEqual([
    "QC-1",
    "Control Rex",
  ]);
});

test("a control specimen among patients' services loses only itself", () => {
  const specimen = `<SPC>${field("SPC.specimen_id", "QC17")}</SPC>`;
  const reading = readServices(service("4711"), service("4712", specimen), service("4713"));
  expect(reportsOf(reading).map(({ identifier }) => identifier)).toEqual(["4711", "4713"]);
  expect(reading).toMatchObject({ notes: ["not of a patient: control material QC17"] });
});

test.each(["0", "-", ".", "UNKNOWN"])("the patient %j names nobody", (id) => {
  expect(reportsOf(readServices(service(id)))).toMatchObject([{ identifier: null }]);
});

describe("DCA Vantage", () => {
  const readings = replay(
    [recording("generic-poct1a/siemens-dca-urine.poct1")],
    genericPoct1a,
    context,
    null,
  ).messages.map(({ reading }) => reading);

  test("albumin, creatinine and ratio are urinalysis under names of urine", () => {
    const [report] = reportsOf(readings[0]!);
    expect(report).toMatchObject({ modality: "URINALYSIS", identifier: "4711", leftOut: [] });
    expect(report?.rows.map(({ device_code, text, unit }) => [device_code, text, unit])).toEqual([
      ["Alb", "41.2", "mg/L"],
      ["Crt", "105.4", "mg/dL"],
      ["Ratio", "39.1", "mg/g"],
    ]);
  });

  test("HbA1c in mmol/mol and the estimated glucose are two rows of blood", () => {
    const [report] = reportsOf(readings[1]!);
    expect(report?.modality).toBe("BIOCHEMISTRY");
    expect(report?.rows.map(({ text, unit }) => [text, unit])).toEqual([
      ["36", "mmol/mol"],
      ["111", "mg/dL"],
    ]);
  });

  test("a control by its identifier makes no study", () => {
    expect(readings[2]).toMatchObject({ is: "not-for-patients" });
  });

  test.each([
    ["DCA VANTAGE", "Alb", "UALB"],
    ["DCA Vantage", "Creatinine", "UCREA"],
    ["DCA VANTAGE", "Ratio", "ACR"],
    ["DCA VANTAGE", "HbA1c", null],
    ["RAPIDPoint 500", "Creatinine", null],
  ])("%s means by %s the urine analyte %s", (model, name, analyte) => {
    expect(urineAnalyteOf({ model }, [name])).toBe(analyte);
  });
});
