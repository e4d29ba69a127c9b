import { expect, onTestFinished, test, vi } from "vitest";
import { buildApp } from "../../../server/app.ts";
import type { Permission } from "../../../server/http/auth/api-keys.ts";
import { listKeys } from "../../../server/records/clinics/keys.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { clinic, connection, onPostgres, patient, published, startServer, study } from "../harness.ts";
import { counted } from "../quiet-clinics.ts";
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

test("a read costs few queries, the first one of a key in a minute too, and its use is stored after it", async () => {
  const { server, key } = await start();
  const { store } = server;
  // The first use of its life is stored before the response.
  await server.get(key, "/api/v1/patients");
  server.clock.now += 60_000;
  // Nothing is written at intervals until the clock goes on.
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { count, store: watched } = counted(store);
  const app = buildApp(watched, { pepper: server.pepper, now: () => server.clock.now });
  onTestFinished(() => app.close());
  const cost = async (url: string) => {
    const before = count.queries;
    const headers = { "x-api-key": key, authorization: `Bearer ${key}` };
    expect((await app.inject({ url, headers })).statusCode).toBe(200);
    return [url, count.queries - before];
  };
  // Servers that share a database count in it the requests of a key, and remove the old counts once a minute.
  const counting = onPostgres() ? 1 : 0;
  const urls = ["/api/v1/patients", `/api/v1/patients/${dog.fp}`, "/api/v1/calendar/events", "/api/v1/inventory"];
  const costs = [await cost(`/api/v1/soap/${record.fp}`)];
  for (const url of [...urls, "/api/v1/lab/diagnostics", "/api/v1/patients"]) costs.push(await cost(url));
  expect(costs).toEqual([
    [`/api/v1/soap/${record.fp}`, 2 + 2 * counting],
    ["/api/v1/patients", 4 + counting],
    [`/api/v1/patients/${dog.fp}`, 2 + counting],
    ["/api/v1/calendar/events", 2 + counting],
    ["/api/v1/inventory", 3 + counting],
    ["/api/v1/lab/diagnostics", 2 + counting],
    ["/api/v1/patients", 1 + counting],
  ]);
  const lastUsed = async () =>
    (await listKeys(store, 1)).find(({ permissions }) => permissions.length === 5)?.last_used_at;
  expect(await lastUsed()).toBe("2026-11-21T12:00:00.000Z");
  vi.advanceTimersByTime(1000);
  await expect.poll(lastUsed).toBe("2026-11-21T12:01:00.000Z");
});
