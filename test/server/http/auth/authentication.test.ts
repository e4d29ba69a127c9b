import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { buildApp } from "../../../../server/app.ts";
import { type Permission, permissions, rollKey } from "../../../../server/http/auth/api-keys.ts";
import { listRows } from "../../../../server/records/audit/audit.ts";
import { exportEntities } from "../../../../server/import/export.ts";
import { listKeys } from "../../../../server/records/clinics/keys.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { CHARS_BY_CHANCE, longestSecretPart } from "../../../support/runner/secrets.ts";
import { allStored, clinic, connection, noon, patient, startServer, study, type TestServer } from "../../harness.ts";
import { batch, event, item, soap } from "../../records.ts";

const ours = newFp("clinic");
const theirs = newFp("clinic");

interface Endpoint {
  method: "GET" | "HEAD" | "POST";
  url: string;
  header: "x-api-key" | "authorization";
  opens: Permission[];
}

const endpoints: Endpoint[] = [
  { method: "GET", url: "/api/v1/patients", header: "x-api-key", opens: ["clinic.patient.view"] },
  { method: "GET", url: `/api/v1/patients/${newFp("patient")}`, header: "x-api-key", opens: ["clinic.patient.view"] },
  {
    method: "GET",
    url: `/api/v1/soap/${newFp("soap")}`,
    header: "authorization",
    opens: ["clinic.patient.view", "clinic.soap.view"],
  },
  {
    method: "GET",
    url: `/api/v1/lab/diagnostics/${newFp("cds")}`,
    header: "authorization",
    opens: ["clinic.patient.view", "clinic.lab.view"],
  },
  { method: "GET", url: "/api/v1/calendar/events", header: "x-api-key", opens: ["clinic.calendar.view"] },
  { method: "GET", url: "/api/v1/inventory", header: "x-api-key", opens: ["clinic.inventory.view"] },
  { method: "POST", url: "/agent/v1/studies", header: "x-api-key", opens: ["clinic.lab.ingest"] },
  { method: "POST", url: "/agent/v1/heartbeat", header: "x-api-key", opens: ["clinic.lab.ingest"] },
  { method: "GET", url: "/agent/v1/identifiers", header: "x-api-key", opens: ["clinic.lab.ingest"] },
  { method: "GET", url: "/agent/v1/removed", header: "x-api-key", opens: ["clinic.lab.ingest"] },
];

describe("authentication", () => {
  test("database, log, audit trail and key list hold no key, and log and audit no name or result", async () => {
    const name = "Karabaş-the-only";
    const one = patient({ name });
    const records = [soap(one.fp, ours, { plan: name }), event(ours, { title: name }), item(ours, { name })];
    const server = await startServer([clinic(ours), one, connection(one.fp, ours)], records);
    const key = await server.makeKey(ours, [...permissions]);
    const weak = await server.makeKey(ours, ["clinic.inventory.view"]);
    const pushed = study({ patient_fp: one.fp, results: [{ ...noResult, value: 123.456789 }] });
    await server.push(key, pushed, { fp: name });
    const filed = [`/patients/${one.fp}`, `/lab/diagnostics/${pushed.fp}`, `/soap/${records[0]?.fp}`];
    for (const url of [...filed, "/calendar/events", "/inventory"].map((path) => `/api/v1${path}?api_key=${key}`)) {
      expect((await server.get(key, url)).status).toBe(200);
    }
    for (const endpoint of endpoints) {
      const { url } = endpoint;
      for (const secret of [key, `${key}x`, weak, name, ""])
        await request(server, endpoint, encodeURIComponent(secret));
      for (const secret of [key, encodeURIComponent(name)]) {
        for (const path of [
          `${url}?page=${secret}&name=${secret}`,
          url.replace(/[^/]+$/, secret),
          `${url}/${secret}`,
        ]) {
          await request(server, { ...endpoint, url: path }, key);
        }
      }
      if (endpoint.method === "GET") continue;
      for (const payload of [{ studies: name, version: { name } }, `{"${name}": 123.456789`]) {
        const headers = { "x-api-key": key, "content-type": "application/json" };
        expect((await server.app.inject({ ...endpoint, headers, payload })).statusCode).toBe(400);
      }
    }
    await server.get(key, `/nothing/${key}`);
    const publicId = (await listKeys(server.store, 1))[0]?.id ?? "";
    const rolled = await rollKey(server.store, server.pepper, { publicId, graceMs: HOUR_MS, now: noon });
    await server.get(rolled.key, "/api/v1/patients");
    await server.app.close();

    const log = server.log.join("");
    const listed = JSON.stringify(await listKeys(server.store, 1));
    let audit = "";
    for await (const row of listRows(server.store, { since: 0, until: noon + 1 })) audit += JSON.stringify(row);
    let exported = "";
    for await (const entity of exportEntities(server.store)) exported += JSON.stringify(entity);
    const stored = allStored(server.database);
    for (const secret of [key, weak, rolled.key]) {
      for (const text of [log, audit, exported, stored]) {
        expect(longestSecretPart(secret, text)).toBeLessThanOrEqual(CHARS_BY_CHANCE);
      }
      const digest = createHmac("sha256", server.pepper).update(secret).digest("hex");
      for (const text of [log, listed, audit]) expect(text).not.toContain(digest);
      expect(stored).toContain(digest);
    }
    expect(exported).not.toContain("sk_live_");
    for (const secret of ["sk_live_", name, encodeURIComponent(name), "123.456789"]) {
      for (const text of [log, audit]) expect(text).not.toContain(secret);
    }
    expect(log).toContain('"route":"/api/v1/lab/diagnostics/:fp"');
    expect(audit).toContain('"route":"/api/v1/lab/diagnostics/:fp"');
  });
});

/** A server with two clinics, one record of each kind of the other clinic, and the texts that must not appear. */
async function startBesideOthers() {
  const foreign = patient({ name: "Foreign-name", breed: "Foreign-breed", external_ids: ["Foreign-id"] });
  const user = { type: "user" as const, fp: newFp("user"), name: "Foreign-user", clinic_fp: theirs };
  const record = soap(foreign.fp, theirs, { subjective: "Foreign-subjective", plan: "Foreign-plan" });
  const visit = event(theirs, { title: "Foreign-title", patient_fp: foreign.fp, assigned_user_fp: user.fp });
  const ware = item(theirs, { name: "Foreign-item", sku: "Foreign-sku", quantity_on_hand: 1 });
  const lot = batch(ware.fp, { lot: "Foreign-lot" });
  const server = await startServer(
    [clinic(ours), clinic(theirs), user, foreign, connection(foreign.fp, theirs)],
    [record, visit, ware, lot],
  );
  const theirKey = await server.makeKey(theirs, [...permissions]);
  const ourKey = await server.makeKey(ours, [...permissions]);
  const filed = study({ patient_fp: foreign.fp, device_name: "Foreign-device" });
  const held = study({ device_name: "Foreign-device" });
  expect((await server.push(theirKey, filed, held)).map(({ outcome }) => outcome)).toEqual(["filed", "unmatched"]);

  const owner = foreign.owner_customer_fp;
  const fps = [foreign.fp, filed.fp, held.fp, theirs, owner, record.fp, visit.fp, ware.fp, user.fp];
  const secrets = ["Foreign-", ...fps, filed.dedupe_key, held.dedupe_key];
  return { server, ourKey, foreign, filed, record, fps, secrets };
}

test("with concealUnconnected, a record of another clinic gets the 404 of an unknown one", async () => {
  const { server, ourKey, foreign, filed, record } = await startBesideOthers();
  const { store, pepper, clock } = server;
  const concealing = buildApp(store, { pepper, now: () => clock.now, concealUnconnected: true });
  const answer = async (app: TestServer["app"], path: string, fp: string) => {
    const headers = { "x-api-key": ourKey, authorization: `Bearer ${ourKey}` };
    const { statusCode, body } = await app.inject({ url: `${path}/${fp}`, headers });
    return { statusCode, body: body.replace(fp, "FP") };
  };
  for (const [path, known, unknown] of [
    ["/api/v1/patients", foreign.fp, newFp("patient")],
    ["/api/v1/soap", record.fp, newFp("soap")],
    ["/api/v1/lab/diagnostics", filed.fp, newFp("cds")],
  ] as const) {
    const nothing = await answer(concealing, path, unknown);
    expect(nothing.statusCode).toBe(404);
    expect(await answer(concealing, path, known)).toEqual(nothing);
    expect((await answer(server.app, path, known)).statusCode).toBe(403);
  }
  const pushFor = async (app: TestServer["app"], fp: string) => {
    const sent = study({ patient_fp: fp });
    const headers = { "x-api-key": ourKey };
    const { body } = await app.inject({
      method: "POST",
      url: "/agent/v1/studies",
      headers,
      payload: { studies: [sent] },
    });
    return body.replace(sent.fp, "STUDY").replaceAll(fp, "FP");
  };
  expect(await pushFor(concealing, foreign.fp)).toBe(await pushFor(concealing, newFp("patient")));
  expect(await pushFor(server.app, foreign.fp)).toContain("no active connection");
});

const HOUR_MS = 3_600_000;

const noResult = { analyte: "GLU", value: 0, unit: null, reference_range: null, flag: null };

async function request(server: TestServer, { method, url, header }: Omit<Endpoint, "opens">, key: string) {
  const value = header === "x-api-key" ? key : `Bearer ${key}`;
  return server.app.inject({ method, url, headers: { [header]: value } });
}
