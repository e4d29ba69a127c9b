import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { newFp } from "../../../shared/api/fp.ts";
import { describeClinics, setSuspended } from "../../../server/records/clinics/clinics.ts";
import { listKeys, revokeKey } from "../../../server/records/clinics/keys.ts";
import { makeUser } from "../../dashboard/harness.ts";
import { clinic, connection, patient, startServer, study } from "../harness.ts";

// The operator suspends a clinic while its users, integrations and agents work.

const [ours, theirs] = [newFp("clinic"), newFp("clinic")];

test("nobody reads a suspended clinic until it is served again, and its agents keep their studies meanwhile", async () => {
  const dog = patient();
  const server = await startServer(
    clinic(ours),
    clinic(theirs),
    dog,
    connection(dog.fp, ours),
    connection(dog.fp, theirs),
  );
  const [reader, agent, other] = [
    await server.makeKey(ours, ["clinic.patient.view", "clinic.sync.write"]),
    await server.makeFreshKey(ours, ["clinic.lab.ingest", "clinic.patient.view"], { type: "device" }),
    await server.makeKey(theirs, ["clinic.patient.view"]),
  ];
  const user = await makeUser(server, "admin", ours, theirs);
  const read = async (key: string) => {
    const response = await server.app.inject({ url: "/api/v1/patients", headers: { "x-api-key": key } });
    const { error } = response.json<{ error?: { code: string } }>();
    return error?.code ?? response.statusCode;
  };
  const suspend = async (at: number | null) => server.store.transaction((session) => setSuspended(session, ours, at));
  const dashboard = async (fp: string) => {
    const url = `/clinic/v1/clinics/${fp}/results`;
    const response = await server.app.inject({ url, headers: { cookie: user.cookie } });
    return response.json<{ error?: { code: string } }>().error?.code ?? response.statusCode;
  };
  const readAll = async () => [await read(reader), await read(agent), await read(other)];

  expect(await readAll()).toEqual([200, 200, 200]);
  expect(await suspend(server.clock.now)).toBe(true);
  expect(await readAll()).toEqual(["CLINIC.SUSPENDED", 200, 200]);
  expect([await dashboard(ours), await dashboard(theirs)]).toEqual(["CLINIC.SUSPENDED", 200]);
  const sent = study({ patient_fp: dog.fp });
  const outcome = { fp: sent.fp, outcome: "deferred", code: "CLINIC.SUSPENDED", values: [] };
  expect(await server.push(agent, sent, { fp: "no study" })).toMatchObject([outcome, { outcome: "rejected" }]);
  expect(await suspend(null)).toBe(true);
  expect(await server.push(agent, sent)).toMatchObject([{ fp: sent.fp, outcome: "filed" }]);
  expect(await readAll()).toEqual([200, 200, 200]);
  expect(await dashboard(ours)).toBe(200);
  expect((await user.call("GET", `/results/${sent.fp}`)).status).toBe(200);
});

test("a suspended clinic takes nothing of practice software, also from its agents, which send it later", async () => {
  const server = await startServer(clinic(ours));
  const key = await server.makeFreshKey(ours, ["clinic.lab.ingest", "clinic.sync.write"], { type: "device" });
  const item = { external_id: "1", name: "Boncuk", species: "dog", owner: { external_id: "2", name: "Ada" } };
  const change = { id: 1, key: "M1/1", kind: "patient", item };
  const send = async (url: string, payload: object | string, type = "application/json") => {
    const headers = { "x-api-key": key, "content-type": type };
    const response = await server.app.inject({ method: "POST", url, headers, payload });
    return [response.statusCode, response.json<{ error?: { code: string } }>().error?.code];
  };
  const sendAll = async () => [
    await send("/sync/v1/patients", { source: "pims", mode: "partial", items: [item] }),
    await send("/sync/v1/patients/merge", { source: "pims", survivor: "1", merged: "3" }),
    await send("/agent/v1/registry", { source: "pims", changes: [change] }),
    await send("/agent/v1/registry/file?name=a.csv", "name,species\nTekir,cat\n", "application/octet-stream"),
  ];
  const suspend = async (at: number | null) => server.store.transaction((session) => setSuspended(session, ours, at));
  await suspend(server.clock.now);
  expect(await sendAll()).toEqual(Array.from({ length: 4 }, () => [403, "CLINIC.SUSPENDED"]));
  const [shown] = await describeClinics(server.store);
  expect(shown).toMatchObject({ patients: 0 });
  await suspend(null);
  expect((await sendAll()).map(([status]) => status)).toEqual([200, 200, 200, 200]);
});

describe("a body that arrives after the start of its request", () => {
  /** A body that does something between its halves. */
  function halves(text: string, between: () => Promise<unknown>): Readable {
    return Readable.from(
      (async function* () {
        yield Buffer.from(text.slice(0, 10));
        await between();
        yield Buffer.from(text.slice(10));
      })(),
    );
  }
  const change = { id: 1, key: "M1/1", kind: "patient", item: { external_id: "1", name: "Boncuk", species: "dog" } };
  const registry = JSON.stringify({ source: "pims", changes: [change] });

  async function start() {
    const server = await startServer(clinic(ours));
    const key = await server.makeFreshKey(ours, ["clinic.lab.ingest"], { type: "device" });
    const user = await makeUser(server, "staff", ours);
    const suspend = async () => server.store.transaction((session) => setSuspended(session, ours, server.clock.now));
    const send = async (url: string, payload: Readable, type = "application/json") => {
      const headers = { "x-api-key": key, "content-type": type, cookie: user.cookie, "sec-fetch-site": "same-origin" };
      const response = await server.app.inject({ method: "POST", url, headers, payload });
      return [response.statusCode, response.json<{ error?: { code: string } }>().error?.code];
    };
    return { server, suspend, send };
  }

  test("is not stored once the clinic was suspended meanwhile", async () => {
    const { server, suspend, send } = await start();
    expect(await send("/agent/v1/registry", halves(registry, suspend))).toEqual([403, "CLINIC.SUSPENDED"]);
    expect(await describeClinics(server.store)).toMatchObject([{ patients: 0 }]);
  });

  test("is not stored once its key was revoked meanwhile", async () => {
    const { server, send } = await start();
    const revoke = async () => {
      const keys = await listKeys(server.store, 1);
      await server.store.transaction((session) => revokeKey(session, keys[0]?.id ?? "", server.clock.now));
    };
    expect(await send("/agent/v1/registry", halves(registry, revoke))).toEqual([401, "AUTH.UNAUTHORIZED"]);
    expect(await describeClinics(server.store)).toMatchObject([{ patients: 0 }]);
  });

  test("is no file of the dashboard once the clinic was suspended meanwhile", async () => {
    const { suspend, send } = await start();
    const file = halves("Name;Species\nBoncuk;dog\n", suspend);
    const url = `/clinic/v1/clinics/${ours}/imports?name=a.csv`;
    expect(await send(url, file, "application/octet-stream")).toEqual([403, "CLINIC.SUSPENDED"]);
  });
});

test("a repeated suspension keeps the first time, and an unknown clinic is reported", async () => {
  const { store } = await startServer(clinic(ours));
  const suspend = (fp: string, at: number) => store.transaction((session) => setSuspended(session, fp, at));
  await suspend(ours, 1000);
  await suspend(ours, 2000);
  expect(await describeClinics(store)).toEqual([
    {
      fp: ours,
      name: expect.any(String) as string,
      patients: 0,
      users: 0,
      agents: 0,
      suspended_at: "1970-01-01T00:00:01.000Z",
    },
  ]);
  expect(await suspend(theirs, 1000)).toBe(false);
});
