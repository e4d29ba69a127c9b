import { expect, test } from "vitest";
import { study } from "../../../agent/study/study.ts";
import { catalogueVersion } from "../../../shared/clinical/reference.ts";
import { cat, dog } from "../../support/runner/fixtures.ts";
import { reportOf, resultRecord, vetscanReport } from "../records.ts";

const source = { device_id: "chem-1", message_id: "message-1" };
const ORDER = "O|1|S-1";

function generic(...results: readonly string[]) {
  return reportOf(["P|1|4711", ORDER, ...results]);
}

function alt(value: string, fields: Parameters<typeof resultRecord>[3]): string {
  return resultRecord("^^^ALT", value, "U/L", fields);
}

function flagOf(value: string, flag: string): unknown {
  const report = vetscanReport("Dog", resultRecord("1742-6", value, "U/L", { 6: "10 to 118", 7: flag }));
  return flags(report, dog, source)[0]?.[2];
}

function flags(...args: Parameters<typeof study>) {
  return study(...args).body.results.map(({ analyte, reference_range, flag }) => [analyte, reference_range, flag]);
}

test("a study has the API's fields and the values as they were sent", () => {
  const report = generic(resultRecord("^^^CREA", "88", "umol/L"), resultRecord("^^^CRP", "<5,0", "mg/L"));
  expect(study(report, dog, source).body).toEqual({
    patient_fp: dog.fp,
    modality: "BIOCHEMISTRY",
    device_name: "Analyzer",
    status: "COMPLETED",
    acquired_at: "2026-11-21T09:00:00.000Z",
    results: [
      { analyte: "CREA", value: 88, unit: "umol/L", reference_range: "53.04-123.76", flag: "normal" },
      { analyte: "CRP", value: 5, unit: "mg/L", reference_range: null, flag: null, comparator: "<" },
    ],
    dedupe_key: report.dedupe_key,
    source,
    patient_hint: report.patient_hint,
  });
});

test("the same values have other ranges and flags for a dog and for a cat", () => {
  const report = generic(
    resultRecord("^^^ALB", "3.2", "g/dL"),
    resultRecord("^^^CREA", "1.6", "mg/dL"),
    resultRecord("^^^ALT", "20", "U/L"),
  );
  expect(flags(report, dog, source)).toEqual([
    ["ALB", "3.2-4.1", "normal"],
    ["CREA", "0.6-1.4", "high"],
    ["ALT", "17-95", "normal"],
  ]);
  expect(flags(report, cat, source)).toEqual([
    ["ALB", "3.2-4.3", "normal"],
    ["CREA", "0.8-2.1", "normal"],
    ["ALT", "28-109", "low"],
  ]);
});

test("a study without a patient has neither ranges nor flags", () => {
  const draft = study(
    vetscanReport("Dog", resultRecord("1742-6", "143", "U/L", { 6: "10 to 118", 7: "H" })),
    null,
    source,
  );
  expect(draft.body.patient_fp).toBeNull();
  expect(draft.body.results).toEqual([{ analyte: "ALT", value: 143, unit: "U/L", reference_range: null, flag: null }]);
  expect(draft.snapshot.rows).toEqual([
    {
      analyte: "ALT",
      code: "ALT",
      device_species: "dog",
      interval_id: null,
      reason: { code: "PATIENT.NONE", values: [] },
      text: "143",
      device_range: "10-118",
      device_flag: "H",
      device_code: "1742-6",
    },
  ]);
});

test("a result of an unknown code has neither range nor flag, and the snapshot has the device's range and flag", () => {
  const draft = study(
    vetscanReport("Dog", resultRecord("9999-9^^LN^Unheard of", "143", "U/L", { 6: "10 to 118", 7: "H" })),
    dog,
    source,
  );
  expect(draft.body.results).toEqual([
    { analyte: "Unheard of", value: 143, unit: "U/L", reference_range: null, flag: null, code_source: "device" },
  ]);
  expect(draft.snapshot.rows).toMatchObject([
    {
      analyte: "Unheard of",
      code: "Unheard of",
      reason: { code: "CODE.UNKNOWN", values: [] },
      device_range: "10-118",
      device_flag: "H",
      device_code: "Unheard of",
    },
  ]);
});

test("a value in words has neither a number nor a flag", () => {
  const report = vetscanReport("Dog", resultRecord("9999-9^^LN^New Ag", "Positive"));
  expect(study(report, dog, source).body.results).toEqual([
    {
      analyte: "New Ag",
      value: null,
      value_text: "Positive",
      unit: null,
      reference_range: null,
      flag: null,
      code_source: "device",
    },
  ]);
});

test("a value that the device doubts has a comment in place of range and flag", () => {
  const report = vetscanReport("Dog", resultRecord("1742-6", "143", "U/L", { 6: "10 to 118", 7: "H" }));
  const doubted = { ...report, rows: report.rows.map((row) => ({ ...row, comment: "the slide has expired" })) };
  const { body, snapshot } = study(doubted, dog, source);
  expect(body.results).toMatchObject([
    { analyte: "ALT", value: 143, reference_range: null, flag: null, comment: "the slide has expired" },
  ]);
  expect(snapshot.rows[0]?.reason?.code).toBe("VALUE.DOUBTFUL");
});

test("the range of the device is used for a patient of its species", () => {
  const report = vetscanReport("Dog", resultRecord("1742-6", "100", "U/L", { 6: "10 to 118" }));
  expect(flags(report, dog, source)).toEqual([["ALT", "10-118", "normal"]]);
});

test("the range of a dog is never used for a cat", () => {
  const report = vetscanReport("Dog", resultRecord("1742-6", "112", "U/L", { 6: "10 to 118" }));
  expect(flags(report, cat, source)).toEqual([["ALT", "28-109", "high"]]);
});

test.each(["General", "Child", "Other", ""])("a range with the label %j is stored and never used", (label) => {
  const draft = study(vetscanReport(label, resultRecord("1742-6", "112", "U/L", { 6: "10 to 118" })), cat, source);
  expect(draft.body.results).toEqual([
    { analyte: "ALT", value: 112, unit: "U/L", reference_range: "28-109", flag: "high" },
  ]);
  expect(draft.snapshot.rows[0]?.device_range).toBe("10-118");
});

test("a profile without species never uses the range of the device", () => {
  const report = generic(resultRecord("^^^ALT", "112", "U/L", { 6: "0-500" }));
  expect(flags(report, cat, source)).toEqual([["ALT", "28-109", "high"]]);
});

test("a patient of a species without intervals gets no range and no flag", () => {
  const report = generic(resultRecord("^^^ALT", "112", "U/L"));
  expect(flags(report, { ...dog, species: "exotic" }, source)).toEqual([["ALT", null, null]]);
});

test.each([
  ["", null],
  ["furlong", "furlong"],
  ["10^9/L", "10^9/L"],
])("with the unit %j the value is published, the unit is %j and the flag null", (sent, unit) => {
  const draft = study(generic(resultRecord("^^^ALT", "112", sent)), dog, source);
  expect(draft.body.results).toEqual([{ analyte: "ALT", value: 112, unit, reference_range: null, flag: null }]);
  expect(draft.snapshot.rows[0]?.reason?.code).toBe("UNIT.UNKNOWN");
});

test("HH in any repeat of R-7 makes a high value critical, never a normal one", () => {
  expect(flagOf("500", "HH")).toBe("critical");
  expect(flagOf("500", "H\\HH")).toBe("critical");
  expect(flagOf("500", "H")).toBe("high");
  expect(flagOf("50", "HH")).toBe("normal");
});

test("HH of a device without a range for the species makes no value critical", () => {
  expect(flags(generic(alt("500", { 7: "HH" })), dog, source)).toEqual([["ALT", "17-95", "high"]]);
});

test("the grade of a urine pad keeps its words and has no unit", () => {
  const report = generic(resultRecord("^^^KET", "neg", "mg/dL"), resultRecord("^^^PRO", "2+"));
  expect(study(report, dog, source).body.results).toEqual([
    { analyte: "KET", value: 0, unit: null, reference_range: "0-0", flag: "normal", value_text: "neg" },
    { analyte: "PRO", value: 2, unit: null, reference_range: "0-0.5", flag: "high", value_text: "2+" },
  ]);
});

test("the age is computed for the day of the sample", () => {
  const puppy = { ...dog, date_of_birth: "2026-09-01" };
  const report = generic(resultRecord("^^^SDMA", "15", "ug/dL", { 13: "20261121110000" }));
  const grown = resultRecord("^^^SDMA", "15", "ug/dL", { 13: "20281121110000" });
  const later = reportOf(["P|1|4711", ORDER, grown], { receivedAt: Date.UTC(2028, 10, 21, 13) });
  expect(flags(report, puppy, source)).toEqual([["SDMA", "0-16", "normal"]]);
  expect(flags(later, puppy, source)).toEqual([["SDMA", "0-14", "high"]]);
});

test("the snapshot has interval, catalogue, printed text, and the range and flag of the device", () => {
  const draft = study(
    vetscanReport(
      "Dog",
      resultRecord("1742-6", "143", "U/L", { 6: "10 to 118", 7: "H" }),
      resultRecord("1975-2", "<0.2", "mg/dL", { 6: "0.1 to 0.6", 7: "N" }),
    ),
    dog,
    source,
  );
  expect(draft.snapshot).toEqual({
    rows: [
      {
        analyte: "ALT",
        code: "ALT",
        interval_id: "device",
        reason: null,
        text: "143",
        device_range: "10-118",
        device_species: "dog",
        device_flag: "H",
        device_code: "1742-6",
      },
      {
        analyte: "TBIL",
        code: "TBIL",
        interval_id: "device",
        reason: { code: "VALUE.BOUND", values: [] },
        text: "<0.2",
        device_range: "0.1-0.6",
        device_species: "dog",
        device_flag: "N",
        device_code: "1975-2",
      },
    ],
    catalogue: catalogueVersion,
    ranges: null,
    instrument: "Abaxis VetScan VS2",
    animal: { species: dog.species, breed: dog.breed, sex: dog.sex, date_of_birth: dog.date_of_birth },
    notes: ["the results carry no readable time: the header's stands for it"],
  });
  expect(study(generic(resultRecord("^^^ALT", "50", "U/L")), null, source).snapshot.animal).toBeNull();
  const own = study(generic(resultRecord("^^^ALT", "50", "U/L")), dog, source).snapshot.rows[0];
  expect(own?.interval_id).toMatch(/^dog-.*alt/);
});

test("the configured model selects the intervals of an instrument, else its name does", () => {
  const report = generic(resultRecord("^^^PT", "9", "s"));
  expect(flags(report, dog, source)).toEqual([["PT", null, null]]);
  expect(flags(report, dog, source, "Start 4")).toEqual([["PT", "6.7-10.8", "normal"]]);
});
