import { once } from "node:events";
import { connect } from "node:net";
import { pino } from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import { auditLines } from "../../../server/cli/audit-log.ts";
import { permissions } from "../../../server/http/auth/api-keys.ts";
import { STEADY_MS, SteadyTime } from "../../../server/database/steady-time.ts";
import { AuditQueue, ENTRIES_MAX, REFUSALS_MAX, RETENTION_MS } from "../../../server/records/audit/audit-queue.ts";
import {
  type AuditDescription,
  type AuditFilter,
  type AuditRow,
  insertRows,
  listRows,
} from "../../../server/records/audit/audit.ts";
import { listKeys } from "../../../server/records/clinics/keys.ts";
import { openStore } from "../../../server/database/open.ts";
import type { Store } from "../../../server/database/store.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { makeUser } from "../../dashboard/harness.ts";
import {
  clinic,
  connection,
  connectTo,
  heldWriteLock,
  noon,
  patient,
  startLimitedServer,
  startServer,
  study,
  temporaryDatabase,
  type TestServer,
} from "../harness.ts";
import { event, item, soap } from "../records.ts";

const ours = newFp("clinic");
const theirs = newFp("clinic");

const whole: AuditFilter = { since: 0, until: Number.MAX_SAFE_INTEGER };

describe("the audit trail of requests", () => {
  test("every request with a key has a row with key, route, record, count, address and request id", async () => {
    const one = patient();
    const foreign = patient();
    const record = soap(one.fp, ours);
    const foreignRecord = soap(foreign.fp, theirs);
    const filed = study({ patient_fp: one.fp });
    const server = await startServer(
      [clinic(ours), clinic(theirs), one, connection(one.fp, ours), foreign, connection(foreign.fp, theirs)],
      [record, foreignRecord, event(ours), event(ours), item(ours), item(ours), item(ours)],
    );
    const all = await server.makeKey(ours, [...permissions]);
    const none = await server.makeKey(ours, ["clinic.inventory.view"]);
    const stockless = await server.makeKey(ours, ["clinic.lab.view"]);
    const [keyOfAll, keyOfNone, keyOfStockless] = (await listKeys(server.store, 1)).map(({ id }) => id);
    const absent = newFp("patient");

    const patients = "/api/v1/patients";
    const patientRoute = "/api/v1/patients/:fp";
    const soapRoute = "/api/v1/soap/:fp";
    const studyRoute = "/api/v1/lab/diagnostics/:fp";
    const calendar = "/api/v1/calendar/events";
    const inventory = "/api/v1/inventory";
    const identifiers = "/agent/v1/identifiers";
    const studies = "/agent/v1/studies";
    const heartbeat = "/agent/v1/heartbeat";
    const news = "/agent/v1/news";
    const push = { studies: [filed, study(), { fp: "bad" }] };
    type Case = [key: string, request: string, route: string, status: number, fp: string | null, count?: number];
    const cases: Case[] = [
      [all, `POST ${studies}`, studies, 200, null, 3],
      [all, `GET ${patients}`, patients, 200, null, 1],
      [all, `GET ${patients}?page=2`, patients, 200, null, 0],
      [all, `HEAD ${patients}`, patients, 200, null, 1],
      [all, `GET ${patients}?page=Karabaş`, patients, 400, null],
      [none, `GET ${patients}`, patients, 403, null],
      [all, `GET ${patients}/${one.fp}`, patientRoute, 200, one.fp],
      [all, `HEAD ${patients}/${one.fp}`, patientRoute, 200, one.fp],
      [all, `HEAD ${patients}/${one.fp}?name=Karabaş`, patientRoute, 200, one.fp],
      [all, `GET ${patients}/${absent}`, patientRoute, 404, absent],
      [all, `GET ${patients}/${filed.fp}`, patientRoute, 404, filed.fp],
      [all, `GET ${patients}/Karabaş`, patientRoute, 404, null],
      [all, `GET ${patients}/name_${absent.slice(-26)}`, patientRoute, 404, null],
      [all, `GET ${patients}/${foreign.fp}`, patientRoute, 403, foreign.fp],
      [none, `GET ${patients}/${one.fp}`, patientRoute, 403, one.fp],
      [all, `GET /api/v1/soap/${record.fp}`, soapRoute, 200, record.fp],
      [all, `GET /api/v1/soap/${foreignRecord.fp}`, soapRoute, 403, foreignRecord.fp],
      [all, `GET /api/v1/soap/${absent}`, soapRoute, 404, absent],
      [none, `GET /api/v1/soap/${record.fp}`, soapRoute, 403, record.fp],
      [all, `GET /api/v1/lab/diagnostics/${filed.fp}`, studyRoute, 200, filed.fp],
      [all, `GET /api/v1/lab/diagnostics/${absent}`, studyRoute, 404, absent],
      [none, `GET /api/v1/lab/diagnostics/${filed.fp}`, studyRoute, 403, filed.fp],
      [all, `GET ${calendar}?start_date=2026-01-01&end_date=2027-01-01`, calendar, 400, null],
      [all, `GET ${calendar}?start_date=2026-11-20`, calendar, 200, null, 2],
      [none, `GET ${calendar}`, calendar, 403, null],
      [all, `GET ${inventory}`, inventory, 200, null, 3],
      [all, `GET ${inventory}?page_size=2`, inventory, 200, null, 2],
      [stockless, `GET ${inventory}`, inventory, 403, null],
      [all, `GET ${identifiers}`, identifiers, 200, null, 1],
      [none, `GET ${identifiers}`, identifiers, 403, null],
      [none, `POST ${studies}`, studies, 403, null],
      [none, `POST ${heartbeat}`, heartbeat, 403, null],
      [none, `GET ${news}`, news, 403, null],
    ];

    const expected: AuditDescription[] = [];
    for (const [key, request, route, status, fp, count] of cases) {
      server.clock.now += 1;
      const [method = "", url = ""] = request.split(" ", 2);
      const payload = url === studies ? push : url === heartbeat ? {} : undefined;
      const response = await server.app.inject({
        method: method as "GET",
        url: encodeURI(url),
        headers: { "x-api-key": key, authorization: `Bearer ${key}` },
        remoteAddress: "192.0.2.7",
        ...(payload !== undefined && { payload }),
      });
      expect([request, response.statusCode]).toEqual([request, status]);
      expected.push({
        at: new Date(server.clock.now).toISOString(),
        clinic_fp: ours,
        key: (key === all ? keyOfAll : key === none ? keyOfNone : keyOfStockless) ?? "",
        method,
        route,
        fp,
        count: count ?? null,
        status,
        address: "192.0.2.7",
        request_id: String(response.headers["x-request-id"]),
        times: 1,
        user: null,
      });
    }
    // Without a row: an agent waits for news all day, and sends a heartbeat each minute.
    expect((await server.get(all, news)).status).toBe(200);
    for (let beats = 0; beats < 2; beats += 1) {
      const beat = { method: "POST", url: heartbeat, headers: { "x-api-key": all }, payload: {} } as const;
      expect((await server.app.inject(beat)).statusCode).toBe(200);
    }
    const rows = await rowsOf(server);
    expect(rows.filter(({ method }) => method !== "COMMAND")).toEqual(expected);
    // The first heartbeat of a key registers its agent, which is a change.
    expect(rows.filter(({ method }) => method === "COMMAND")).toMatchObject([
      { route: "agents add by its first heartbeat", clinic_fp: ours },
    ]);
  });

  test("an open page writes no row for the counts of its menu, and one for each list that its user reads", async () => {
    const server = await startServer(clinic(ours));
    const reader = await makeUser(server, "reader", ours);
    for (const path of ["/menu", "/results", "/menu"]) expect((await reader.call("GET", path)).status).toBe(200);
    expect((await rowsOf(server)).map(({ route, user }) => [route, user])).toEqual([
      ["/clinic/v1/clinics/:clinic/results", reader.name],
    ]);
  });

  test("no response waits for its row: requests are served while the audit cannot be written", async () => {
    const one = patient();
    const server = await startServer(clinic(ours), one, connection(one.fp, ours));
    const key = await server.makeKey(ours, ["clinic.patient.view"]);
    let reads = 0;
    // Of each two reads the first is not in the cache of responses.
    const statusOfRead = async () => (await server.get(key, `/api/v1/patients/${one.fp}?read=${reads++ >> 1}`)).status;
    // The first use of a key is written before its response.
    expect(await statusOfRead()).toBe(200);
    // Writes of this server wait for the end of its transaction.
    let end = () => undefined as void;
    const held = server.store.transaction(() => new Promise<void>((resolve) => (end = resolve)));
    for (let count = 0; count < 20; count += 1) expect(await statusOfRead()).toBe(200);
    end();
    await held;
    const rows = await rowsOf(server);
    expect(rows.filter(({ status }) => status === 200)).toHaveLength(21);
  });

  test("a server error and an invalid parameter have a row with their status", async () => {
    const server = await startServer(clinic(ours));
    const key = await server.makeKey(ours, [...permissions]);
    const other = await lock(server.database);
    await server.push(key, study());
    await other.run("rollback");
    await server.get(key, "/api/v1/inventory?page=x");
    expect((await rowsOf(server)).map(({ route, count, status }) => [route, count, status])).toEqual([
      ["/agent/v1/studies", null, 503],
      ["/api/v1/inventory", null, 400],
    ]);
  });

  test("requests over the limit of a key or an address share a row", async () => {
    const two = { minute: 2, hour: 100 };
    const limits = { integration: two, device: two, partner: two, ingest: two, addressMinute: 2 };
    const server = await startLimitedServer(limits, clinic(ours));
    const key = await server.makeKey(ours, ["clinic.patient.view"]);
    const publicId = (await listKeys(server.store, 1))[0]?.id ?? "";
    for (let count = 0; count < 5; count += 1) await server.get(key, "/api/v1/patients");
    for (let count = 0; count < 6; count += 1) await server.get("", "/api/v1/inventory");
    expect((await rowsOf(server)).map(({ key: id, route, status, times }) => [id, route, status, times])).toEqual([
      [publicId, "/api/v1/patients", 200, 1],
      [publicId, "/api/v1/patients", 200, 1],
      [publicId, "/api/v1/patients", 429, 3],
      [null, "/api/v1/inventory", 401, 2],
      [null, "/api/v1/inventory", 429, 4],
    ]);
  });

  test("a client that disconnects during or before its response has a row", async () => {
    // A response larger than the socket buffers of both sides.
    const events = Array.from({ length: 12_000 }, () => event(ours, { title: "x".repeat(500) }));
    const server = await startServer(clinic(ours), events);
    const key = await server.makeKey(ours, ["clinic.calendar.view", "clinic.lab.ingest"]);
    const { port } = new URL(await server.app.listen({ port: 0, host: "127.0.0.1" }));
    const ask = (request: string) => {
      const socket = connect(Number(port), "127.0.0.1");
      socket.write(`${request} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n`);
      return socket;
    };
    const reader = ask("GET /api/v1/calendar/events");
    reader.write("\r\n");
    await once(reader, "data");
    reader.resetAndDestroy();
    const pusher = ask("POST /agent/v1/studies");
    pusher.write("Content-Type: application/json\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n");
    await once(pusher, "data");
    pusher.destroy();

    expect((await rowsOf(server)).map(({ route, count, status, address }) => [route, count, status, address])).toEqual([
      ["/api/v1/calendar/events", 12_000, 200, "127.0.0.1"],
      ["/agent/v1/studies", null, null, "127.0.0.1"],
    ]);
  });
});

describe("the audit queue", () => {
  test("similar refusals share a row for a minute, then a new row starts", async () => {
    const { store, audit, clock } = await startAudit();
    for (const [afterMs, requests] of [
      [0, 3],
      [500, 2],
      [59_499, 1],
      [1, 4],
      [500, 1],
    ] as const) {
      clock.now += afterMs;
      for (let count = 0; count < requests; count += 1) audit.add(refusal(clock.now));
      await audit.flush();
    }
    expect((await list(store)).map(({ at, times }) => [Date.parse(at) - noon, times])).toEqual([
      [0, 10],
      [60_500, 1],
    ]);
  });

  test("250 different refusals per minute have their own row, and the others share one", async () => {
    const { store, audit } = await startAudit();
    for (let flood = 0; flood < 2; flood += 1) {
      for (let host = 0; host < REFUSALS_MAX + 50; host += 1) {
        audit.add({ ...refusal(noon), address: `192.0.${host >> 8}.${host & 255}` });
      }
      await audit.flush();
    }
    const rows = await list(store);
    expect(rows).toHaveLength(REFUSALS_MAX + 1);
    expect(rows[0]).toMatchObject({ address: "192.0.0.0", times: 2 });
    expect(rows.at(-1)).toEqual({ ...empty, at: new Date(noon).toISOString(), status: 401, times: 100 });
  });

  test("rows that cannot be written wait in memory, and the oldest are dropped, counted and logged", async () => {
    const { store, audit, log, database } = await startAudit();
    const other = await lock(database);
    audit.add(refusal(noon));
    for (let count = 0; count < 250; count += 1) audit.add(read(noon + count));
    await audit.flush();
    audit.add(refusal(noon));
    for (let count = 250; count < ENTRIES_MAX + 7; count += 1) audit.add(read(noon + count));
    await audit.flush();
    expect(await list(store)).toEqual([]);
    await other.run("rollback");
    await audit.flush();
    await audit.flush();

    const [lost, ...rows] = await list(store);
    const kept = rows.length - 1;
    expect(kept).toBeLessThanOrEqual(ENTRIES_MAX);
    expect(kept).toBeGreaterThanOrEqual(0.9 * ENTRIES_MAX);
    const lostTimes = ENTRIES_MAX + 7 - kept;
    expect(lost).toEqual({ ...empty, at: new Date(noon).toISOString(), times: lostTimes });
    expect(rows[0]?.at).toBe(new Date(noon + lostTimes).toISOString());
    expect(rows.at(-2)?.at).toBe(new Date(noon + ENTRIES_MAX + 6).toISOString());
    expect(rows.at(-1)).toMatchObject({ status: 401, times: 2 });
    expect(log.map(({ msg, lost: count }) => [msg, count])).toEqual([
      ["the audit cannot be written, it waits in memory", undefined],
      ["audit entries were lost", lostTimes],
      ["the audit is written again", undefined],
    ]);
  });

  test("rows that cannot be written on closing are logged as lost", async () => {
    const { store, audit, log, database } = await startAudit();
    const other = await lock(database);
    audit.add(read(noon));
    audit.add(refusal(noon));
    audit.add(refusal(noon));
    await audit.close();
    await other.run("rollback");
    expect(await list(store)).toEqual([]);
    expect(log.at(-1)).toMatchObject({ level: 50, lost: 3, msg: "audit entries were lost" });
  });

  test("closing writes the rows that were added during the last flush", async () => {
    const { store, audit } = await startAudit();
    audit.add(read(noon));
    const flushing = audit.flush();
    audit.add(read(noon + 1));
    await audit.close();
    await flushing;
    expect((await list(store)).map(({ at }) => Date.parse(at) - noon)).toEqual([0, 1]);
  });

  test("a row is removed after 400 days", async () => {
    const { store, audit, clock } = await startAudit();
    audit.add(read(noon));
    audit.add(read(noon + 1));
    await audit.flush();
    clock.now += RETENTION_MS;
    audit.add(read(clock.now));
    await audit.flush();
    clock.now += HOUR_MS;
    audit.add(read(clock.now));
    await audit.flush();
    expect((await list(store)).map(({ at }) => Date.parse(at) - noon)).toEqual([RETENTION_MS, RETENTION_MS + HOUR_MS]);
  });

  test("rows of all ages stay while the clock is three years ahead for a few hours, and old ones go later", async () => {
    const machine = { wall: noon, running: 0 };
    const pass = (ms: number) => {
      machine.wall += ms;
      machine.running += ms;
    };
    const steady = new SteadyTime({ wall: () => machine.wall, running: () => machine.running });
    const { store, audit } = await startAudit(() => machine.wall, steady);
    const write = async () => {
      audit.add(read(machine.wall));
      await audit.flush();
      return (await list(store)).length;
    };
    await write();
    machine.wall += 3 * YEAR_MS;
    expect(await write()).toBe(2);
    pass(STEADY_MS - 1);
    expect(await write()).toBe(3);
    machine.wall -= 3 * YEAR_MS;
    expect(await write()).toBe(4);
    pass(RETENTION_MS);
    expect(await write(), "those of the time ahead go with their neighbours").toBe(2);
  });

  test("rows are listed by time, key and clinic, over many pages", async () => {
    const one = patient();
    const server = await startServer([clinic(ours), clinic(theirs), one, connection(one.fp, ours)]);
    for (const fp of [ours, ours, theirs]) await server.makeFreshKey(fp, ["clinic.patient.view"]);
    const rows = Array.from({ length: 3500 }, (_, index) => ({ ...read(noon + index), api_key_id: (index % 3) + 1 }));
    await server.store.transaction((session) => insertRows(session, rows));
    const count = async (filter: Partial<AuditFilter>) => (await list(server.store, { ...whole, ...filter })).length;
    expect((await list(server.store)).map(({ at }) => Date.parse(at))).toEqual(rows.map(({ at }) => at));
    expect(await count({ since: noon + 10, until: noon + 3010 })).toBe(3000);
    expect(await count({ keyId: 2 })).toBe(1167);
    expect(await count({ clinicId: 1 })).toBe(2334);
    expect(await count({ clinicId: 2, until: noon + 3 })).toBe(1);
  });
});

describe("the audit log", () => {
  const at = "2026-11-21T12:00:00.000Z";
  const fp = "patient_01K9TEST0000000000000000P1";
  const rows: AuditDescription[] = [
    {
      at,
      clinic_fp: "clinic_1",
      key: "key_1",
      method: "GET",
      route: "/api/v1/patients/:fp",
      fp,
      count: null,
      status: 200,
      address: "192.0.2.7",
      request_id: "01A",
      times: 1,
      user: null,
    },
    {
      at,
      clinic_fp: "clinic_1",
      key: null,
      method: "POST",
      route: "/clinic/v1/clinics/:clinic/keys",
      fp: null,
      count: null,
      status: 200,
      address: "192.0.2.8",
      request_id: "01D",
      times: 1,
      user: "Ayşe",
    },
    { ...empty, at, key: "key_1", method: "GET", route: "/a", count: 20, address: "::1", request_id: "01B", times: 1 },
    {
      ...empty,
      at,
      method: "GET",
      route: "/a",
      status: 401,
      request_id: "01C",
      times: 7,
      address: '=cmd|"x",1',
    },
    { ...empty, at, status: 401, times: 9 },
    { ...empty, at, times: 5000 },
  ];
  const printed = async (format: "text" | "json" | "csv") => {
    let text = "";
    for await (const line of auditLines(asStream(rows), format)) text += line;
    return text;
  };

  test("the audit log prints text", async () => {
    expect((await printed("text")).split("\n")).toEqual([
      `${at}  200  GET  /api/v1/patients/:fp  ${fp}  key_1  192.0.2.7  01A`,
      `${at}  200  POST  /clinic/v1/clinics/:clinic/keys  -  Ayşe  192.0.2.8  01D`,
      `${at}  -  GET  /a  20 records  key_1  ::1  01B`,
      `${at}  401  GET  /a  -  unknown key  =cmd|"x",1  01C  7 times`,
      `${at}  9 further requests with status 401  unknown key`,
      `${at}  5000 entries lost`,
      "",
    ]);
  });

  test("the audit log prints CSV without formulas", async () => {
    expect((await printed("csv")).split("\r\n")).toEqual([
      "at,clinic_fp,key,method,route,fp,count,status,address,request_id,times,user",
      `${at},clinic_1,key_1,GET,/api/v1/patients/:fp,${fp},,200,192.0.2.7,01A,1,`,
      `${at},clinic_1,,POST,/clinic/v1/clinics/:clinic/keys,,,200,192.0.2.8,01D,1,Ayşe`,
      `${at},,key_1,GET,/a,,20,,::1,01B,1,`,
      `${at},,,GET,/a,,,401,"'=cmd|""x"",1",01C,7,`,
      `${at},,,,,,,401,,,9,`,
      `${at},,,,,,,,,,5000,`,
      "",
    ]);
  });
});

const empty = {
  clinic_fp: null,
  key: null,
  user: null,
  method: null,
  route: null,
  fp: null,
  count: null,
  status: null,
  address: null,
  request_id: null,
};

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

async function startAudit(now?: () => number, steady?: SteadyTime) {
  const database = await temporaryDatabase();
  const store = await openStore(database, 100);
  onTestFinished(() => store.close());
  const clock = { now: noon };
  const log: { level: number; msg: string; lost?: number }[] = [];
  const logger = pino({}, { write: (line) => log.push(JSON.parse(line) as (typeof log)[number]) });
  const ofClock = () => clock.now;
  const audit = new AuditQueue(store, logger, now ?? ofClock, steady ?? { now: ofClock });
  return { database, store, clock, log, audit };
}

function read(at: number): AuditRow {
  return {
    at,
    request_id: "01A",
    api_key_id: null,
    method: "GET",
    route: "/api/v1/patients",
    fp: null,
    count: 20,
    status: 200,
    address: "192.0.2.7",
    times: 1,
    user_id: null,
    clinic_id: null,
  };
}

function refusal(at: number): AuditRow {
  return { ...read(at), count: null, status: 401 };
}

/** Starts a write transaction of another program, which stays open. */
async function lock(database: string): Promise<{ run: (sql: string) => Promise<void> }> {
  const other = await connectTo(database);
  onTestFinished(() => other.close());
  await other.run(heldWriteLock());
  return other;
}

async function rowsOf(server: TestServer): Promise<AuditDescription[]> {
  await server.app.close();
  return list(server.store);
}

async function list(store: Store, filter = whole): Promise<AuditDescription[]> {
  const rows: AuditDescription[] = [];
  for await (const row of listRows(store, filter)) rows.push(row);
  return rows;
}

async function* asStream<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values;
}
