import { expect, test } from "vitest";
import type { PatientResults } from "../../../../server/dashboard/types/patients.ts";
import { resultRows } from "../../../../server/dashboard/types/results/result-rows.ts";
import type { ResultsPage, StudyPage } from "../../../../server/dashboard/types/results/results.ts";
import type { SessionState } from "../../../../server/dashboard/types/settings/session.ts";
import type { TodayState } from "../../../../server/dashboard/types/results/today.ts";
import type { TypedAnalyte } from "../../../../server/dashboard/types/results/manual-study.ts";
import type { Result, Study } from "../../../../shared/api/study.ts";
import { keyPermissions, startServer, study } from "../../../server/harness.ts";
import type { AssignPreview } from "../../../../server/dashboard/types/results/unmatched.ts";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import { currentRanges, replaceLimits, replaceRanges } from "../../../../server/records/clinics/ranges.ts";
import { makeUser } from "../../harness.ts";
import { chemistry, measured, resultsClinic } from "../../results-clinic.ts";

const result = (analyte: string, value: number, unit: string, more: Partial<Result> = {}): Result => ({
  ...{ analyte, value, unit, reference_range: null, flag: null },
  ...more,
});

/** Two blood counts and two chemistries of one dog, of analyzers that print in different units. */
async function startUnits() {
  const names = resultsClinic();
  const { dog, ours } = names;
  const server = await startServer(...names.entities);
  const admin = await makeUser(server, "admin", ours);
  const key = await server.makeKey(ours, [...keyPermissions, "clinic.lab.view"]);
  const of = (modality: Study["modality"], day: string, results: Result[]) =>
    study({ patient_fp: dog.fp, modality, acquired_at: `2026-11-${day}T08:00:00.000Z`, results });
  const counts = [
    of("HEMATOLOGY", "10", [result("WBC", 12.345, "10*3/uL", { reference_range: "5.05-16.76", flag: "normal" })]),
    of("HEMATOLOGY", "12", [result("WBC", 9.5, "10*9/L"), result("HGB", 14.2, "g/dL")]),
  ];
  const chemistries = [
    of("BIOCHEMISTRY", "11", [
      result("CREA", 1.41, "mg/dL", { reference_range: "0.5-1.4", flag: "high" }),
      result("GLU", 40, "mg/dL", { reference_range: "70-143", flag: "critical" }),
    ]),
    of("BIOCHEMISTRY", "13", [result("CREA", 110, "umol/L", { reference_range: "44.2-124", flag: "normal" })]),
  ];
  await server.push(key, ...counts, ...chemistries);
  const choose = (units: object) =>
    admin.call("PUT", "/settings/clinic", { language: null, time_zone: null, units }).then(({ status }) => status);
  /** The rows of the patient's table: analyte, unit, and the texts of the values, the newest first. */
  const history = async () => {
    const { body } = await admin.call<PatientResults>("GET", `/patients/${dog.fp}/results`);
    return resultRows(body).map(({ analyte, unit, values }) => [analyte, unit, ...values.map(({ text }) => text)]);
  };
  return { ...server, dog, ours, admin, counts, chemistries, choose, history, key };
}

test("10*3/uL and 10*9/L are one history, and each analyte has one row in the clinic's units", async () => {
  const { choose, history, admin, dog } = await startUnits();
  // Without a choice the newest unit is that of the row.
  expect(await history()).toEqual([
    ["WBC", "×10⁹/L", "9.5", "12.345"],
    ["HGB", "g/dL", "14.2"],
    ["GLU", "mg/dL", "40"],
    ["CREA", "µmol/L", "110", "125"],
  ]);
  expect(await choose({ system: "conventional", exceptions: {} })).toBe(200);
  expect(await history()).toEqual([
    ["WBC", "×10³/µL", "9.5", "12.345"],
    ["HGB", "g/dL", "14.2"],
    ["GLU", "mg/dL", "40"],
    ["CREA", "mg/dL", "1.24", "1.41"],
  ]);
  expect(await choose({ system: "si", exceptions: { CREA: "mg/dL" } })).toBe(200);
  expect(await history()).toEqual([
    ["WBC", "×10⁹/L", "9.5", "12.345"],
    ["HGB", "g/L", "142"],
    ["GLU", "mmol/L", "2.2"],
    ["CREA", "mg/dL", "1.24", "1.41"],
  ]);
  const { body } = await admin.call<PatientResults>("GET", `/patients/${dog.fp}/results?analyte=CREA`);
  expect(body.studies.map(({ values: [value] }) => [value?.sent, value?.reference_range, value?.value])).toEqual([
    [{ value: "110", unit: "umol/L", reference_range: "44.2-124" }, "0.500-1.40", 1.24],
    [undefined, "0.5-1.4", 1.41],
  ]);
});

test("a study, its list, Today and its CSV are in the clinic's units, and the sent value stays beside them", async () => {
  const { choose, admin, chemistries, get, key } = await startUnits();
  await choose({ system: "si", exceptions: {} });
  const [first, second] = chemistries.map(({ fp }) => fp);
  const page = async (fp = "") => (await admin.call<StudyPage>("GET", `/results/${fp}`)).body.rows;
  expect((await page(first))[0]).toMatchObject({
    ...{ value: "125", unit: "µmol/L", reference_range: "44.2-124", number: 125, low: 44.2, high: 124 },
    sent: { value: "1.41", unit: "mg/dL", reference_range: "0.5-1.4" },
  });
  const [after] = await page(second);
  expect(after?.before).toMatchObject({ value: "125", unit: "µmol/L", sent: { value: "1.41", unit: "mg/dL" } });
  expect(after?.before?.change).toMatchObject({ absolute: -15 });
  const { items } = (await admin.call<ResultsPage>("GET", "/results?flag=critical")).body;
  expect(items.map(({ outside }) => outside.map(({ analyte, text }) => `${analyte} ${text}`))).toEqual([
    ["GLU 2.2 mmol/L", "CREA 125 µmol/L"],
  ]);
  const { critical } = (await admin.call<TodayState>("GET", "/today")).body;
  expect(critical[0]?.values).toEqual([{ analyte: "GLU", value: "2.2", unit: "mmol/L", reference_range: "3.89-7.94" }]);
  const [heads = [], crea = []] = (await admin.call("GET", `/results/${first}/results.csv`)).text
    .split("\r\n")
    .map((line) => line.split(","));
  const cell = (head: string) => crea[heads.indexOf(head)];
  expect(["comparator_and_value", "unit", "sent_value", "sent_unit"].map(cell)).toEqual([
    ...["125", "µmol/L", "1.41", "mg/dL"],
  ]);
  // The read API keeps value and unit as sent.
  const read = await get(key, `/api/v1/lab/diagnostics/${first}`);
  expect(JSON.stringify(read.body)).toContain('"value":1.41,"unit":"mg/dL","reference_range":"0.5-1.4"');
});

test("every page has the bounds of the clinic's own interval, not those of the rounded text that was sent", async () => {
  const { choose, admin, store, dog, ours, push, key } = await startUnits();
  const own = { id: "crea", species: "dog", analyte: "CREA", unit: "umol/L", low: "40.0", high: "121.3" } as const;
  const rows = [{ ...own, critical_low: "30", effective_from: "2026-01-01" }];
  const ranges = await store.transaction(async (session) => {
    const { id = 0 } = (await findClinic(session, ours)) ?? {};
    return replaceRanges(session, id, { low_quality: false, rows }, 1);
  });
  await choose({ system: "si", exceptions: {} });
  const filed = chemistry(dog, [measured("CREA", 0.3, "mg/dL")], {}, ranges);
  const waiting = study({ modality: "BIOCHEMISTRY", results: filed.results });
  await push(key, filed, waiting);
  expect(filed.results[0]).toMatchObject({ reference_range: "0.452-1.37", flag: "critical" });
  const page = (await admin.call<StudyPage>("GET", `/results/${filed.fp}`)).body.rows[0];
  const placed = (await admin.call<AssignPreview>("GET", `/unmatched/${waiting.fp}/preview/${dog.fp}`)).body.results[0];
  const today = (await admin.call<TodayState>("GET", "/today")).body.critical.find(({ fp }) => fp === filed.fp);
  const history = async (query: string) =>
    (await admin.call<PatientResults>("GET", `/patients/${dog.fp}/results${query}`)).body.studies.find(
      ({ fp }) => fp === filed.fp,
    )?.values[0];
  const shown = [page, placed, today?.values[0], await history(""), await history("?analyte=CREA")];
  expect(shown.map((value) => value?.reference_range)).toEqual(shown.map(() => "40.0-121.3"));
});

test("a user reads other units than the clinic, without its exceptions, in pages and files", async () => {
  const { choose, admin, chemistries, app, ours } = await startUnits();
  await choose({ system: "si", exceptions: { CREA: "mg/dL" } });
  const [{ fp } = { fp: "" }] = chemistries;
  const get = (path: string, units: string) => {
    const headers = { cookie: `${admin.cookie}; vetwire-units=${units}`, "sec-fetch-site": "same-origin" };
    return app.inject({ method: "GET", url: `/clinic/v1/clinics/${ours}/results/${fp}${path}`, headers });
  };
  const shown = async (units: string) =>
    (await get("", units)).json<StudyPage>().rows.map(({ value, unit }) => `${value} ${unit}`);
  expect(await shown("")).toEqual(["1.41 mg/dL", "2.2 mmol/L"]);
  expect(await shown("si")).toEqual(["125 µmol/L", "2.2 mmol/L"]);
  expect(await shown("conventional")).toEqual(["1.41 mg/dL", "40 mg/dL"]);
  expect(await shown("sent")).toEqual(["1.41 mg/dL", "40 mg/dL"]);
  expect(await shown("furlong")).toEqual(["1.41 mg/dL", "2.2 mmol/L"]);
  expect((await get("/results.csv", "si")).body).toContain(",125,µmol/L,");
});

test("the units are a setting of the clinic, which refuses a unit that is none of the analyte", async () => {
  const { choose, admin } = await startUnits();
  const stored = async () => {
    const { body } = await admin.call<SessionState>("GET", "/clinic/v1/session");
    return body.state === "signed in" ? body.clinics[0]?.units : undefined;
  };
  expect(await stored()).toEqual({ system: null, exceptions: {} });
  const units = { system: "si", exceptions: { CREA: "mg/dL" } };
  expect(await choose(units)).toBe(200);
  for (const exceptions of [{ CREA: "mmHg" }, { NOTHING: "mg/dL" }, { UPRO: "mg/dL" }, { CREA: 1 }]) {
    expect(await choose({ system: "si", exceptions })).toBe(400);
  }
  expect(await choose({ system: "imperial", exceptions: {} })).toBe(400);
  // A page of an older version sends none.
  expect((await admin.call("PUT", "/settings/clinic", { language: "tr", time_zone: null })).status).toBe(200);
  expect(await stored()).toEqual(units);
  const { body } = await admin.call<TypedAnalyte[]>("GET", "/manual-study/analytes");
  const first = (code: string) => body.find((analyte) => analyte.code === code)?.units[0];
  expect([first("CREA"), first("GLU"), first("UPRO")]).toEqual(["mg/dL", "mmol/L", undefined]);
});

test("a value beyond an accepted limit has its side in the preview and the list as on its study, also without an interval", async () => {
  const { admin, store, dog, ours, push, key } = await startUnits();
  const own = { id: "crp", species: "dog", analyte: "CRP", unit: "mg/L", high: "100", source: "a book" } as const;
  const ranges = await store.transaction(async (session) => {
    const { id = 0 } = (await findClinic(session, ours)) ?? {};
    await replaceLimits(session, id, [{ ...own, accepted_by: "Ada", accepted_at: "2026-01-01" }], 1);
    return currentRanges(session, id);
  });
  const filed = chemistry(dog, [measured("CRP", 150, "mg/L")], {}, ranges);
  const unflagged = filed.results.map((each) => ({ ...each, flag: null }));
  const waiting = study({ modality: "BIOCHEMISTRY", results: unflagged });
  await push(key, filed, waiting);
  expect(filed.results[0]).toMatchObject({ reference_range: null, flag: "critical" });
  const page = (await admin.call<StudyPage>("GET", `/results/${filed.fp}`)).body.rows[0];
  const placed = (await admin.call<AssignPreview>("GET", `/unmatched/${waiting.fp}/preview/${dog.fp}`)).body.results[0];
  const { items } = (await admin.call<ResultsPage>("GET", "/results?flag=critical")).body;
  const listed = items.find(({ fp }) => fp === filed.fp)?.outside[0];
  expect([page?.side, placed?.side, listed?.side]).toEqual(["high", "high", "high"]);
});
