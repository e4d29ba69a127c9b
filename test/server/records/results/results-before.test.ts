import { AS_SENT } from "../../../../shared/clinical/units/unit-choice.ts";
import { expect, test } from "vitest";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import { readStudyPage } from "../../../../server/records/results/study-page.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import type { PushedStudy, Result } from "../../../../shared/api/study.ts";
import { clinic, connection, keyPermissions, patient, startServer, study } from "../../harness.ts";

const result = (changes: Partial<Result>): Result => {
  return { analyte: "GLU", value: 5, unit: "mmol/L", reference_range: null, flag: null, ...changes };
};

/** Files studies of one adult dog, one a day, and reads the page of the last. */
async function lastPage(...days: Partial<PushedStudy>[]) {
  const own = newFp("clinic");
  const dog = patient({ species: "dog", date_of_birth: "2019-01-01" });
  const server = await startServer([clinic(own)], [dog], [connection(dog.fp, own)]);
  const studies = days.map((changes, index) =>
    study({ patient_fp: dog.fp, acquired_at: `2026-11-${10 + index}T10:00:00.000Z`, ...changes }),
  );
  await server.push(await server.makeKey(own, keyPermissions), ...studies);
  const clinicId = (await findClinic(server.store, own))?.id ?? 0;
  const page = await readStudyPage(server.store, clinicId, studies.at(-1)?.fp ?? "", AS_SENT);
  return { studies, before: page?.rows.map(({ before }) => before) };
}

test("each value has the previous result of its analyte with the change, in the unit of the new one", async () => {
  const { studies, before } = await lastPage(
    { results: [result({ value: 1 })] },
    { results: [result({ value: 90, unit: "mg/dL" })] },
    { results: [result({ analyte: "ALT", value: 40, unit: "U/L" })] },
    { results: [result({ value: 7 }), result({ analyte: "CREA", value: 1, unit: "mg/dL" })] },
  );
  expect(before).toEqual([
    {
      fp: studies[1]?.fp,
      device_name: "Abaxis VetScan VS2",
      acquired_at: "2026-11-11T10:00:00.000Z",
      value: "5.0",
      unit: "mmol/L",
      sent: { value: "90", unit: "mg/dL", reference_range: null },
      number: 5,
      change: {
        absolute: 2,
        percent: expect.closeTo(40.1, 0),
        direction: "up",
        rcv: expect.objectContaining({ rcv: 28, exceeded: true }),
      },
    },
    undefined,
  ]);
});

test("a difference has the decimals of the printed values, also of four digits and under another name", async () => {
  const enzyme = (value: number) => ({ results: [result({ analyte: "CK", value, unit: "U/L" })] });
  const { before } = await lastPage(enzyme(17), enzyme(1250));
  expect(before?.[0]?.change).toMatchObject({ absolute: 1233 });
  const renamed = await lastPage(
    { results: [result({ analyte: "UREA", value: 40, unit: "mg/dL" })] },
    { results: [result({ analyte: "BUN", value: 28, unit: "mg/dL" })] },
  );
  // 40 mg/dL of urea are 18.7 mg/dL of its nitrogen.
  expect(renamed.before?.[0]?.change).toMatchObject({ absolute: 9 });
});

test("the result of another device, and a bound, have a reason in place of a change", async () => {
  const { before } = await lastPage(
    { device_name: "Other", results: [result({}), result({ analyte: "TBIL", unit: "mg/dL", comparator: "<" })] },
    { results: [result({ value: 7 }), result({ analyte: "TBIL", unit: "mg/dL" })] },
  );
  expect(before?.map((each) => each?.change)).toEqual([{ code: "device" }, { code: "comparator" }]);
  expect(before?.map((each) => each?.number)).toEqual([null, null]);
});

test("urea is the result before urea nitrogen, and a second device of the same name is another device", async () => {
  const { before } = await lastPage(
    { results: [result({ analyte: "UREA", value: 60 }), result({ analyte: "CREA", value: 1, unit: "mg/dL" })] },
    {
      source: { device_id: "second-vs2", message_id: "1" },
      results: [result({ analyte: "BUN", value: 6 }), result({ analyte: "CREA", value: 1, unit: "mg/dL" })],
    },
  );
  expect(before?.[0]).toMatchObject({ analyte: "UREA", value: "60", change: { code: "device" } });
  expect(before?.[1]?.change).toEqual({ code: "device" });
  expect(before?.[1]).not.toHaveProperty("analyte");
  const same = await lastPage(
    { results: [result({ analyte: "UREA", value: 5 })] },
    { results: [result({ analyte: "BUN", value: 6 })] },
  );
  expect(same.before?.[0]).toMatchObject({ analyte: "UREA", number: 5, change: { absolute: 1 } });
});
