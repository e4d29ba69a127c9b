import { expect, test } from "vitest";
import type { Permission } from "../../../server/http/auth/api-keys.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { clinic, connection, patient, published, startServer, study } from "../harness.ts";
import { event, item, publishedEvent, publishedItem, publishedSoap, soap } from "../records.ts";

// One request to each route, on both engines. The other tests of the routes run on SQLite, and those of store/ cover the
// differences between the engines.

const PERMISSIONS: Permission[] = [
  "clinic.patient.view",
  "clinic.calendar.view",
  "clinic.inventory.view",
  "clinic.soap.view",
  "clinic.lab.view",
];

const ours = newFp("clinic");
const dog = patient({ external_ids: ["10021"] });
const record = soap(dog.fp, ours);
const visit = event(ours, { patient_fp: dog.fp });
const vaccine = item(ours);

async function start() {
  const server = await startServer(clinic(ours), dog, connection(dog.fp, ours), record, visit, vaccine);
  const key = await server.makeKey(ours, PERMISSIONS);
  const agentKey = await server.makeKey(ours, ["clinic.patient.view", "clinic.lab.ingest"]);
  return { server, key, agentKey };
}

test("each read route returns the imported record, and 304 to its ETag", async () => {
  const { server, key } = await start();
  const page = (items: unknown[]) => ({ items });
  const routes: [url: string, body: unknown][] = [
    ["/api/v1/patients", { data: page([published(dog)]) }],
    [`/api/v1/patients/${dog.fp}`, { data: published(dog) }],
    [`/api/v1/soap/${record.fp}`, { data: publishedSoap(record) }],
    ["/api/v1/calendar/events", [publishedEvent(visit)]],
    ["/api/v1/inventory", { data: page([publishedItem(vaccine)]) }],
  ];
  for (const [url, expected] of routes) {
    const { status, body, headers } = await server.get(key, url);
    expect([url, status]).toEqual([url, 200]);
    expect(body).toMatchObject(expected as object);
    const again = await server.app.inject({
      url,
      headers: { "x-api-key": key, authorization: `Bearer ${key}`, "if-none-match": String(headers["etag"]) },
    });
    expect([url, again.statusCode]).toEqual([url, 304]);
  }
});

test("a pushed study is filed once and readable", async () => {
  const { server, key, agentKey } = await start();
  const pushed = study({ patient_fp: dog.fp });
  expect(await server.push(agentKey, pushed)).toMatchObject([{ fp: pushed.fp, outcome: "filed" }]);
  expect(await server.push(agentKey, pushed)).toMatchObject([{ fp: pushed.fp, outcome: "unchanged" }]);
  const { status, body } = await server.get(key, `/api/v1/lab/diagnostics/${pushed.fp}`);
  expect([status, body.data.results.length]).toEqual([200, 2]);
});

test("each route of agents returns 200", async () => {
  const { server, agentKey } = await start();
  const identifiers = await server.get(agentKey, "/agent/v1/identifiers");
  expect(identifiers.body.data.items).toMatchObject([{ patient_fp: dog.fp, identifiers: ["10021"] }]);
  expect((await server.get(agentKey, "/agent/v1/removed")).body.data.items).toEqual([]);
  const heartbeat = await server.app.inject({
    method: "POST",
    url: "/agent/v1/heartbeat",
    headers: { "x-api-key": agentKey },
    payload: { version: "0.1.0" },
  });
  expect([heartbeat.statusCode, heartbeat.json()]).toEqual([200, {}]);
});

test("the probes and the API document need no key", async () => {
  const { server } = await start();
  for (const url of ["/healthz", "/readyz", "/openapi.json"]) {
    expect([url, (await server.app.inject(url)).statusCode]).toEqual([url, 200]);
  }
});
