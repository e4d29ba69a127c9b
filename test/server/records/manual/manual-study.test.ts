import { describe, expect, test } from "vitest";
import { type ManualStudy, readManualStudy } from "../../../../server/records/manual/manual-study.ts";
import { listRowsOf } from "../../../../server/records/audit/audit.ts";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import { addStudy } from "../../../../server/records/manual/manual-studies.ts";
import { replaceRanges } from "../../../../server/records/clinics/ranges.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { clinic, connection, importEntities, noon, patient, startServer } from "../../harness.ts";
import { intervalsByAge } from "../../records.ts";
import { viewStudy } from "../../study-commands.ts";

const ours = newFp("clinic");
const theirs = newFp("clinic");

const typed: ManualStudy = {
  modality: "BIOCHEMISTRY",
  acquired_at: "2026-11-21T09:00:00.000Z",
  results: [
    { analyte: "ALT", value: 150, unit: "U/L" },
    { analyte: "Crea", value: "<0,2", unit: "mg/dl" },
    { analyte: "2345-7", value: "5.0", unit: "mmol/L" },
  ],
};

describe("a typed study", () => {
  test("typed results are read like printed ones: comparator, decimal comma, spelling of units, LOINC", () => {
    const read = readManualStudy(typed, noon);
    if ("problems" in read) throw new Error(read.problems.join());
    expect(read.entry.device_name).toBe("Manual entry");
    expect(read.entry.measurements.map(({ code, value, comparator, unit }) => [code, value, comparator, unit])).toEqual(
      [
        ["ALT", 150, null, "U/L"],
        ["CREA", 0.2, "<", "mg/dL"],
        ["GLU", 5, null, "mmol/L"],
      ],
    );
  });

  test("a refused study lists all its problems", () => {
    const results = [
      { analyte: "ALX", value: 1, unit: "U/L" },
      { analyte: "ALT", value: "HEM", unit: "U/L" },
      { analyte: "ALT", value: 5, unit: "mg/dL" },
      { analyte: "GLU", value: 5 },
      { analyte: "GLU", value: "2+", unit: "mmol/L" },
      { analyte: "WBC", value: 5, unit: "10*9/L" },
      { analyte: "BUN", value: 5, unit: "mg/dL" },
      { analyte: "BUN", value: 6, unit: "mg/dL" },
    ];
    expect(readManualStudy({ ...typed, acquired_at: "2026-11-21T12:05:00.001Z", results }, noon)).toEqual({
      problems: [
        "acquired_at is 2026-11-21T12:05:00.001Z, expected a time in the past",
        'analyte is "ALX", expected an analyte of BIOCHEMISTRY',
        'ALT has no value: "HEM" is not a number',
        "unit mg/dL is not a unit of ALT, expected U/L or ukat/L or nkat/L or kU/L or U/dL",
        "no unit for GLU, expected mg/dL or mmol/L or mg/L or g/L",
        'GLU is "2+", expected a number',
        'analyte is "WBC", which is of HEMATOLOGY, expected an analyte of BIOCHEMISTRY',
        "BUN is listed more than once",
      ],
    });
    expect(readManualStudy({ ...typed, acquired_at: "2026-02-30T09:00:00.000Z" }, noon)).toEqual({
      problems: ["acquired_at is 2026-02-30T09:00:00.000Z, expected a time that exists"],
    });
    expect(readManualStudy({ modality: "RADIOLOGY", results: [] }, noon)).toMatchObject({
      problems: expect.arrayContaining(["acquired_at is missing"]) as string[],
    });
  });
});

async function manualServer() {
  const dog = patient({ date_of_birth: "2020-01-01" });
  const server = await startServer([clinic(ours), clinic(theirs), dog, connection(dog.fp, ours)]);
  const { store } = server;
  const clinicId = (await findClinic(store, ours))?.id ?? 0;
  const add = async (wanted: unknown, patientFp = dog.fp, into = clinicId) => {
    const read = readManualStudy(wanted, noon);
    if ("problems" in read) throw new Error(read.problems.join());
    const { entry } = read;
    return store.transaction((session) =>
      addStudy(session, { by: "vet", now: noon, clinicId: into, patientFp, entry }),
    );
  };
  const key = await server.makeKey(ours, ["clinic.lab.view"]);
  return {
    server,
    store,
    dog,
    add,
    read: async (fp: string) => (await server.get(key, `/api/v1/lab/diagnostics/${fp}`)).body,
  };
}

test("a typed study has ranges and flags, the schema of GET, and the cause entered", async () => {
  const { add, read, store, dog } = await manualServer();
  const added = await add(typed);
  if ("problem" in added) throw new Error(added.problem);
  expect((await listRowsOf(store, added.fp)).map(({ route, address }) => [route, address])).toEqual([
    ["study add", "vet"],
  ]);
  expect((await read(added.fp)).data).toEqual({
    fp: added.fp,
    patient_fp: dog.fp,
    modality: "BIOCHEMISTRY",
    device_name: "Manual entry",
    status: "COMPLETED",
    acquired_at: typed.acquired_at,
    results: [
      { analyte: "ALT", value: 150, unit: "U/L", reference_range: "17-95", flag: "high" },
      { analyte: "Crea", value: 0.2, unit: "mg/dL", reference_range: "0.6-1.4", flag: "low", comparator: "<" },
      { analyte: "GLU", value: 5, unit: "mmol/L", reference_range: "3.77-5.77", flag: "normal" },
    ].map((row) => ({ ...row, analyte: row.analyte === "Crea" ? "CREA" : row.analyte })),
  });
  const view = await viewStudy(store, added.fp);
  expect([view?.cause, view?.source, view?.snapshot?.rows[0]?.interval_id]).toEqual([
    "entered",
    null,
    "dog-any-any-alt-cornell_cobas_2017",
  ]);
});

test("a typed study uses the patient's age on the day of the sample, not of today", async () => {
  const { add, read, store, server } = await manualServer();
  // The patient is 365 days old on the day of the sample and 366 today.
  const young = patient({ date_of_birth: "2025-11-20" });
  await importEntities(store, young, connection(young.fp, ours));
  const clinicId = (await findClinic(store, ours))?.id ?? 0;
  await store.transaction((session) => replaceRanges(session, clinicId, intervalsByAge, server.clock.now));
  const results = [{ analyte: "ALT", value: 100, unit: "U/L" }];
  const added = await add({ ...typed, acquired_at: "2026-11-20T10:00:00.000Z", results }, young.fp);
  if ("problem" in added) throw new Error(added.problem);
  expect((await read(added.fp)).data.results[0]).toMatchObject({ reference_range: "20-90", flag: "high" });
});

test("pads of a strip are typed with their printed grade", async () => {
  const { add, read } = await manualServer();
  const results = [
    { analyte: "GLU", value: "2+" },
    { analyte: "PRO", value: "trace" },
    { analyte: "SG", value: "1,030" },
  ];
  const added = await add({ ...typed, modality: "URINALYSIS", results });
  if ("problem" in added) throw new Error(added.problem);
  expect((await read(added.fp)).data.results).toEqual([
    { analyte: "GLU", value: 2, unit: null, reference_range: "0-0", flag: "high", value_text: "2+" },
    { analyte: "PRO", value: 0.5, unit: null, reference_range: "0-0.5", flag: "normal", value_text: "trace" },
    expect.objectContaining({ value: 1.03 }) as object,
  ]);
});

test("a study is typed for a patient of the clinic only", async () => {
  const { add, store, dog } = await manualServer();
  const stranger = newFp("patient");
  expect(await add(typed, stranger)).toEqual({
    problem: `patient ${stranger} does not exist, expected the fp of an imported patient`,
  });
  const other = (await findClinic(store, theirs))?.id ?? 0;
  expect(await add(typed, dog.fp, other)).toEqual({
    problem: `patient ${dog.fp} has no active connection to the clinic`,
  });
});
