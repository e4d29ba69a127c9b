import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { buildApp } from "../../../../server/app.ts";
import { type Permission, permissions, rollKey } from "../../../../server/http/auth/api-keys.ts";
import { listRows } from "../../../../server/store/audit.ts";
import { exportEntities } from "../../../../server/import/export.ts";
import { listKeys, revokeKey } from "../../../../server/store/keys.ts";
import { openStore } from "../../../../server/store/database/open.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { CHARS_BY_CHANCE, longestSecretPart } from "../../../support/secrets.ts";
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

function unauthorized(header: Endpoint["header"]) {
  const details = header === "x-api-key" ? { header: "X-API-Key" } : { header: "Authorization", scheme: "Bearer" };
  return {
    success: false,
    error: { code: "AUTH.UNAUTHORIZED", message: "Authentication required.", severity: "error", details },
  };
}

describe("authentication", () => {
  test("a key is read from the header of the endpoint only", async () => {
    const server = await startServer(clinic(ours));
    const key = await server.makeKey(ours, [...permissions]);
    for (const { method, url, header } of endpoints) {
      const wrong: Record<string, string>[] = [
        {},
        { cookie: `key=${key}; X-API-Key=${key}` },
        header === "x-api-key" ? { authorization: `Bearer ${key}` } : { "x-api-key": key },
        { [header]: "" },
        { [header]: "sk_live_" },
        { [header]: `Bearer ${key.replace("live", "test")}` },
        { [header]: header === "x-api-key" ? `Bearer ${key}` : key },
        { [header]: header === "x-api-key" ? `${key}, ${key}` : `Basic ${key}` },
        { [header]: header === "x-api-key" ? key.slice(0, -1) : `Bearer  ${key}` },
        { [header]: header === "x-api-key" ? `${key}a` : `Bearer ${key} ${key}` },
      ];
      for (const headers of wrong) {
        const response = await server.app.inject({ method, url: `${url}?api_key=${key}&access_token=${key}`, headers });
        expect([url, headers, response.statusCode]).toEqual([url, headers, 401]);
        expect(response.json()).toEqual(unauthorized(header));
        expect(response.headers["www-authenticate"]).toMatch(header === "x-api-key" ? /^X-API-Key / : /^Bearer /);
      }
      expect(await code(server, { method, url, header }, key)).not.toBe(401);
    }
  });

  test("the scheme Bearer is case-insensitive", async () => {
    const server = await startServer(clinic(ours));
    const key = await server.makeKey(ours, ["clinic.lab.view"]);
    for (const scheme of ["Bearer", "bearer", "BEARER"]) {
      const url = `/api/v1/lab/diagnostics/${newFp("cds")}`;
      const { statusCode } = await server.app.inject({ url, headers: { authorization: `${scheme} ${key}` } });
      expect(statusCode).toBe(404);
    }
  });

  test("a key opens the endpoints of its permissions and gets 403 from all others", async () => {
    const server = await startServer(clinic(ours));
    for (const permission of permissions) {
      const key = await server.makeKey(ours, [permission]);
      for (const endpoint of endpoints) {
        const response = await request(server, endpoint, key);
        const open = endpoint.opens.includes(permission);
        expect([permission, endpoint.url, response.statusCode === 403]).toEqual([permission, endpoint.url, !open]);
        if (open) continue;
        expect(response.json()).toEqual({
          success: false,
          error: {
            code: "AUTH.FORBIDDEN",
            message: `Insufficient permissions. This key needs ${endpoint.opens.join(" or ")}.`,
            severity: "error",
            details: { required: endpoint.opens },
          },
        });
      }
    }
  });

  test("HEAD needs the same key and permission as GET", async () => {
    const server = await startServer(clinic(ours));
    const keys = await Promise.all(permissions.map((permission) => server.makeKey(ours, [permission])));
    for (const endpoint of endpoints.filter(({ method }) => method === "GET")) {
      for (const key of ["", ...keys]) {
        const [get, head] = [
          await request(server, endpoint, key),
          await request(server, { ...endpoint, method: "HEAD" }, key),
        ];
        expect([endpoint.url, head.statusCode, head.body]).toEqual([endpoint.url, get.statusCode, ""]);
      }
    }
  });

  test("a revoked or expired key gets the 401 of an unknown one from the next request on", async () => {
    const server = await startServer(clinic(ours));
    const revoked = await server.makeFreshKey(ours, ["clinic.patient.view"]);
    const expiring = await server.makeFreshKey(ours, ["clinic.patient.view"], { expiresAt: noon + 1000 });
    const other = await server.makeFreshKey(ours, ["clinic.patient.view"]);
    const unknown = await (await startServer(clinic(ours))).makeKey(ours, ["clinic.patient.view"]);
    const statuses = async () =>
      Promise.all([revoked, expiring, other].map(async (key) => (await server.get(key, "/api/v1/patients")).status));
    expect(await statuses()).toEqual([200, 200, 200]);

    // Revoke through another store, like `keys revoke` beside a running server.
    const elsewhere = await openStore(server.database);
    const [first] = await listKeys(elsewhere, 1);
    expect(await elsewhere.transaction((session) => revokeKey(session, first?.id ?? "", server.clock.now))).toBe(true);
    await elsewhere.close();
    expect(await statuses()).toEqual([401, 200, 200]);
    server.clock.now += 1000;
    expect(await statuses()).toEqual([401, 401, 200]);

    for (const endpoint of endpoints.filter(({ method }) => method === "GET")) {
      const bodies = await Promise.all(
        [revoked, expiring, unknown, ""].map(async (key) => (await request(server, endpoint, key)).body),
      );
      expect(new Set(bodies).size).toBe(1);
      expect(JSON.parse(bodies[0] ?? "")).toEqual(unauthorized(endpoint.header));
    }
  });

  test("errors are checked in the order path, method, key, permission, parameter, record", async () => {
    const server = await startServer(clinic(ours));
    const bad = "?page=0";
    const weak = await server.makeKey(ours, ["clinic.lab.view"]);
    const strong = await server.makeKey(ours, ["clinic.patient.view"]);
    expect((await server.get("", `/api/v1/patient${bad}`)).status).toBe(404);
    expect((await server.app.inject({ method: "POST", url: `/api/v1/patients${bad}` })).statusCode).toBe(405);
    expect((await server.get("", `/api/v1/patients${bad}`)).status).toBe(401);
    expect((await server.get(weak, `/api/v1/patients${bad}`)).status).toBe(403);
    expect((await server.get(strong, `/api/v1/patients${bad}`)).status).toBe(400);
  });

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

test("no response, header or error holds data of another clinic's records", async () => {
  const { server, ourKey, foreign, filed, fps, secrets } = await startBesideOthers();
  const lists = ["/api/v1/patients", "/agent/v1/identifiers", "/api/v1/calendar/events", "/api/v1/inventory"];
  const urls = [
    ...lists,
    "/api/v1/inventory?category=VACCINE",
    "/api/v1/inventory?low_stock_only=true",
    "/api/v1/calendar/events?type=CHECKUP&status=SCHEDULED",
  ];
  for (const fp of fps) {
    for (const path of ["patients", "soap", "lab/diagnostics"]) urls.push(`/api/v1/${path}/${fp}`);
    for (const list of lists) {
      urls.push(`${list}?fp=${fp}&clinic_fp=${fp}&patient_fp=${fp}&item_fp=${fp}`);
      for (const name of ["category", "species", "type", "page", "updated_since"]) urls.push(`${list}?${name}=${fp}`);
    }
  }
  const key = { "x-api-key": ourKey, authorization: `Bearer ${ourKey}` };
  for (const url of urls) {
    for (const method of ["GET", "HEAD", "DELETE"] as const) {
      const { headers, body } = await server.app.inject({ method, url, headers: key });
      // A response may repeat text of the URL.
      for (const secret of secrets.filter((text) => !url.includes(text))) {
        expect([url, method, `${JSON.stringify(headers)} ${body}`.includes(secret)]).toEqual([url, method, false]);
      }
    }
  }
  // Pushes with the fp, the dedupe key or the patient of another clinic's study reveal nothing of it.
  const pushed = [
    { ...study(), fp: filed.fp },
    study({ dedupe_key: filed.dedupe_key }),
    study({ patient_fp: foreign.fp }),
  ];
  const collision = await server.push(ourKey, ...pushed);
  expect(collision).toEqual([
    { fp: filed.fp, outcome: "conflict", reason: "this fp cannot be used here, make a new one" },
    expect.objectContaining({ fp: pushed[1]?.fp, outcome: "unmatched" }),
    {
      fp: pushed[2]?.fp,
      outcome: "unmatched",
      reason: `patient ${foreign.fp} has no active connection to this clinic`,
    },
  ]);
});

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
    return body.replace(sent.fp, "STUDY").replace(fp, "FP");
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

async function code(server: TestServer, endpoint: Omit<Endpoint, "opens">, key: string): Promise<number> {
  return (await request(server, endpoint, key)).statusCode;
}
