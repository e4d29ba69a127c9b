import { beforeEach, describe, expect, test } from "vitest";
import { codeLines } from "../../../../agent/cli/messages/code-list.ts";
import { codeList } from "../../../../agent/tools/offline/code-list.ts";
import { readSpool } from "../../../../agent/spool/access.ts";
import { listSeenCodes } from "../../../../agent/spool/queries/studies/seen-codes.ts";
import { type FilingClinic, useFilingClinic } from "../../../support/clinic/filing-clinic.ts";
import { HEADER, resultRecord } from "../../records.ts";
import { astmDevice } from "../../../support/clinic/profiles.ts";

const genericAstm = astmDevice("generic-astm");

let clinic: FilingClinic;
let runs = 0;

useFilingClinic((created) => (clinic = created));

beforeEach(() => {
  clinic.devices.set("chem-1", { profile: genericAstm, timeZone: "UTC", model: null });
  clinic.devices.set("chem-2", { profile: genericAstm, timeZone: "UTC", model: null });
});

/** Receives a run of these rows: code with label, value, unit. */
async function run(device: string, ...rows: readonly [code: string, value: string, unit?: string][]): Promise<void> {
  const time = `2026112111${String(10 + runs++)}00`;
  const records = rows.map(([code, value, unit = ""]) => resultRecord(`^^^${code}`, value, unit, { 13: time }));
  await clinic.receive(device, [HEADER, "P|1|4711", `O|1|S-${runs}||^^^Panel|R||${time}`, ...records, "L|1|N"]);
}

const seen = () => readSpool(clinic.folder, listSeenCodes);
const listed = (codes: Readonly<Record<string, Record<string, string>>> = {}) =>
  codeList(
    ["chem-1", "chem-2"].map((id) => ({ id, ...(codes[id] === undefined ? {} : { codes: codes[id] }) })),
    seen(),
  );

describe("the list of codes", () => {
  test("a code has its count, the newest value and unit, the device's name of the test, and near analytes", async () => {
    await run("chem-1", ["413^Glukose", "5.1", "mmol/L"], ["ALT", "52", "U/L"]);
    await run("chem-1", ["413^Glukose", "118", "mg/dL"]);
    const at = `2026-11-21T11:${10 + runs - 1}:00.000Z`;
    expect(listed()).toEqual([
      {
        device: "chem-1",
        code: "413",
        label: "Glukose",
        count: 2,
        unknown_count: 2,
        last_value: "118",
        last_unit: "mg/dL",
        last_measured_at: at,
        mapped_to: null,
        suggestions: ["GLU", "UGLU"],
      },
    ]);
    expect(codeLines(listed(), "Europe/Istanbul")).toEqual([
      "DEVICE  CODE  TEST     LAST VALUE  LAST MEASURED     RESULTS  ANALYTE",
      `chem-1  413   Glukose  118 mg/dL   2026-11-21 14:${10 + runs - 1}  2        unknown, perhaps GLU or UGLU`,
    ]);
  });

  test("each device has its own codes, the most frequent first", async () => {
    await run("chem-2", ["X1", "1"]);
    await run("chem-1", ["X1", "1"], ["X2", "2"]);
    await run("chem-1", ["X2", "3"]);
    expect(listed().map(({ device, code, count }) => [device, code, count])).toEqual([
      ["chem-1", "X2", 2],
      ["chem-1", "X1", 1],
      ["chem-2", "X1", 1],
    ]);
  });

  test("a resend and a further revision count a result once", async () => {
    const rows = ["O|1|S-1||^^^Panel|R||20261121110000", "R|1|^^^413|118|mg/dL"];
    await clinic.receive("chem-1", [HEADER, "P|1|4711", ...rows, "L|1|N"]);
    await clinic.receive("chem-1", [HEADER, "P|1|4711", ...rows, "L|1|N"]);
    await clinic.receive("chem-1", [HEADER, "P|1|4711", ...rows, "R|2|^^^ALT|52|U/L", "L|1|N"]);
    expect(listed().map(({ count }) => count)).toEqual([1]);
  });

  test("a mapped code has its analyte, even without a study, and lists what is not yet reprocessed", async () => {
    await run("chem-1", ["413", "118", "mg/dL"]);
    const codes = { "chem-1": { "413": "GLU", gli: "GLU" } };
    expect(
      listed(codes).map(({ code, count, unknown_count, mapped_to }) => [code, count, unknown_count, mapped_to]),
    ).toEqual([
      ["413", 1, 1, "GLU"],
      ["gli", 0, 0, "GLU"],
    ]);
    expect(codeLines(listed(codes), "UTC").map((line) => line.slice(line.lastIndexOf("  ") + 2))).toEqual([
      "ANALYTE",
      "GLU, 1 not yet: reprocess them, unless the value is no number",
      "GLU",
    ]);

    clinic.devices.set("chem-1", {
      profile: genericAstm,
      timeZone: "UTC",
      model: null,
      codes: new Map([["413", "GLU"]]),
    });
    await clinic.push();
    await clinic.reprocess();
    expect(listed(codes).map(({ code, count, unknown_count }) => [code, count, unknown_count])).toEqual([
      ["413", 1, 0],
      ["gli", 0, 0],
    ]);
  });

  test("a word under a known analyte is listed as such, because a mapping changes nothing", async () => {
    await run("chem-1", ["ALT", "Positive"]);
    expect(codeLines(listed(), "UTC").at(-1)).toContain("ALT, but its value or its specimen is of another kind");
  });

  test("a clinic whose devices send known codes alone has an empty list", async () => {
    await run("chem-1", ["ALT", "52", "U/L"]);
    expect(listed()).toEqual([]);
  });
});
