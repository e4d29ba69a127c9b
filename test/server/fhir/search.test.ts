import type { Observation } from "fhir/r4.js";
import { expect, test } from "vitest";
import type { Session } from "../../../server/database/query.ts";
import { findMatches } from "../../../server/fhir/matches.ts";
import { placeOf } from "../../../server/fhir/place.ts";
import { deviceId, idOf, observationId } from "../../../server/fhir/resources/ids.ts";
import { readSearchDate } from "../../../server/fhir/search/dates.ts";
import { readSearch } from "../../../server/fhir/search/parameters.ts";
import { findClinic } from "../../../server/records/clinics/keys.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { referencesOf } from "../../support/clinic/fhir.ts";
import { clinic, connection, importEntities, patient, study } from "../harness.ts";
import { ask, bird, dog, first, lab, named, next, ours, scan, second, startPractice } from "./practice.ts";

const [dogId, birdId, firstId, secondId] = [idOf(dog.fp), idOf(bird.fp), idOf(first), idOf(second)];
const place = placeOf("http://localhost");
const reports = [`DiagnosticReport/${firstId}`, `DiagnosticReport/${secondId}`];

test("a date is the span of its precision, and a prefix takes one side of it", () => {
  const [start, end] = [Date.parse("2026-11-21T00:00:00Z"), Date.parse("2026-11-22T00:00:00Z")];
  const [min, max] = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
  const spans: [string, number, number][] = [
    ["2026-11-21", start, end],
    ["ge2026-11-21", start, max],
    ["gt2026-11-21", end, max],
    ["sa2026-11-21", end, max],
    ["le2026-11-21", min, end],
    ["lt2026-11-21", min, start],
    ["eb2026-11-21", min, start],
    ["2026", Date.parse("2026-01-01T00:00:00Z"), Date.parse("2027-01-01T00:00:00Z")],
    ["2026-12", Date.parse("2026-12-01T00:00:00Z"), Date.parse("2027-01-01T00:00:00Z")],
    ["2026-11-21T03:00+03:00", start, start + 60_000],
    ["2026-11-21T03:00:00 03:00", start, start + 1000],
    ["2026-11-21T00:00:00.5Z", start + 500, start + 600],
  ];
  for (const [text, from, before] of spans) expect([text, readSearchDate(text)]).toEqual([text, { from, before }]);
  for (const wrong of [
    "2026-02-30",
    "ap2026",
    "ne2026",
    "21.11.2026",
    "2026-11-21T25:00Z",
    "",
    "2026-11-21T00:00+15:00",
  ])
    expect([wrong, readSearchDate(wrong)]).toEqual([wrong, null]);
});

test("a search finds by id, identifier, patient, date and change", async () => {
  const { search } = await startPractice();
  const found: [query: string, matches: string[]][] = [
    ["DiagnosticReport", reports],
    [`DiagnosticReport?_id=${firstId}`, [`DiagnosticReport/${firstId}`]],
    [`DiagnosticReport?_id=${firstId},${secondId},cds-x`, reports],
    [`DiagnosticReport?identifier=${second}`, [`DiagnosticReport/${secondId}`]],
    [`DiagnosticReport?identifier=http://localhost/id/study|${second}`, [`DiagnosticReport/${secondId}`]],
    [`DiagnosticReport?identifier=http://other/id|${second}`, []],
    [`DiagnosticReport?_id=${firstId}&identifier=${second}`, []],
    [`DiagnosticReport?patient=${dogId}`, [`DiagnosticReport/${firstId}`]],
    [`DiagnosticReport?subject=Patient/${birdId}`, [`DiagnosticReport/${secondId}`]],
    [`DiagnosticReport?subject=http://localhost/fhir/R4/Patient/${birdId}`, [`DiagnosticReport/${secondId}`]],
    [`DiagnosticReport?patient=${dogId}&subject=Patient/${birdId}`, []],
    [`DiagnosticReport?patient=nobody`, []],
    ["DiagnosticReport?date=2026-11-20", [`DiagnosticReport/${firstId}`]],
    ["DiagnosticReport?date=gt2026-11-20", [`DiagnosticReport/${secondId}`]],
    ["DiagnosticReport?date=ge2026-11-20&date=lt2026-11-21", [`DiagnosticReport/${firstId}`]],
    [`DiagnosticReport?_id=${firstId}&date=2026-11-21`, []],
    ["DiagnosticReport?_lastUpdated=ge2026-11-21", reports],
    ["DiagnosticReport?_lastUpdated=lt2026-11-21", []],
    ["Specimen", [`Specimen/${firstId}`]],
    [`Specimen?_id=${firstId},${secondId}`, [`Specimen/${firstId}`]],
    ["ImagingStudy?started=2026-11-21", [`ImagingStudy/${secondId}`]],
    [`Patient?_id=${dogId}`, [`Patient/${dogId}`]],
    [`Patient?identifier=${bird.fp}`, [`Patient/${birdId}`]],
    [`Observation?_id=${observationId(first, 2)}`, [`Observation/${observationId(first, 2)}`]],
    [`Observation?patient=${birdId}`, []],
    [`Device?_id=${deviceId(scan.device_name)}`, [`Device/${deviceId(scan.device_name)}`]],
  ];
  for (const [query, matches] of found) {
    const { status, body } = await search(query);
    expect([query, status, named(body)]).toEqual([query, 200, matches]);
    expect([query, body.total]).toEqual([query, matches.length]);
  }
});

test("an include brings what the matches refer to, each resource once, and no other reference is open", async () => {
  const { search, server } = await startPractice();
  const include = (type: string, ...names: string[]) => names.map((name) => `_include=${type}:${name}`).join("&");
  const { body } = await search(
    `DiagnosticReport?${include("DiagnosticReport", "subject", "patient", "result", "specimen")}`,
  );
  expect(named(body, "include").toSorted()).toEqual(
    [
      ...[`Patient/${dogId}`, `Patient/${birdId}`, `Specimen/${firstId}`],
      ...lab.results.map((_, index) => `Observation/${observationId(first, index)}`),
    ].toSorted(),
  );
  const { body: results } = await search(`Observation?${include("Observation", "subject", "device", "specimen")}`);
  expect(named(results, "include")).toEqual([
    `Patient/${dogId}`,
    `Device/${deviceId(lab.device_name)}`,
    `Specimen/${firstId}`,
  ]);
  const entries = [...(body.entry ?? []), ...(results.entry ?? [])].flatMap(({ resource }) => resource ?? []);
  const key = await server.makeKey(ours, ["clinic.patient.view"]);
  const references = new Set(entries.flatMap(referencesOf));
  expect(references.size).toBeGreaterThan(9);
  for (const reference of references) {
    expect([reference, (await ask(server, key, reference)).status]).toEqual([reference, 200]);
  }
});

test("the pages of every type bring each match once, in the order of the changes", async () => {
  const { server, search, agent } = await startPractice();
  const more = Array.from({ length: 5 }, () => study({ patient_fp: dog.fp }));
  for (const each of more) await server.push(agent, each);
  for (const type of ["Patient", "DiagnosticReport", "Observation", "Specimen", "Device", "ImagingStudy"]) {
    const { body: whole } = await search(`${type}?_count=100`);
    for (const count of [1, 3, 4]) {
      const seen: string[] = [];
      for (let path: string | null = `${type}?_count=${count}`; path !== null; ) {
        const { body } = await search(path);
        expect(named(body).length).toBeLessThanOrEqual(count);
        seen.push(...named(body));
        path = next(body);
      }
      expect([type, count, seen]).toEqual([type, count, named(whole)]);
    }
  }
});

test("numbered matches have pages too, and no page has more than was asked for", async () => {
  const { search, server, agent } = await startPractice();
  const walked = async (query: string) => {
    const pages: string[][] = [];
    for (let path: string | null = query; path !== null; ) {
      const { body } = await search(path);
      pages.push(named(body));
      path = next(body);
    }
    return pages;
  };
  expect(await walked(`DiagnosticReport?_id=${secondId},${firstId}&_count=1`)).toEqual(reports.map((each) => [each]));
  const ids = [3, 1, 2].map((index) => observationId(first, index));
  expect(await walked(`Observation?_id=${ids.join()}&_count=2`)).toEqual([
    ids
      .toSorted()
      .slice(0, 2)
      .map((id) => `Observation/${id}`),
    ids
      .toSorted()
      .slice(2)
      .map((id) => `Observation/${id}`),
  ]);
  // An instrument that appears meanwhile moves none across the border of a page.
  const { body: start } = await search("Device?_count=1");
  await server.push(agent, ...["A", "B", "C"].map((device_name) => study({ patient_fp: dog.fp, device_name })));
  const rest = (await walked(next(start) ?? "")).flat();
  const all = named((await search("Device?_count=100")).body);
  expect(rest).toEqual(all.slice(all.indexOf(named(start)[0] ?? "") + 1));
});

test("every result refers to an instrument that is there, and one of an unmatched study alone is not", async () => {
  const { search, server, agent, refusal } = await startPractice();
  const many = Array.from({ length: 210 }, (_, index) =>
    study({ patient_fp: dog.fp, device_name: `Device ${String(index).padStart(3, "0")}` }),
  );
  const waiting = study({ patient_fp: null, device_name: "Waiting" });
  for (const from of [0, 100, 200]) await server.push(agent, ...many.slice(from, from + 100));
  expect(await server.push(agent, waiting)).toMatchObject([{ outcome: "unmatched" }]);
  const { body } = await search("Device?_count=100");
  expect(named(body)).toHaveLength(100);
  for (const { device_name } of many.slice(-2))
    expect(named((await search(`Device?_id=${deviceId(device_name)}`)).body)).toHaveLength(1);
  expect((await refusal(`Device/${deviceId("Waiting")}`)).status).toBe(404);
});

test("the revisions of a study are read once for a page of its results", async () => {
  const { server, agent } = await startPractice();
  const results = Array.from({ length: 60 }, (_, index) => ({ ...lab.results[0]!, analyte: `A${index}` }));
  await server.push(agent, { ...lab, revision: 2, results });
  let reads = 0;
  const session: Session = {
    ...{ first: server.store.first.bind(server.store), each: server.store.each.bind(server.store) },
    all: (asked, parameters) => {
      reads += 1;
      return server.store.all(asked, parameters);
    },
  };
  const clinicId = (await findClinic(server.store, ours))?.id ?? 0;
  const asked = readSearch("Observation", { _count: "50" }, place.base);
  const found = await findMatches({ session, clinicId, concealUnconnected: false }, asked, place);
  expect(found.matches).toHaveLength(50);
  expect(reads).toBeLessThan(10);
});

test("a walk over a list that changes misses nothing, and a mirror asks on from the time of its Bundle", async () => {
  const { server, search, agent } = await startPractice();
  const { body: start } = await search("DiagnosticReport?_count=1");
  expect(named(start)).toEqual([`DiagnosticReport/${firstId}`]);
  const added = study({ patient_fp: dog.fp });
  server.clock.now -= 60_000; // The clock of the server is set back.
  await server.push(agent, added, { ...lab, revision: 2, results: lab.results.slice(1) });
  const seen: string[] = [];
  for (let path = next(start); path !== null; ) {
    const { body } = await search(path);
    seen.push(...named(body));
    path = next(body);
  }
  expect(seen.slice(0, 1)).toEqual([`DiagnosticReport/${secondId}`]);
  expect(seen).toContain(`DiagnosticReport/${idOf(added.fp)}`);
  const { body: later } = await search(`DiagnosticReport?_lastUpdated=ge${start.meta?.lastUpdated}`);
  // The clock of the server stood still since the first Bundle, so the second study counts as changed too.
  expect(named(later)).toEqual(
    expect.arrayContaining([`DiagnosticReport/${idOf(added.fp)}`, `DiagnosticReport/${firstId}`]),
  );
});

test("an order becomes a ServiceRequest with its numbers, and its study is based on it", async () => {
  const { server, search, agent, read } = await startPractice();
  const sync = await server.makeKey(ours, ["clinic.sync.write"]);
  const post = (path: string, items: unknown[]) =>
    server.app.inject({
      method: "POST",
      url: `/sync/v1/${path}`,
      headers: { "x-api-key": sync },
      payload: { source: "pims", mode: "partial", items },
    });
  await post("patients", [
    {
      external_id: "00417",
      name: "Pamuk",
      species: "cat",
      owner: { external_id: "1", name: "Ada Örnek", phone: "+90 555" },
    },
  ]);
  const { body: cats } = await search("Patient?identifier=http://localhost/id/animal/pims|00417");
  const [entry] = cats.entry ?? [];
  expect(JSON.stringify(entry)).not.toMatch(/Örnek|555/);
  const ordered = await post("orders", [
    { external_id: "0010231", patient: "00417", tests: ["GLU", "ALT"], ordered_at: "2026-11-21T09:50:00+03:00" },
  ]);
  const { fp, accession } = ordered.json<{ items: { fp: string; accession: string }[] }>().items[0] ?? {
    fp: "",
    accession: "",
  };
  const wanted = `ServiceRequest/${idOf(fp)}`;
  for (const value of ["0010231", fp, accession, "http://localhost/id/order/pims|0010231"])
    expect([value, named((await search(`ServiceRequest?identifier=${value}`)).body)]).toEqual([value, [wanted]]);
  for (const value of ["10231", "http://localhost/id/order/other|0010231"])
    expect([value, named((await search(`ServiceRequest?identifier=${value}`)).body)]).toEqual([value, []]);
  expect((await read(wanted)).body).toMatchObject({
    status: "active",
    intent: "order",
    orderDetail: [{ text: "GLU" }, { text: "ALT" }],
  });
  const answer = study({ patient_fp: idOf(String(entry?.resource?.id)).replace("-", "_"), order_fp: fp });
  expect(await server.push(agent, answer)).toMatchObject([{ outcome: "filed" }]);
  const based = { reference: wanted, identifier: { system: "http://localhost/id/order/pims", value: "0010231" } };
  const { body: report } = await search(`DiagnosticReport?_id=${idOf(answer.fp)}&_include=DiagnosticReport:based-on`);
  expect(report.entry?.[0]?.resource).toMatchObject({ basedOn: [based] });
  expect(named(report, "include")).toEqual([wanted]);
  expect((await read<Observation>(`Observation/${observationId(answer.fp, 0)}`)).body.basedOn).toEqual([based]);
  // ALT is missing.
  expect((await read(wanted)).body).toMatchObject({ status: "active" });
  expect(named((await search(`ServiceRequest?authored=2026-11-21&patient=${entry?.resource?.id}`)).body)).toEqual([
    wanted,
  ]);
});

test("a clinic reads its own records alone", async () => {
  const { server } = await startPractice();
  const theirs = newFp("clinic");
  const rabbit = patient({ species: "rabbit" });
  await importEntities(server.store, clinic(theirs), rabbit, connection(rabbit.fp, theirs));
  const key = await server.makeKey(theirs, ["clinic.patient.view"]);
  expect(named((await ask(server, key, "Patient")).body)).toEqual([`Patient/${idOf(rabbit.fp)}`]);
  for (const type of ["DiagnosticReport", "Observation", "Specimen", "Device", "ServiceRequest", "ImagingStudy"])
    expect([type, named((await ask(server, key, type)).body)]).toEqual([type, []]);
  for (const path of [`Patient/${dogId}`, `DiagnosticReport/${firstId}`, `Observation/${observationId(first, 0)}`])
    expect([path, (await ask(server, key, path)).status]).toEqual([path, 403]);
  expect(named((await ask(server, key, `DiagnosticReport?_id=${firstId}`)).body)).toEqual([]);
  expect(named((await ask(server, key, `Patient?_id=${dogId}`)).body)).toEqual([]);
});
