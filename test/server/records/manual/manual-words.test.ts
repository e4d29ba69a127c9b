import { expect, test } from "vitest";
import { readManualStudy } from "../../../../server/records/manual/manual-study.ts";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import { addStudy } from "../../../../server/records/manual/manual-studies.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { clinic, connection, noon, patient, startServer } from "../../harness.ts";

const ours = newFp("clinic");

function typed(...results: { analyte: string; value: string | number; unit?: string }[]) {
  return readManualStudy({ modality: "BIOCHEMISTRY", acquired_at: "2026-11-21T09:00:00.000Z", results }, noon);
}

test("a typed word of a rapid test is a value in words, with neither unit, range nor flag", async () => {
  const dog = patient();
  const server = await startServer(clinic(ours), dog, connection(dog.fp, ours));
  const clinicId = (await findClinic(server.store, ours))?.id ?? 0;
  const read = typed({ analyte: "CPV Ag", value: " Positive " }, { analyte: "HW", value: "neg" });
  if ("problems" in read) throw new Error(read.problems.join());
  const wanted = { by: "vet", now: noon, clinicId, patientFp: dog.fp, entry: read.entry };
  const added = await server.store.transaction((session) => addStudy(session, wanted));
  if ("problem" in added) throw new Error(added.problem);
  const key = await server.makeKey(ours, ["clinic.lab.view"]);
  const row = { value: null, unit: null, reference_range: null, flag: null };
  expect((await server.get(key, `/api/v1/lab/diagnostics/${added.fp}`)).body.data.results).toEqual([
    { analyte: "CPV", ...row, value_text: "Positive", abnormal: true },
    { analyte: "HW", ...row, value_text: "neg" },
  ]);
});

test("a number or a unit for a word, and a word for a number, are problems", () => {
  expect(
    typed(
      { analyte: "CPV", value: 1 },
      { analyte: "FIV", value: "Negative", unit: "mg/dL" },
      { analyte: "HW", value: "****" },
      { analyte: "ALT", value: "Positive", unit: "U/L" },
    ),
  ).toEqual({
    problems: [
      'CPV is "1", expected a word such as Positive',
      'unit of FIV is "mg/dL", expected none for a word',
      'HW has no value: "****" is not a number',
      'ALT is "Positive", expected a number',
    ],
  });
});
