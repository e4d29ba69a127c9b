import type {
  CapabilityStatement,
  DiagnosticReport,
  FhirResource,
  ImagingStudy,
  Observation,
  Patient,
  Specimen,
} from "fhir/r4.js";
import { expect, test } from "vitest";
import { deviceId, fpOf, idOf, observationId, resultOf } from "../../../server/fhir/resources/ids.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { study } from "../harness.ts";
import { ask, bird, dog, first, lab, ours, scan, second, startPractice } from "./practice.ts";

const [dogId, birdId, firstId, secondId] = [idOf(dog.fp), idOf(bird.fp), idOf(first), idOf(second)];

test("ids are those that R4 allows, and lead back to their fps", () => {
  for (const kind of ["patient", "cds", "order"] as const) {
    const fp = newFp(kind);
    expect([fpOf(kind, idOf(fp)), /^[A-Za-z0-9\-.]{1,64}$/.test(idOf(fp))]).toEqual([fp, true]);
  }
  const fp = newFp("cds");
  expect([idOf(fp), fpOf("cds", idOf(fp))]).toEqual([fp.replace("_", "-"), fp]);
  expect(resultOf(observationId(fp, 12))).toEqual({ fp, index: 12 });
  for (const wrong of [fp, `${idOf(fp)}-1`, idOf(newFp("order")), "", "cds-1"])
    expect([wrong, fpOf("cds", wrong)]).toEqual([wrong, null]);
  for (const wrong of [idOf(fp), `${idOf(fp)}-0`, `${idOf(fp)}-01`, `${fp}-1`])
    expect([wrong, resultOf(wrong)]).toEqual([wrong, null]);
});

test("an animal has its species, breed and gender status, its own fp, and nothing of its owner", async () => {
  const { read } = await startPractice();
  const { body } = await read<Patient>(`Patient/${dogId}`);
  expect(body).toMatchObject({
    identifier: [{ value: dog.fp }],
    name: [{ text: "Karabaş" }],
    gender: "male",
    birthDate: "2019-04-12",
    extension: [
      {
        extension: [
          { url: "species", valueCodeableConcept: { coding: [{ code: "448771007" }], text: "dog" } },
          { url: "breed", valueCodeableConcept: { text: "Kangal" } },
          { url: "genderStatus", valueCodeableConcept: { coding: [{ code: "neutered" }] } },
        ],
      },
    ],
  });
  expect(JSON.stringify(body)).not.toContain(dog.owner_customer_fp);
  const { body: of } = await read<Patient>(`Patient/${birdId}`);
  expect(of.extension?.[0]?.extension).toEqual([{ url: "species", valueCodeableConcept: { text: "bird" } }]);
  expect([of.gender, of.birthDate]).toEqual(["unknown", undefined]);
});

test("a lab study becomes a report, a sample, a device and its results", async () => {
  const { read } = await startPractice();
  const { body: report } = await read<DiagnosticReport>(`DiagnosticReport/${firstId}`);
  expect(report).toMatchObject({
    status: "final",
    code: { text: "Biochemistry" },
    subject: { reference: `Patient/${dogId}` },
    effectiveDateTime: lab.acquired_at,
    presentedForm: [{ url: `http://localhost/api/v1/lab/diagnostics/${first}/report.pdf` }],
  });
  expect(report.result?.map(({ reference }) => reference)).toEqual(
    lab.results.map((_, index) => `Observation/${observationId(first, index)}`),
  );
  const { body: sample } = await read<Specimen>(`Specimen/${firstId}`);
  expect(sample).toMatchObject({ subject: { reference: `Patient/${dogId}` }, note: [{ text: "HEM: 0" }] });
  const device = await read(`Device/${deviceId(lab.device_name)}`);
  expect(device.body).toMatchObject({ deviceName: [{ name: "Abaxis VetScan VS2" }] });
});

test("each kind of value has its form, and a flag its code", async () => {
  const { read } = await startPractice();
  const results = await Promise.all(
    lab.results.map(async (_, index) => (await read<Observation>(`Observation/${observationId(first, index)}`)).body),
  );
  const loinc = (code: string) => ({ coding: [{ system: "http://loinc.org", code }] });
  const flag = (code: string) => [{ coding: [{ code }] }];
  const [glucose, bilirubin, alt, virus, odd, creatinine] = results;
  // 3.30-6.10 would be 3.3-6.1 in numbers.
  expect(glucose).toMatchObject({
    code: loinc("14749-6"),
    valueQuantity: { value: 5.2, unit: "mmol/L", code: "mmol/L" },
    interpretation: flag("N"),
    referenceRange: [{ low: { value: 3.3 }, high: { value: 6.1 }, text: "3.30-6.10", appliesTo: [{ text: "dog" }] }],
  });
  expect(bilirubin).toMatchObject({ code: loinc("1975-2"), valueQuantity: { value: 0.2, comparator: "<" } });
  expect([bilirubin?.interpretation, bilirubin?.referenceRange]).toEqual([undefined, undefined]);
  expect(alt).toMatchObject({ interpretation: flag("HH") });
  expect(alt?.referenceRange?.[0]).not.toHaveProperty("text");
  expect(virus).toMatchObject({ valueCodeableConcept: { text: "Positive" } });
  expect(odd).toMatchObject({ code: { text: "XYZ" }, valueQuantity: { value: 7, unit: "odd" } });
  expect([odd?.code.coding, odd?.valueQuantity?.code]).toEqual([undefined, undefined]);
  expect(creatinine).toMatchObject({ valueString: "5-10" });
});

test("texts without words are left out, and each form of an interval has its bounds", async () => {
  const { server, agent, read } = await startPractice();
  const sent = study({
    ...{ patient_fp: dog.fp, comments: [" "] },
    results: [
      { analyte: "ALB", value: 3, unit: "", reference_range: null, flag: null, comment: "" },
      { analyte: "TP", value: 0.2, unit: "g/dL", reference_range: ".5-1.50", flag: "critical" },
      { analyte: "ALT", value: -3, unit: "U/L", reference_range: "-2--1", flag: "low" },
      { analyte: "CREA", value: 1.4, unit: "µmol/L", reference_range: null, flag: null, comment: "lipaemic" },
      { analyte: "ODD", value: null, unit: " ", reference_range: null, flag: null, value_text: " " },
    ],
  });
  expect(await server.push(agent, sent)).toMatchObject([{ outcome: "filed" }]);
  const [plain, short, negative, doubtful, none] = await Promise.all(
    sent.results.map(
      async (_, index) => (await read<Observation>(`Observation/${observationId(sent.fp, index)}`)).body,
    ),
  );
  expect([plain?.valueQuantity, plain?.note]).toEqual([{ value: 3 }, undefined]);
  expect(short).toMatchObject({
    interpretation: [{ coding: [{ code: "LL" }] }],
    referenceRange: [{ low: { value: 0.5 }, high: { value: 1.5 }, text: ".5-1.50" }],
  });
  expect(negative?.referenceRange).toMatchObject([{ low: { value: -2 }, high: { value: -1 } }]);
  // Not a spelling of the catalogue, so without a code.
  expect(doubtful?.valueQuantity).toEqual({ value: 1.4, unit: "µmol/L" });
  expect(doubtful).toMatchObject({ note: [{ text: "lipaemic" }] });
  expect(doubtful?.interpretation).toBeUndefined();
  expect(none).toMatchObject({ dataAbsentReason: { coding: [{ code: "unknown" }] } });
  expect((await read<Specimen>(`Specimen/${idOf(sent.fp)}`)).body.note).toBeUndefined();
});

test("the key that reads a report opens its PDF, also a key for studies alone", async () => {
  const { server, key } = await startPractice();
  for (const each of [key, await server.makeKey(ours, ["clinic.lab.view"])]) {
    for (const id of [firstId, secondId]) {
      const { body } = await ask<DiagnosticReport>(server, each, `DiagnosticReport/${id}`);
      const [{ url = "", contentType } = {}] = body.presentedForm ?? [];
      const headers = { authorization: `Bearer ${each}` };
      const response = await server.app.inject({ url: url.replace("http://localhost", ""), headers });
      expect([id, response.statusCode, response.headers["content-type"]]).toEqual([id, 200, contentType]);
    }
  }
});

test("a study of images becomes a report with an ImagingStudy, and no sample", async () => {
  const { read, refusal } = await startPractice();
  expect((await read<DiagnosticReport>(`DiagnosticReport/${secondId}`)).body).toMatchObject({
    imagingStudy: [{ reference: `ImagingStudy/${secondId}` }],
  });
  expect((await read<ImagingStudy>(`ImagingStudy/${secondId}`)).body).toMatchObject({
    identifier: [{ system: "urn:dicom:uid", value: "urn:oid:1.2.3.4" }, { value: scan.fp }],
    modality: [{ code: "US" }],
    started: scan.acquired_at,
  });
  expect((await refusal(`Specimen/${secondId}`)).status).toBe(404);
  expect((await refusal(`ImagingStudy/${firstId}`)).status).toBe(404);
});

test("a corrected study is corrected with the results that changed, an added result is appended", async () => {
  const { server, agent, read } = await startPractice();
  const [glucose, ...others] = lab.results;
  if (glucose === undefined) throw new Error("expected a result");
  await server.push(agent, { ...lab, revision: 2, results: [{ ...glucose, value: 5.4 }, ...others] });
  expect((await read<DiagnosticReport>(`DiagnosticReport/${firstId}`)).body.status).toBe("corrected");
  expect((await read<Observation>(`Observation/${observationId(first, 0)}`)).body.status).toBe("corrected");
  expect((await read<Observation>(`Observation/${observationId(first, 2)}`)).body.status).toBe("final");

  const late = study({ patient_fp: dog.fp });
  await server.push(agent, late);
  const results = [...late.results, { analyte: "ALB", value: 3, unit: "g/dL", reference_range: null, flag: null }];
  await server.push(agent, { ...late, revision: 2, results });
  expect((await read<DiagnosticReport>(`DiagnosticReport/${idOf(late.fp)}`)).body.status).toBe("appended");
  expect((await read<Observation>(`Observation/${observationId(late.fp, 0)}`)).body.status).toBe("final");
});

test("the statement of the server needs no key, and names what it reads", async () => {
  const { server } = await startPractice();
  const { body } = await ask<CapabilityStatement>(server, null, "metadata");
  const types = body.rest?.[0]?.resource?.map(({ type }) => type) ?? [];
  expect(types).toEqual([
    "Patient",
    "DiagnosticReport",
    "Observation",
    "Specimen",
    "Device",
    "ServiceRequest",
    "ImagingStudy",
  ]);
  const key = await server.makeKey(ours, ["clinic.patient.view"]);
  for (const { type, searchParam = [], searchInclude = [] } of body.rest?.[0]?.resource ?? []) {
    for (const include of searchInclude)
      expect([include, (await ask(server, key, `${type}?_include=${include}`)).status]).toEqual([include, 200]);
    for (const { name, type: kind } of searchParam) {
      const value = kind === "date" ? "2026-11-21" : `${type}-unknown`;
      const { status } = await ask<FhirResource>(server, key, `${type}?${name}=${value}`);
      expect([type, name, status]).toEqual([type, name, 200]);
    }
  }
});
