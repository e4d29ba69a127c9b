import { expect, test } from "vitest";
import { idOf, observationId } from "../../../server/fhir/resources/ids.ts";
import { query } from "../../../server/database/query.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { makeUser } from "../../dashboard/harness.ts";
import { clinic, connection, importEntities, startLimitedServer } from "../harness.ts";
import { ask, bird, dog, first, named, ours, startPractice } from "./practice.ts";

const firstId = idOf(first);

const audited = query((db) =>
  db.selectFrom("audit").select(["route", "fp", "count", "status"]).where("route", "like", "/fhir%").orderBy("id"),
);

test("each refusal is an OperationOutcome with the type of its issue", async () => {
  const { server, refusal } = await startPractice();
  const labOnly = await server.makeKey(ours, ["clinic.lab.view"]);
  const none = await server.makeKey(ours, ["clinic.calendar.view"]);
  const unknown = `Patient/${idOf(newFp("patient"))}`;
  const refused: [path: string, key: string | null | undefined, status: number, issue: string, code: string][] = [
    ["Patient", null, 401, "login", "AUTH.UNAUTHORIZED"],
    ["Patient", "sk_live_wrong", 401, "login", "AUTH.UNAUTHORIZED"],
    ["Patient", none, 403, "forbidden", "AUTH.FORBIDDEN"],
    ["Patient", labOnly, 403, "forbidden", "AUTH.FORBIDDEN"],
    ["DiagnosticReport?_include=DiagnosticReport:subject", labOnly, 403, "forbidden", "AUTH.FORBIDDEN"],
    [unknown, undefined, 404, "not-found", "RECORD.NOT_FOUND"],
    [`Patient/${dog.fp}`, undefined, 404, "not-found", "RECORD.NOT_FOUND"],
    [`Observation/${observationId(first, 99)}`, undefined, 404, "not-found", "RECORD.NOT_FOUND"],
    ["Device/device-1", undefined, 404, "not-found", "RECORD.NOT_FOUND"],
    ["Encounter", undefined, 404, "not-found", "ROUTE.NOT_FOUND"],
    ["Patient/", undefined, 404, "not-found", "ROUTE.NOT_FOUND"],
    ["Patient?_format=xml", undefined, 406, "not-supported", "REQUEST.NOT_ACCEPTABLE"],
    ["Patient?name=x", undefined, 400, "invalid", "REQUEST.INVALID_PARAMETER"],
    ["Observation?identifier=x", undefined, 400, "invalid", "REQUEST.INVALID_PARAMETER"],
    ["DiagnosticReport?date=2026-02-30", undefined, 400, "invalid", "REQUEST.INVALID_PARAMETER"],
    ["DiagnosticReport?_count=0", undefined, 400, "invalid", "REQUEST.INVALID_PARAMETER"],
    ["DiagnosticReport?_include=DiagnosticReport:encounter", undefined, 400, "invalid", "REQUEST.INVALID_PARAMETER"],
    ["DiagnosticReport?_include=*", undefined, 400, "invalid", "REQUEST.INVALID_PARAMETER"],
    ["DiagnosticReport?patient=a,b", undefined, 400, "invalid", "REQUEST.INVALID_PARAMETER"],
    ["Patient?identifier=http://localhost/id/patient|", undefined, 400, "invalid", "REQUEST.INVALID_PARAMETER"],
    ["DiagnosticReport?_after=x", undefined, 400, "invalid", "REQUEST.INVALID_PARAMETER"],
    ["DiagnosticReport?_id=,", undefined, 400, "invalid", "REQUEST.INVALID_PARAMETER"],
  ];
  for (const [path, key, status, issue, code] of refused) {
    const answer = await (key === undefined ? refusal(path) : refusal(path, key));
    const [found] = answer.body.issue;
    expect([path, answer.status, found?.code, found?.details?.coding?.[0]?.code]).toEqual([path, status, issue, code]);
  }
  expect((await refusal("DiagnosticReport?date=x")).body.issue[0]).toMatchObject({ expression: ["http.date"] });
  for (const method of ["POST", "PUT", "DELETE"] as const) {
    const response = await server.app.inject({ method, url: `/fhir/R4/Patient` });
    expect([method, response.statusCode, response.json<object>()]).toMatchObject([
      method,
      405,
      { resourceType: "OperationOutcome", issue: [{ code: "not-supported" }] },
    ]);
  }
  expect((await refusal("Patient", null)).headers["www-authenticate"]).toBe('Bearer realm="vetwire"');
  expect((await refusal("Patient", undefined, { accept: "application/fhir+xml" })).status).toBe(406);
  expect((await refusal("Patient", undefined, { accept: "application/fhir+json;q=0.9, */*;q=0.1" })).status).toBe(200);
});

test("no address and no place in a list is a fault of the server", async () => {
  const { refusal, key, server } = await startPractice();
  const token = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString("base64url");
  const [late, most] = [8_640_000_000_000_001, Number.MAX_SAFE_INTEGER];
  const paths = [
    `DiagnosticReport?_after=${token("DiagnosticReport", 0, "", 0, late)}`,
    `Observation?_after=${token("Observation", most, "cds_1", most, most)}`,
    `Device?_after=${token("Device", late, "", 0, 0)}`,
    `Patient?_after=${token("DiagnosticReport", 0, "", 0, 0)}`,
    "Patient?identifier=a&identifier=b",
    "Patient/%ZZ",
    "Patient/%ED%A0%80",
    `Patient/${"a".repeat(5000)}`,
    "Patient/..%2f..%2fetc",
    "Patient/%00",
  ];
  for (const path of paths) {
    const { status, body } = await refusal(path);
    expect([path, status]).toEqual([path, expect.toSatisfy((each: number) => each >= 400 && each < 500)]);
    expect([path, body.resourceType]).toEqual([path, "OperationOutcome"]);
  }
  const accepted = [
    `DiagnosticReport?_after=${token("DiagnosticReport", 0, "\0", 0, 0)}`,
    `Observation?_after=${token("Observation", 8_640_000_000_000_000, "\uD800", 5000, 0)}`,
    "Patient?identifier=%00",
    "Patient?identifier=%5C",
    "Device?_id=%00",
  ];
  for (const path of accepted) expect([path, (await ask(server, key, path)).status]).toEqual([path, 200]);
  const after = token("studies", 0, "", 1, late);
  expect((await server.get(key, `/api/v1/lab/diagnostics?after=${after}`)).status).toBe(400);
});

test("a withdrawn study is gone, and so is a deleted animal", async () => {
  const { server, refusal } = await startPractice();
  await importEntities(server.store, {
    ...dog,
    deleted_at: "2026-11-21T11:00:00.000Z",
    updated_at: "2026-11-21T11:00:00.000Z",
  });
  for (const path of [
    `Patient/${idOf(dog.fp)}`,
    `DiagnosticReport/${firstId}`,
    `Observation/${observationId(first, 0)}`,
  ]) {
    const { status, body } = await refusal(path);
    expect([path, status, body.issue[0]?.code]).toEqual([path, 410, "deleted"]);
  }
  await importEntities(server.store, connection(bird.fp, ours, false));
  expect((await refusal(`Patient/${idOf(bird.fp)}`)).status).toBe(403);
});

test("a study that a person moves is corrected at its animal, and one that waits for its animal is nowhere", async () => {
  const { server, read, refusal, search } = await startPractice();
  const staff = await makeUser(server, "staff", ours);
  const move = async (patientFp: string | null) => {
    const { revision } = (await staff.call<{ revision: number }>("GET", `/results/${first}`)).body;
    const body = { revision, patient_fp: patientFp, reason: "the card of the wrong animal" };
    expect((await staff.call("POST", `/results/${first}/move`, body)).status).toBe(200);
  };
  const paths = [`DiagnosticReport/${firstId}`, `Observation/${observationId(first, 0)}`, `Specimen/${firstId}`];
  await move(bird.fp);
  for (const path of paths)
    expect((await read(path)).body).toMatchObject({ subject: { reference: `Patient/${idOf(bird.fp)}` } });
  expect((await read(`DiagnosticReport/${firstId}`)).body).toMatchObject({ status: "corrected" });
  for (const type of ["DiagnosticReport", "Observation", "Specimen"])
    expect([type, named((await search(`${type}?patient=${idOf(dog.fp)}`)).body)]).toEqual([type, []]);
  await move(null);
  for (const path of paths) expect([path, (await refusal(path)).status]).toEqual([path, 410]);
  for (const asked of [`DiagnosticReport?_id=${firstId}`, "Observation", "Specimen", `Specimen?identifier=${first}`])
    expect([asked, named((await search(asked)).body)]).toEqual([asked, []]);
});

test("a request beyond the limit is throttled, and tells when to come again", async () => {
  const few = { minute: 1, hour: 10 };
  const server = await startLimitedServer(
    { integration: few, device: few, partner: few, ingest: few, addressMinute: 10, sessionMinute: 10 },
    clinic(ours),
  );
  const key = await server.makeKey(ours, ["clinic.patient.view"]);
  expect((await ask(server, key, "Patient")).status).toBe(200);
  const { status, headers, body } = await ask(server, key, "Patient");
  expect([status, headers["retry-after"]]).toEqual([429, expect.stringMatching(/^\d+$/)]);
  expect(body).toMatchObject({ issue: [{ code: "throttled" }] });
});

test("a fault of the server is an OperationOutcome too, and the audit has the record of each request", async () => {
  const { server, read, refusal } = await startPractice();
  await read(`DiagnosticReport/${firstId}`);
  await read("Observation");
  await refusal(`DiagnosticReport/${firstId}`, await server.makeKey(ours, ["clinic.calendar.view"]));
  await expect
    .poll(() => server.store.all(audited, {}))
    .toEqual([
      { route: "/fhir/R4/DiagnosticReport/:id", fp: first, count: null, status: 200 },
      { route: "/fhir/R4/Observation", fp: null, count: 6, status: 200 },
      { route: "/fhir/R4/DiagnosticReport/:id", fp: first, count: null, status: 403 },
    ]);
  const unknown = await server.makeFreshKey(ours, ["clinic.patient.view"]);
  await server.store.close();
  expect(await refusal("Patient", unknown)).toMatchObject({
    status: 500,
    body: { issue: [{ severity: "fatal", code: "exception" }] },
  });
});
