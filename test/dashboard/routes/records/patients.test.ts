import { expect, test } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import type { PatientList, PatientOverview, PatientResults } from "../../../../server/dashboard/types/patients.ts";
import { listRowsOf } from "../../../../server/records/audit/audit.ts";
import {
  clinic,
  connection,
  importText,
  needNoConfirmation,
  patient,
  startServer,
  study,
} from "../../../server/harness.ts";
import { event, soap } from "../../../server/records.ts";
import { makeUser } from "../../harness.ts";

// Patients over /clinic/v1: the list, one patient, and the clinic's connection to it.

/** Two clinics; the first one is connected to Karabaş, the other one to Pamuk. */
async function world() {
  const [own, other] = [newFp("clinic"), newFp("clinic")];
  const karabas = patient({ external_ids: ["792090000124031", "10021"] });
  const pamuk = patient({ name: "Pamuk", species: "cat", external_ids: ["10022"] });
  const { dedupe_key: _key, patient_hint: _hint, revision: _revision, source: _source, ...content } = study();
  const cds = { type: "study" as const, ...content, patient_fp: pamuk.fp };
  const entities = [clinic(own), clinic(other), karabas, pamuk, cds];
  const server = await startServer(entities, connection(karabas.fp, own), connection(pamuk.fp, other));
  return { own, other, karabas, pamuk, cds, server };
}

test("the read API serves a patient from the opening of the connection until its closing", async () => {
  const { own, other, pamuk, cds, server } = await world();
  await needNoConfirmation(server.store);
  const staff = await makeUser(server, "staff", own);
  const key = await server.makeKey(own, ["clinic.patient.view", "clinic.lab.view"]);
  const otherKey = await server.makeKey(other, ["clinic.patient.view"]);
  const read = async () => {
    const one = await server.get(key, `/api/v1/patients/${pamuk.fp}`);
    const result = await server.get(key, `/api/v1/lab/diagnostics/${cds.fp}`);
    const list = await server.get(key, "/api/v1/patients?species=cat");
    return [one.status, result.status, list.body.data.total];
  };
  const url = `/patients/${pamuk.fp}/connection`;
  // Twice, so that the second response comes from the cache.
  expect([await read(), await read()]).toEqual([
    [403, 403, 0],
    [403, 403, 0],
  ]);

  server.clock.now += 60_000;
  for (const body of [undefined, {}, { consent: false }, { consent: true, note: "" }]) {
    expect((await staff.call("PUT", url, body)).status).toBe(400);
  }
  expect((await staff.call("PUT", "/patients/Pamuk/connection", { consent: true })).status).toBe(404);
  expect((await staff.call("PUT", `/patients/${newFp("patient")}/connection`, { consent: true })).status).toBe(404);
  expect((await staff.call("PUT", url, { consent: true })).body).toEqual({ name: "Pamuk" });
  expect([await read(), await read()]).toEqual([
    [200, 200, 1],
    [200, 200, 1],
  ]);
  // A client that synchronises finds the patient, because the connection is a change of it.
  const since = new Date(server.clock.now).toISOString();
  expect((await server.get(key, `/api/v1/patients?updated_since=${since}`)).body.data.total).toBe(1);
  const { body: opened } = await staff.call<PatientOverview>("GET", `/patients/${pamuk.fp}`);
  expect(opened.connection_changes).toEqual([{ active: true, changed_at: since, by: staff.name }]);
  expect((await staff.call<PatientList>("GET", "/patients")).body.total).toBe(2);

  // Opening it again changes nothing.
  expect((await staff.call("PUT", url, { consent: true })).status).toBe(200);
  expect((await staff.call<PatientOverview>("GET", `/patients/${pamuk.fp}`)).body).toEqual(opened);

  server.clock.now += 60_000;
  expect((await staff.call("DELETE", url)).body).toEqual({ name: "Pamuk" });
  expect([await read(), await read()]).toEqual([
    [403, 403, 0],
    [403, 403, 0],
  ]);
  expect((await staff.call("GET", `/patients/${pamuk.fp}`)).status).toBe(404);
  expect((await staff.call("DELETE", url)).status).toBe(404);
  expect((await staff.call<PatientList>("GET", "/patients")).body.total).toBe(1);
  expect((await server.get(otherKey, `/api/v1/patients/${pamuk.fp}`)).status).toBe(200);

  const commands = (await listRowsOf(server.store, pamuk.fp)).filter(({ method }) => method === "COMMAND");
  expect(commands.map(({ route, address }) => [route, address])).toEqual([
    ["open connection", staff.name],
    ["connection opened", "A clinic"],
    ["connection closed", "A clinic"],
    ["close connection", staff.name],
  ]);
  // The history outlives the closing.
  await staff.call("PUT", url, { consent: true });
  const { body: again } = await staff.call<PatientOverview>("GET", `/patients/${pamuk.fp}`);
  expect(again.connection_changes.map(({ active }) => active)).toEqual([true, false, true]);
});

test("a deleted patient can be neither read nor connected", async () => {
  const { own, pamuk, server } = await world();
  await needNoConfirmation(server.store);
  const staff = await makeUser(server, "staff", own);
  await importText(server.store, JSON.stringify({ ...pamuk, deleted_at: "2026-11-21T10:00:00.000Z" }));
  expect((await staff.call("PUT", `/patients/${pamuk.fp}/connection`, { consent: true })).status).toBe(404);
});

test("an invalid parameter is refused", async () => {
  const { own, karabas, server } = await world();
  const reader = await makeUser(server, "reader", own);
  const paths = ["?species=dragon", "?page=0", "?search=a&search=b", `/${karabas.fp}/results?all=yes`];
  for (const path of paths) expect([path, (await reader.call("GET", `/patients${path}`)).status]).toEqual([path, 400]);
  expect((await reader.call("GET", "/patients/karabas")).status).toBe(404);
});

test("hostile words arrive as they are, and in JSON alone", async () => {
  const own = newFp("clinic");
  const words = `"><script>alert(1)</script>=HYPERLINK("x")`;
  const shown = patient({ name: words, breed: words, external_ids: [words.slice(0, 64)] });
  const server = await startServer(
    [clinic(own), shown, connection(shown.fp, own)],
    event(own, { patient_fp: shown.fp, title: words }),
    soap(shown.fp, own, { assessment: words }),
  );
  const reader = await makeUser(server, "reader", own);
  const { body } = await reader.call<PatientOverview>("GET", `/patients/${shown.fp}`);
  expect([body.patient.name, body.patient.breed, body.identifiers]).toEqual([words, words, [words.slice(0, 64)]]);
  expect([body.appointments[0]?.title, body.records[0]?.summary]).toEqual([words, words]);
  const list = await reader.call<PatientList>("GET", `/patients?search=${encodeURIComponent("<script>alert")}`);
  expect(list.body.patients.map(({ name }) => name)).toEqual([words]);
});

test("results name the catalogue's analytes, the bounds of their intervals, and the device's name of an own code", async () => {
  const { own, karabas, server } = await world();
  const key = await server.makeKey(own, ["clinic.patient.view", "clinic.lab.ingest"]);
  const reader = await makeUser(server, "reader", own);
  const row = {
    interval_id: null,
    reason: null,
    text: "7",
    device_range: null,
    device_species: null,
    device_flag: null,
  };
  const pushed = study({
    patient_fp: karabas.fp,
    results: [
      { analyte: "GLU", value: 5.2, unit: "mmol/L", reference_range: "3.3-6.1", flag: "normal" },
      { analyte: "X1", value: 7, unit: null, reference_range: null, flag: null, code_source: "device" },
    ],
    snapshot: {
      catalogue: "1",
      ranges: null,
      instrument: null,
      rows: [
        { ...row, analyte: "GLU", code: "GLU" },
        { ...row, analyte: "X1", code: "X1", device_label: "Index" },
      ],
      notes: [],
    },
  });
  expect(await server.push(key, pushed)).toMatchObject([{ outcome: "filed" }]);
  const { body } = await reader.call<PatientResults>("GET", `/patients/${karabas.fp}/results`);
  expect(body).toMatchObject({
    patient_name: "Karabaş",
    total: 1,
    analytes: [{ modality: "BIOCHEMISTRY", code: "GLU", name: "Glucose" }],
    studies: [
      {
        fp: pushed.fp,
        values: [
          { analyte: "GLU", low: 3.3, high: 6.1, device_label: null },
          { analyte: "X1", low: null, high: null, device_label: "Index", code_source: "device" },
        ],
      },
    ],
  });
  const one = await reader.call<PatientResults>("GET", `/patients/${karabas.fp}/results?analyte=X1`);
  expect(one.body.studies.map(({ values }) => values.map(({ analyte }) => analyte))).toEqual([["X1"]]);
  expect(one.body.analytes).toEqual([]);
});
