import { expect, test } from "vitest";
import { analytes } from "../../../../shared/clinical/analytes/analytes.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import type { Result } from "../../../../shared/api/study.ts";
import { clinic, connection, needNoConfirmation, patient, startServer, study } from "../../harness.ts";
import { assignStudy } from "../../study-commands.ts";

// The facts of a study beside its results, and the codes of results.

const ours = newFp("clinic");
const theirs = newFp("clinic");
const dog = patient();
const URL = "/api/v1/lab/diagnostics";

async function world() {
  const server = await startServer(
    clinic(ours),
    clinic(theirs),
    dog,
    connection(dog.fp, ours),
    connection(dog.fp, theirs),
  );
  await needNoConfirmation(server.store);
  const key = await server.makeKey(ours, ["clinic.patient.view", "clinic.lab.ingest"]);
  const foreign = await server.makeKey(theirs, ["clinic.patient.view"]);
  /** Reads a study alone and in the list, which have the same facts. */
  const read = async (fp: string, reader = key) => {
    const alone = (await server.get(reader, `${URL}/${fp}`)).body.data as unknown as Record<string, unknown>;
    const { items } = (await server.get(reader, `${URL}?patient_fp=${dog.fp}`)).body.data;
    const { updated_at: _time, ...listed } = items.find((each: { fp: string }) => each.fp === fp) as unknown as Record<
      string,
      unknown
    >;
    expect(listed).toEqual(alone);
    const { accession, study_instance_uid, revision, corrected_at } = alone;
    return { accession, study_instance_uid, revision, corrected_at };
  };
  return { ...server, key, foreign, read };
}

test("a first revision without numbers has the fields of the specification alone", async () => {
  const server = await world();
  const plain = study({ patient_fp: dog.fp });
  await server.push(server.key, plain);
  const { data } = (await server.get(server.key, `${URL}/${plain.fp}`)).body;
  expect(Object.keys(data)).toEqual([
    ...["fp", "patient_fp", "modality", "device_name", "status", "acquired_at", "results"],
  ]);
});

test("a study has the number of its sample for the clinic that sent it, and the UID of its images for every clinic", async () => {
  const server = await world();
  const sent = study({ patient_fp: dog.fp });
  const source = { ...sent.source, sample_ids: ["4711", "4712"], study_instance_uid: "1.2.3" };
  await server.push(server.key, { ...sent, source });
  const none = { revision: undefined, corrected_at: undefined };
  expect(await server.read(sent.fp)).toEqual({ accession: "4711", study_instance_uid: "1.2.3", ...none });
  expect(await server.read(sent.fp, server.foreign)).toEqual({
    accession: undefined,
    study_instance_uid: "1.2.3",
    ...none,
  });
});

test("a corrected study has its revision and the time of the correction, a placed one the revision alone", async () => {
  const server = await world();
  const [corrected, placed] = [study({ patient_fp: dog.fp }), study()];
  await server.push(server.key, corrected, placed);
  server.clock.now += 60_000;
  const at = new Date(server.clock.now).toISOString();
  await server.push(server.key, { ...corrected, revision: 2, device_name: "Another" });
  await server.store.transaction(async (session) =>
    assignStudy(session, { fp: placed.fp, patientFp: dog.fp, by: "test", now: server.clock.now }),
  );
  expect(await server.read(corrected.fp)).toMatchObject({ revision: 2, corrected_at: at });
  expect(await server.read(placed.fp)).toMatchObject({ revision: 2, corrected_at: undefined });
});

test("include=codes adds LOINC and UCUM to each result, by its unit, and nothing without it", async () => {
  const server = await world();
  const result = (analyte: string, unit: string | null, more: Partial<Result> = {}): Result => ({
    ...{ analyte, unit, value: 1, reference_range: null, flag: null },
    ...more,
  });
  const results = [
    result("GLU", "mmol/L"),
    result("GLU", "mg/dL"),
    result("ALT", "U/L"),
    result("XYZ", "furlong", { code_source: "device" }),
  ];
  const sent = study({ patient_fp: dog.fp, modality: "BIOCHEMISTRY", results });
  await server.push(server.key, sent);
  const codesAt = async (url: string) => {
    const { data } = (await server.get(server.key, url)).body;
    const [{ results: read }] = ("items" in data ? data.items : [data]) as unknown as [
      { results: Record<string, unknown>[] },
    ];
    return read.map(({ analyte, unit, loinc, ucum }) => [analyte, unit, loinc, ucum]);
  };
  const coded = [
    ["GLU", "mmol/L", "14749-6", "mmol/L"],
    ["GLU", "mg/dL", "2345-7", "mg/dL"],
    ["ALT", "U/L", "1742-6", "U/L"],
    ["XYZ", "furlong", null, null],
  ];
  const plain = coded.map(([analyte, unit]) => [analyte, unit, undefined, undefined]);
  // In this order, so that a cached response without codes would be found.
  for (const url of [`${URL}/${sent.fp}`, URL]) {
    expect(await codesAt(url)).toEqual(plain);
    expect(await codesAt(`${url}?include=codes`)).toEqual(coded);
    expect(await codesAt(url)).toEqual(plain);
    expect((await server.get(server.key, `${url}?include=names`)).status).toBe(400);
  }
});

test("the analytes are on one page, each by its code and modality, and unchanged ones cost nothing", async () => {
  const server = await world();
  const { body, headers } = await server.get(server.foreign, "/api/v1/lab/analytes");
  const items = body.data.items as unknown as { code: string; modality: string }[];
  expect([items.length, body.data.total, body.data.has_more]).toEqual([analytes.length, analytes.length, false]);
  expect(new Set(items.map(({ code, modality }) => `${modality} ${code}`)).size).toBe(analytes.length);
  const found = (code: string, modality: string) =>
    items.find((each) => each.code === code && each.modality === modality);
  expect(found("ALT", "BIOCHEMISTRY")).toMatchObject({
    loinc: ["1742-6"],
    unit: "U/L",
    ucum: "U/L",
    expected_word: null,
  });
  expect(found("CPV", "BIOCHEMISTRY")).toMatchObject({
    ...{ name: "Canine parvovirus antigen", name_tr: "Köpek parvovirüs antijeni", specimen: "feces" },
    ...{ value_type: "word", expected_word: "Negative", unit: null, ucum: null },
  });
  const again = await server.app.inject({
    url: "/api/v1/lab/analytes",
    headers: { authorization: `Bearer ${server.foreign}`, "if-none-match": String(headers["etag"]) },
  });
  expect(again.statusCode).toBe(304);
});
