import { expect, test } from "vitest";
import { describeResults, rowUnits } from "../../../../server/records/comparison/patient-results.ts";
import { AS_SENT } from "../../../../shared/clinical/units/unit-choice.ts";
import type { Result } from "../../../../shared/api/study.ts";

const dog = { species: "dog", breed: null, sex: null, date_of_birth: "2025-06-01" } as const;

/** A stored study of a day in November 2026, or of another one. */
function stored(
  day: string,
  results: Partial<Result>[],
  more: { device?: string; id?: string; intervals?: string[] } = {},
) {
  const { device = "VS2", id, intervals = [] } = more;
  const full = results.map((result) => {
    return { analyte: "CREA", value: 1, unit: "mg/dL", reference_range: null, flag: null, ...result };
  });
  const rows = full.map(({ analyte }, index) => {
    return { analyte, code: analyte, interval_id: intervals[index] ?? null, text: "", reason: null };
  });
  return {
    fp: `cds_${day}${device}${id ?? ""}`,
    patient_fp: "patient_1",
    modality: "BIOCHEMISTRY" as const,
    device_name: device,
    status: "COMPLETED" as const,
    acquired_at: Date.parse(day.length === 2 ? `2026-11-${day}T10:00:00Z` : day),
    results: JSON.stringify(full),
    comments: null,
    flagged_species: null,
    order_fp: null,
    order_number: null,
    quality: null,
    clinic_id: 1,
    source: id === undefined ? null : JSON.stringify({ device_id: id, message_id: "1" }),
    snapshot: JSON.stringify({ rows }),
  };
}

function describe(studies: ReturnType<typeof stored>[], analyte: string | null = null) {
  return describeResults(studies, {
    clinicId: 1,
    reader: { animal: dog, unitOf: rowUnits(AS_SENT), rangesOf: () => undefined },
    analyte,
  });
}

test("a value that does not compare with the newest lies on another line, with the first reason", () => {
  const { studies } = describe(
    [
      stored("20", [{ value: 1.4 }], { id: "left", intervals: ["adult"] }),
      stored("19", [{ value: 1.3 }], { id: "right", intervals: ["adult"] }),
      stored("18", [{ value: 1.2, comparator: "<" }], { id: "left", intervals: ["adult"] }),
      stored("17", [{ value: 106, unit: "umol/L" }], { id: "left", intervals: ["adult"] }),
      stored("16", [{ value: 1.1 }], { id: "left", intervals: ["old"] }),
      stored("15", [{ value: 1 }], { id: "right", intervals: ["adult"] }),
      // The dog was five months old.
      stored("2025-11-01T10:00:00Z", [{ value: 0.6 }], { id: "left", intervals: ["young"] }),
    ],
    "CREA",
  );
  expect(studies.map(({ values }) => values[0]?.curve)).toEqual([
    { line: 0, apart: null },
    { line: 1, apart: "device" },
    { line: null, apart: "comparator" },
    { line: 0, apart: null },
    { line: 2, apart: "interval" },
    { line: 1, apart: "device" },
    { line: 3, apart: "age" },
  ]);
  expect(studies.map(({ device, device_id }) => [device, device_id]).slice(0, 2)).toEqual([
    [0, "left"],
    [1, "right"],
  ]);
});

test("a value beside a range that is no interval stays as sent, and the changes around it have one unit", () => {
  const unitOf = rowUnits({ system: "si", exceptions: {} });
  const glucose = (value: number, reference_range: string | null = null) => [
    { analyte: "GLU", value, unit: "mg/dL", reference_range, flag: null },
  ];
  const { studies } = describeResults(
    [stored("20", glucose(108)), stored("19", glucose(100, "70-120 (fasting)")), stored("18", glucose(90))],
    { clinicId: 1, reader: { animal: dog, unitOf, rangesOf: () => undefined }, analyte: null },
  );
  const shown = studies.map(({ values: [value] }) => [value?.text, value?.unit, value?.change]);
  expect(shown).toMatchObject([
    ["6.0", "mmol/L", { absolute: 0.4, direction: "up" }],
    ["100", "mg/dL", { absolute: 10, direction: "up" }],
    ["5.0", "mmol/L", null],
  ]);
});

test("a change under another name of the substance is in the unit of that name", () => {
  const studies = [
    stored("20", [{ analyte: "BUN", value: 20 }]),
    stored("19", [{ analyte: "UREA", value: 60 }]),
    stored("18", [{ analyte: "UREA", value: 40 }]),
  ];
  const values = describe(studies, "BUN").studies.map(({ values: [value] }) => value);
  expect(values.map((value) => value?.text)).toEqual(["20", "28.0", "18.7"]);
  expect(values[1]?.change).toMatchObject({ absolute: 9.3, direction: "up" });
});

test("urea takes the name, the unit and the curve of urea nitrogen, and says what was sent", () => {
  const studies = [
    stored("20", [{ analyte: "BUN", value: 30 }, { analyte: "GLU" }]),
    stored("19", [{ analyte: "UREA", value: 60.056, reference_range: "15-58" }]),
  ];
  const shown = describe(studies, "UREA");
  expect(shown.studies.map(({ values }) => values[0])).toMatchObject([
    { analyte: "BUN", text: "30", curve: { line: 0, apart: null }, change: { absolute: 2 } },
    {
      ...{ analyte: "BUN", value: 28, text: "28.0", unit: "mg/dL", low: 7, high: 27.1, reference_range: "7.00-27.1" },
      ...{ sent: { value: "60.056", unit: "mg/dL" }, curve: { line: 0, apart: null, other_name: "UREA" } },
    },
  ]);
  expect(shown.others?.map(({ code }) => code)).toEqual(["GLU"]);
  // Without a curve a result stays as it was sent.
  expect(describe(studies).studies[1]?.values[0]).toMatchObject({ analyte: "UREA", value: 60.056 });
});

test("each value has the change since the one before, and an own code only that of its device", () => {
  const own = { analyte: "X1", unit: null, code_source: "device" } as const;
  const { studies } = describe([
    stored("20", [{ value: 1.5 }, { ...own, value: 3 }], { device: "A" }),
    stored("19", [{ ...own, value: 2 }], { device: "B" }),
    stored("18", [{ value: 1.2 }, { ...own, value: 1 }], { device: "A" }),
  ]);
  expect(studies.map(({ values }) => values.map(({ change }) => change))).toEqual([
    [expect.objectContaining({ absolute: expect.closeTo(0.3, 6), direction: "up" }), null],
    [null],
    [null, null],
  ]);
});

test("two devices within a day stand side by side, and a published bias refuses the difference", () => {
  const { side_by_side } = describe([
    stored("20", [{ value: 1.5 }, { analyte: "UREA", value: 62 }, { analyte: "DBIL", value: 0.1 }], { id: "b" }),
    stored("20", [{ value: 1.2 }, { analyte: "BUN", value: 28 }, { analyte: "DBIL", value: 0.1 }], { id: "b" }),
    stored("20", [{ value: 1.1 }, { analyte: "BUN", value: 30 }, { analyte: "TBIL", value: 0.2 }], { id: "a" }),
    stored("18", [{ value: 1.3 }, { analyte: "BUN", value: 30 }], { id: "c" }),
  ]);
  expect(side_by_side?.map(({ studies, rows }) => [studies.map(({ device_id }) => device_id).join(), rows])).toEqual([
    [
      "a,b",
      [
        expect.objectContaining({
          analyte: "CREA",
          difference: { code: "device", source: expect.stringMatching(/Baral/) },
        }),
        expect.objectContaining({ analyte: "UREA", difference: { absolute: -2 } }),
      ],
    ],
    ["a,b", [expect.objectContaining({ analyte: "CREA" }), expect.objectContaining({ difference: { absolute: -2 } })]],
  ]);
});
