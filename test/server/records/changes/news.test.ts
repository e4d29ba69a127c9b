import { EventEmitter } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { WaitingRequests } from "../../../../server/api/agent/waiting-requests.ts";
import { buildApp } from "../../../../server/app.ts";
import { openStore } from "../../../../server/database/open.ts";
import { Drain } from "../../../../server/http/drain.ts";
import { deleteEvent } from "../../../../server/records/calendar/calendar.ts";
import { setSuspended } from "../../../../server/records/clinics/clinics.ts";
import { findClinic, listKeys, revokeKey } from "../../../../server/records/clinics/keys.ts";
import { replaceRanges } from "../../../../server/records/clinics/ranges.ts";
import { mapCode, unmapCode } from "../../../../server/records/codes/codes.ts";
import { placeOrder } from "../../../../server/records/orders/orders.ts";
import { findPatient } from "../../../../server/records/patients/patients.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { changeClinic } from "../../../support/clinic/changing-clinic.ts";
import { diceOf } from "../../../support/runner/dice.ts";
import { makeUser } from "../../../dashboard/harness.ts";
import {
  clinic,
  connection,
  importEntities,
  keyPermissions,
  noon,
  patient,
  startLimitedServer,
  startServer,
  study,
  temporaryFolder,
} from "../../harness.ts";
import { startMirrored } from "../../mirrored.ts";
import { event } from "../../records.ts";

// GET /agent/v1/news: an agent learns which lists of its clinic changed. Runs on both engines.

const [ours, theirs] = [newFp("clinic"), newFp("clinic")];

interface Told {
  version: string;
  lists: Record<string, string>;
}

async function newsServer() {
  const [dog, foreign] = [patient(), patient()];
  const connections = [connection(dog.fp, ours), connection(foreign.fp, theirs)];
  const server = await startServer(clinic(ours), clinic(theirs), dog, foreign, connections);
  let admitted = 0;
  // After the version was read, and right before the handler.
  server.app.addHook("preHandler", (_request, _reply, done) => {
    admitted += 1;
    done();
  });
  const clinicId = (await findClinic(server.store, ours))?.id ?? 0;
  const key = await server.makeKey(ours, keyPermissions);
  const ask = async (query = "") => {
    const { status, headers, body } = await server.get(key, `/agent/v1/news${query}`);
    return { status, headers, data: body.data as unknown as Told | null };
  };
  let last = (await ask()).data as Told;
  /** The lists that changed since the last call. */
  const changed = async () => {
    const { data } = await ask(`?after=${last.version}`);
    if (data === null) return null;
    const lists = Object.keys(data.lists).filter((list) => data.lists[list] !== last.lists[list]);
    last = data;
    return lists;
  };
  /** Starts requests. @returns their responses, once all of them wait */
  const held = async (count = 1) => {
    const { version } = (await ask()).data as Told;
    const before = admitted;
    const responses = Array.from({ length: count }, () => ask(`?after=${version}&wait=50`));
    await expect.poll(() => admitted - before).toBe(count);
    await new Promise((resolve) => setImmediate(resolve));
    return { version, responses };
  };
  return { server, store: server.store, dog, foreign, clinicId, key, ask, changed, held };
}

describe("the news of a clinic", () => {
  test("name the lists that changed, and nothing for another clinic or a heartbeat", async () => {
    const { server, store, dog, foreign, clinicId, key, changed } = await newsServer();
    const user = await makeUser(server, "staff", ours);
    const userId = 1;
    await changed();
    expect(await changed()).toBe(null);

    await importEntities(store, { ...dog, name: "Boncuk" });
    expect(await changed()).toEqual(["patients", "placements"]);
    await importEntities(store, { ...foreign, name: "Boncuk" });
    expect(await changed()).toBe(null);

    const range = { low_quality: true, rows: [] };
    await store.transaction((session) => replaceRanges(session, clinicId, range, noon));
    expect(await changed()).toEqual(["ranges", "placements"]);

    const mapping = { device_id: "chem-1", code: "413", analyte: "GLU" };
    const actor = { userId, by: user.name, clinicId, now: noon };
    await store.transaction((session) => mapCode(session, mapping, actor));
    expect(await changed()).toEqual(["codes", "placements"]);
    // The same time and number of mappings.
    await store.transaction(async (session) => {
      await unmapCode(session, mapping, actor);
      await mapCode(session, { ...mapping, analyte: "BUN" }, actor);
    });
    expect(await changed()).toEqual(["codes", "placements"]);

    const own = await findPatient(store, clinicId, dog.fp);
    const order = { clinicId, patientId: own?.id ?? 0, device: null, panel: null, tests: ["ALT"], placer: null };
    await store.transaction((session) => placeOrder(session, { ...order, orderedAt: noon, by: { userId } }, noon));
    expect(await changed()).toEqual(["orders", "placements"]);

    const visit = event(ours, { patient_fp: dog.fp });
    await importEntities(store, visit);
    expect(await changed()).toEqual(["placements", "appointments"]);
    await store.transaction((session) => deleteEvent(session, { fp: visit.fp, clinic_id: clinicId }, noon));
    expect(await changed()).toEqual(["placements", "appointments"]);

    await server.push(key, study({ patient_fp: dog.fp }));
    expect(await changed()).toEqual(["placements"]);
    const headers = { "x-api-key": key };
    await server.app.inject({ method: "POST", url: "/agent/v1/heartbeat", headers, payload: { version: "0.2.0" } });
    expect(await changed()).toBe(null);

    await importEntities(store, connection(dog.fp, ours, false));
    expect(await changed()).toEqual(["patients", "placements"]);
  });

  test("differ whenever a list that an agent reads differs, whatever changes", async () => {
    const { server, facts } = await startMirrored(1_000_000);
    const key = await server.makeKey(facts.own, [...keyPermissions, "clinic.calendar.view"]);
    const read = async () => {
      const { lists } = (await server.get(key, "/agent/v1/news")).body.data as unknown as Told;
      const body = async (path: string) => JSON.stringify((await server.get(key, path)).body);
      const contents = {
        patients:
          (await body("/api/v1/patients?page_size=100")) +
          (await body("/agent/v1/identifiers?page_size=100")) +
          (await body("/agent/v1/removed?page_size=100")),
        orders: await body("/agent/v1/orders"),
        placements: await body("/agent/v1/placements"),
        appointments: await body("/api/v1/calendar/events?start_date=2026-11-01&end_date=2026-12-31"),
      };
      return { lists, contents };
    };
    const [folder, dice] = [temporaryFolder(), diceOf(11)];
    const { clock, store } = server;
    const differing = new Map<string, number>();
    let before = await read();
    for (let round = 0; round < 12; round += 1) {
      clock.now += (dice(5) - 2) * 600_000;
      await changeClinic(store, facts, { dice, round, folder, clock: () => clock.now });
      const after = await read();
      for (const [list, content] of Object.entries(after.contents)) {
        if (content === before.contents[list as keyof typeof before.contents]) continue;
        differing.set(list, (differing.get(list) ?? 0) + 1);
        expect(`${list} ${after.lists[list]}`).not.toBe(`${list} ${before.lists[list]}`);
      }
      before = after;
    }
    expect([...differing.keys()].toSorted()).toEqual(["appointments", "patients", "placements"]);
  });

  test("are refused for a wait that is not 0 to 50 seconds", async () => {
    const { ask } = await newsServer();
    for (const wait of ["51", "-1", "a", "1.5"]) expect((await ask(`?wait=${wait}`)).status).toBe(400);
  });
});

describe("a request that waits for news", () => {
  test("ends with a change of another server on the same database", async () => {
    const { server, dog, held, ask } = await newsServer();
    const { version, responses } = await held();
    const other = await openStore(server.database);
    await importEntities(other, { ...dog, name: "Boncuk" });
    await other.close();
    const [response] = await Promise.all(responses);
    const { data } = await ask();
    expect(response).toMatchObject({ status: 200, data });
    expect(data?.version).not.toBe(version);
  });

  test("is one of at most 200 that a look at the versions ends, the oldest first", async () => {
    let looks = 0;
    const waiting = new WaitingRequests(async () => {
      looks += 1;
      return new Map([[1, 2]]);
    });
    const wait = {
      clinicId: 1,
      version: 1,
      ms: 600_000,
      connection: Object.assign(new EventEmitter(), { destroyed: false }),
    };
    wait.connection.setMaxListeners(0);
    const all = Array.from({ length: 201 }, () => waiting.add({ ...wait }));
    await Promise.all(all.slice(0, 200));
    expect(looks).toBe(1);
    expect(await all[200]).toBe(true);
    expect(looks).toBe(2);
  });

  test("ends when its key is revoked, or its clinic suspended, and the next one is refused", async () => {
    const { store, held, ask, clinicId } = await newsServer();
    const first = await held();
    await store.transaction((session) => setSuspended(session, ours, noon));
    expect(await Promise.all(first.responses)).toMatchObject([{ status: 200 }]);
    expect((await ask()).status).toBe(403);
    await store.transaction((session) => setSuspended(session, ours, null));
    const second = await held();
    for (const { id } of await listKeys(store, clinicId)) {
      await store.transaction((session) => revokeKey(session, id, noon));
    }
    expect(await Promise.all(second.responses)).toMatchObject([{ status: 200 }]);
    expect((await ask()).status).toBe(401);
  });

  test("ends without news when the server closes", async () => {
    const { server, held } = await newsServer();
    const { responses } = await held();
    const closed = server.app.close();
    expect(await Promise.all(responses)).toMatchObject([{ status: 200, data: null }]);
    await closed;
  });

  test("takes no connection of the database, so that hundreds wait at once and others are served", async () => {
    const { store, held, ask, dog } = await newsServer();
    const { responses } = await held(300);
    expect((await ask()).status).toBe(200);
    await importEntities(store, { ...dog, name: "Boncuk" });
    const statuses = (await Promise.all(responses)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  test("spends a budget of its own", async () => {
    const own = newFp("clinic");
    const few = { minute: 2, hour: 1000 };
    const plenty = { minute: 1000, hour: 1000 };
    const limits = { integration: few, device: few, partner: few, ingest: plenty, addressMinute: 1000 };
    const server = await startLimitedServer(limits, clinic(own));
    const key = await server.makeKey(own, keyPermissions);
    const statuses: number[] = [];
    for (let n = 0; n < 3; n += 1) statuses.push((await server.get(key, "/agent/v1/news")).status);
    expect(statuses).toEqual([200, 200, 429]);
    expect((await server.get(key, "/agent/v1/ranges")).status).toBe(200);
    expect((await server.get(key, "/api/v1/patients")).status).toBe(200);
  });

  test("ends at the begin of a drain, and asks for another connection", async () => {
    const { server, key } = await newsServer();
    const drain = new Drain();
    const app = buildApp(server.store, { pepper: server.pepper, now: () => server.clock.now, drain });
    onTestFinished(() => app.close());
    let admitted = 0;
    app.addHook("preHandler", (_request, _reply, done) => {
      admitted += 1;
      done();
    });
    const ask = (query: string) => app.inject({ url: `/agent/v1/news${query}`, headers: { "x-api-key": key } });
    const { version } = (await ask("")).json<{ data: Told }>().data;
    const waiting = ask(`?after=${version}&wait=50`);
    await expect.poll(() => admitted).toBe(2);
    await new Promise((resolve) => setImmediate(resolve));
    drain.begin();
    const ended = await waiting;
    expect([ended.statusCode, ended.json(), ended.headers.connection]).toEqual([
      200,
      { success: true, data: null },
      "close",
    ]);
    expect((await ask(`?after=${version}&wait=50`)).json()).toEqual({ success: true, data: null });
  });
});
