import { expect, test } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import type { Study } from "../../../../shared/api/study.ts";
import type {
  ManualPreview,
  ManualStudyBody,
  TypedAnalyte,
} from "../../../../server/dashboard/types/results/manual-study.ts";
import type { StudyPage } from "../../../../server/dashboard/types/results/results.ts";
import { query } from "../../../../server/database/query.ts";
import { clinic, connection, keyPermissions, patient, startServer, study } from "../../../server/harness.ts";
import { makeUser } from "../../harness.ts";
import { viewStudy } from "../../../server/study-commands.ts";

const ours = newFp("clinic");
const theirs = newFp("clinic");
const dog = patient({ date_of_birth: "2020-01-01" });
const stray = patient();

const body: ManualStudyBody = {
  entry_id: "0123456789abcdef0123456789abcdef",
  patient_fp: dog.fp,
  modality: "BIOCHEMISTRY",
  acquired_at: "2026-11-21T09:00:00.000Z",
  results: [
    { analyte: "ALT", value: "150", unit: "U/L" },
    { analyte: "CREA", value: "<0,2", unit: "mg/dL" },
  ],
};
const { entry_id: _entry, ...typed } = body;

async function clinics() {
  const server = await startServer(clinic(ours), clinic(theirs), dog, stray, connection(dog.fp, ours));
  return { server, staff: await makeUser(server, "staff", ours) };
}

test("a horse, which the API serves as exotic, gets its own ranges in the preview and in the saved study", async () => {
  const horse = patient({ species: "horse", date_of_birth: "2015-01-01" });
  const server = await startServer(clinic(ours), horse, connection(horse.fp, ours));
  const staff = await makeUser(server, "staff", ours);
  const results = [{ analyte: "CREA", value: "1.5", unit: "mg/dL" }];
  const ofHorse = { ...typed, patient_fp: horse.fp, results };
  const { body: preview } = await staff.call<ManualPreview>("POST", "/manual-study/preview", ofHorse);
  expect(preview.study.results[0]?.reference_range).not.toBeNull();
  const saved = await staff.call<{ fp: string }>("POST", "/manual-study", { ...ofHorse, entry_id: body.entry_id });
  const key = await server.makeKey(ours, ["clinic.lab.view"]);
  const { data } = (await server.get(key, `/api/v1/lab/diagnostics/${saved.body.fp}`)).body;
  expect(data.results).toEqual(preview.study.results);
});

test("the saved study is what the preview showed, and the API returns the same", async () => {
  const { server, staff } = await clinics();
  const preview = (await staff.call<ManualPreview>("POST", "/manual-study/preview", typed)).body;
  const { status, body: saved } = await staff.call<{ fp: string }>("POST", "/manual-study", body);
  expect(status).toBe(200);
  const key = await server.makeKey(ours, ["clinic.lab.view"]);
  const { data } = (await server.get(key, `/api/v1/lab/diagnostics/${saved.fp}`)).body;
  expect<Study>(data).toEqual({ fp: saved.fp, ...preview.study });
  expect(data.results.map(({ reference_range, flag }) => [reference_range, flag])).toEqual([
    ["17-95", "high"],
    ["0.6-1.4", "low"],
  ]);
});

test("a repeated request stores one study, and another entry stores a second one", async () => {
  const { staff } = await clinics();
  const save = async (entry_id: string) =>
    (await staff.call<{ fp: string }>("POST", "/manual-study", { ...body, entry_id })).body.fp;
  const [first, again] = await Promise.all([save(body.entry_id), save(body.entry_id)]);
  const other = await save("f".repeat(32));
  expect([again === first, other === first]).toEqual([true, false]);
});

test("a typed study is corrected by the same checks, and the history keeps what it was", async () => {
  const { server, staff } = await clinics();
  const { fp } = (await staff.call<{ fp: string }>("POST", "/manual-study", body)).body;
  const page = async () => (await staff.call<StudyPage>("GET", `/results/${fp}`)).body;
  expect(await page()).toMatchObject({ is_typed: true, revision: 1 });
  const { patient_fp: _patient, ...values } = typed;
  const fault = { ...values, revision: 1, results: [{ analyte: "ALT", value: "2+", unit: "U/L" }] };
  expect(await staff.call("POST", `/results/${fp}/correct`, fault)).toMatchObject({
    status: 400,
    text: expect.stringContaining("expected a number") as string,
  });
  const right = { ...values, revision: 1, results: [{ analyte: "ALT", value: "15", unit: "U/L" }] };
  expect((await staff.call("POST", `/results/${fp}/correct`, right)).status).toBe(200);
  expect(await staff.call("POST", `/results/${fp}/correct`, right)).toMatchObject({ status: 409 });
  const key = await server.makeKey(ours, ["clinic.lab.view"]);
  const served = async () => (await server.get(key, `/api/v1/lab/diagnostics/${fp}`)).body.data?.results ?? null;
  expect(await served()).toEqual([{ analyte: "ALT", value: 15, unit: "U/L", reference_range: "17-95", flag: "low" }]);
  const corrected = await page();
  expect(corrected.revisions.map(({ cause, by, changes }) => ({ cause, by, changes }))).toEqual([
    {
      cause: "corrected",
      by: staff.name,
      changes: expect.arrayContaining([expect.objectContaining({ analyte: "ALT" })]) as unknown,
    },
    { cause: "entered", by: staff.name, changes: [] },
  ]);

  const reason = "typed for the wrong sample";
  expect((await staff.call("POST", `/results/${fp}/withdraw`, { revision: 2, reason: " " })).status).toBe(400);
  expect((await staff.call("POST", `/results/${fp}/withdraw`, { revision: 2, reason })).status).toBe(200);
  const withdrawn = await page();
  expect([await served(), withdrawn.place, withdrawn.can]).toEqual([
    null,
    { kind: "rejected", reason },
    { move: false, undo: true, flag: false, release: false },
  ]);
  expect((await staff.call("POST", `/results/${fp}/withdraw`, { revision: 3, reason })).status).toBe(409);
  expect((await staff.call("POST", `/results/${fp}/undo-move`, { revision: 3 })).status).toBe(200);
  expect([(await page()).place, await served()]).toEqual([
    { kind: "patient", fp: dog.fp, name: dog.name },
    [{ analyte: "ALT", value: 15, unit: "U/L", reference_range: "17-95", flag: "low" }],
  ]);
  const audit = await server.store.all(
    query((db) => db.selectFrom("audit").select("route").where("method", "=", "COMMAND").where("fp", "=", fp)),
    {},
  );
  expect(audit.map(({ route }) => route)).toEqual(["study add", "study correct", "study withdraw", "study undo move"]);
});

test("a study of a device is neither corrected nor removed by hand", async () => {
  const { server, staff } = await clinics();
  const sent = study({ patient_fp: dog.fp });
  await server.push(await server.makeKey(ours, keyPermissions), sent);
  const { patient_fp: _patient, ...values } = typed;
  const refused = { status: 409, text: expect.stringContaining("Nobody typed this study") as string };
  expect(await staff.call("POST", `/results/${sent.fp}/correct`, { ...values, revision: 1 })).toMatchObject(refused);
  const withdraw = { revision: 1, reason: "wrong" };
  expect(await staff.call("POST", `/results/${sent.fp}/withdraw`, withdraw)).toMatchObject(refused);
});

test("a measurement in images is stored for every patient alike", async () => {
  const { server, staff } = await clinics();
  const image = {
    ...body,
    modality: "ULTRASOUND" as const,
    results: [{ analyte: "LVIDd", value: "31.5", unit: "mm" }],
  };
  const { fp } = (await staff.call<{ fp: string }>("POST", "/manual-study", image)).body;
  const view = await viewStudy(server.store, fp);
  expect(view?.study.results).toEqual([
    { analyte: "LVIDd", value: 31.5, unit: "mm", reference_range: null, flag: null },
  ]);
  expect(view?.snapshot?.rows[0]).toMatchObject({ code: "LVIDd", meaning: "LVIDd" });
});

test("a body with faults stores nothing and names them", async () => {
  const { staff } = await clinics();
  const faulty = { ...body, results: [{ analyte: "ALT", value: "<script>", unit: "U/L" }] };
  const { status, text } = await staff.call("POST", "/manual-study", faulty);
  expect([status, text]).toEqual([400, expect.stringContaining('"ALT is \\"<script>\\", expected a number.')]);
  expect((await staff.call("POST", "/manual-study", { ...body, entry_id: "short" })).status).toBe(400);
});

test("the catalogue lists each analyte with its units", async () => {
  const { staff } = await clinics();
  const { body: found } = await staff.call<TypedAnalyte[]>("GET", "/manual-study/analytes");
  expect(found.find(({ code }) => code === "GLU")).toEqual({
    code: "GLU",
    api_code: "GLU",
    name: "Glucose",
    name_tr: "Glukoz",
    modality: "BIOCHEMISTRY",
    value_type: "numeric",
    units: ["mg/dL", "mmol/L", "mg/L", "g/L"],
  });
});
