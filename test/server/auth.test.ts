import { createHmac } from "node:crypto";
import { rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  ACTIVE_KEYS_MAX,
  isWellFormedKey,
  loadPepper,
  type Permission,
  permissions,
  rollKey,
} from "../../server/auth.ts";
import { listKeys, revokeKey } from "../../server/store/keys.ts";
import { openStore } from "../../server/store/store.ts";
import { newFp } from "../../shared/fp.ts";
import {
  allStored,
  clinic,
  connection,
  noon,
  onPostgres,
  patient,
  startServer,
  study,
  temporaryFolder,
  type TestServer,
} from "./harness.ts";
import { batch, event, item, soap } from "./records.ts";

const ours = newFp("clinic");
const theirs = newFp("clinic");

interface Endpoint {
  method: "GET" | "POST";
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
];

const unauthorized = {
  success: false,
  error: { code: "AUTH.UNAUTHORIZED", message: "Authentication required.", severity: "error" },
};

describe("authentication", () => {
  test("38 68 86 129 131 133 138 139 a key counts only in its endpoint's header", async () => {
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
        expect(response.json()).toEqual(unauthorized);
        expect(response.headers["www-authenticate"]).toMatch(header === "x-api-key" ? /^X-API-Key / : /^Bearer /);
      }
      expect(await code(server, { method, url, header }, key)).not.toBe(401);
    }
  });

  test("74 the scheme Bearer is read in any case", async () => {
    const server = await startServer(clinic(ours));
    const key = await server.makeKey(ours, ["clinic.lab.view"]);
    for (const scheme of ["Bearer", "bearer", "BEARER"]) {
      const url = `/api/v1/lab/diagnostics/${newFp("cds")}`;
      const { statusCode } = await server.app.inject({ url, headers: { authorization: `${scheme} ${key}` } });
      expect(statusCode).toBe(404);
    }
  });

  test("39 63 97 132 a key opens exactly the endpoints of its permission", async () => {
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
          error: { code: "AUTH.FORBIDDEN", message: "Insufficient permissions.", severity: "error" },
        });
      }
    }
  });

  test("130 134 136 a revoked or expired key is an unknown one, at the next request, and the others go on", async () => {
    const server = await startServer(clinic(ours));
    const revoked = await server.makeFreshKey(ours, ["clinic.patient.view"]);
    const expiring = await server.makeFreshKey(ours, ["clinic.patient.view"], { expiresAt: noon + 1000 });
    const other = await server.makeFreshKey(ours, ["clinic.patient.view"]);
    const unknown = await (await startServer(clinic(ours))).makeKey(ours, ["clinic.patient.view"]);
    const statuses = async () =>
      Promise.all([revoked, expiring, other].map(async (key) => (await server.get(key, "/api/v1/patients")).status));
    expect(await statuses()).toEqual([200, 200, 200]);

    // As another process does it: `keys revoke` while the server runs.
    const elsewhere = await openStore(server.database);
    const [first] = await listKeys(elsewhere, 1);
    expect(await elsewhere.transaction((session) => revokeKey(session, first?.id ?? "", server.clock.now))).toBe(true);
    await elsewhere.close();
    expect(await statuses()).toEqual([401, 200, 200]);
    server.clock.now += 1000;
    expect(await statuses()).toEqual([401, 401, 200]);

    for (const key of [revoked, expiring, unknown]) {
      expect((await server.get(key, "/api/v1/patients")).body).toEqual(unauthorized);
    }
  });

  test("a rolled key and its successor both open until the grace is over, then the successor alone", async () => {
    const server = await startServer(clinic(ours));
    const old = await server.makeFreshKey(ours, ["clinic.patient.view"], { type: "device", name: "the bench PC" });
    const publicId = (await listKeys(server.store, 1))[0]?.id ?? "";
    const { key } = await rollKey(server.store, server.pepper, { publicId, graceMs: 24 * HOUR_MS, now: noon });
    const statuses = async () =>
      Promise.all([old, key].map(async (each) => (await server.get(each, "/api/v1/patients")).status));
    expect(await statuses()).toEqual([200, 200]);
    server.clock.now += 24 * HOUR_MS - 1;
    expect(await statuses()).toEqual([200, 200]);
    server.clock.now += 1;
    expect(await statuses()).toEqual([401, 200]);

    const [first, second] = await listKeys(server.store, 1);
    expect([first?.expires_at, second?.expires_at]).toEqual(["2026-11-22T12:00:00.000Z", null]);
    expect(second).toMatchObject({ name: "the bench PC", type: "device", permissions: ["clinic.patient.view"] });
    expect((await server.get(key, `/api/v1/lab/diagnostics/${newFp("cds")}`)).status).toBe(404);
    expect((await server.get(key, "/agent/v1/identifiers")).status).toBe(403);
  });

  test("rolling lengthens no key's life, and revives none", async () => {
    const server = await startServer(clinic(ours));
    await server.makeFreshKey(ours, ["clinic.patient.view"], { expiresAt: noon + HOUR_MS });
    const publicId = (await listKeys(server.store, 1))[0]?.id ?? "";
    const roll = async (expiresAt?: number) =>
      rollKey(server.store, server.pepper, {
        publicId,
        graceMs: 24 * HOUR_MS,
        now: server.clock.now,
        ...(expiresAt !== undefined && { expiresAt }),
      });
    expect(await roll()).toMatchObject({ oldExpiresAt: noon + HOUR_MS, expiresAt: noon + HOUR_MS });
    expect(await roll(noon + 2 * HOUR_MS)).toMatchObject({ expiresAt: noon + 2 * HOUR_MS });
    server.clock.now += HOUR_MS;
    await expect(roll()).rejects.toThrow(`key ${publicId} is revoked or expired, make a new one with keys create`);
    const unknown = { publicId: "key_x", graceMs: 1, now: noon };
    await expect(rollKey(server.store, server.pepper, unknown)).rejects.toThrow(
      "key key_x does not exist, expected an id that keys list shows",
    );
  });

  test("a clinic has at most 25 active keys; revoked, expired and other clinics' keys do not count", async () => {
    const server = await startServer(clinic(ours), clinic(theirs));
    const make = async (fp = ours) => server.makeFreshKey(fp, ["clinic.patient.view"], { expiresAt: null });
    await server.makeFreshKey(ours, ["clinic.patient.view"], { expiresAt: noon + 1000 });
    for (let count = 1; count < ACTIVE_KEYS_MAX; count += 1) await make();
    const full = "the clinic has 25 active keys, at most 25: revoke one first";
    await expect(make()).rejects.toThrow(full);
    await make(theirs);

    const [first, second] = await listKeys(server.store, 1);
    server.clock.now += 1000; // the first one expires
    await make();
    await expect(make()).rejects.toThrow(full);
    const publicId = second?.id ?? "";
    await expect(rollKey(server.store, server.pepper, { publicId, graceMs: 1, now: server.clock.now })).rejects.toThrow(
      full,
    );
    expect(await server.store.transaction((session) => revokeKey(session, publicId, server.clock.now))).toBe(true);
    await make();
    expect(first?.expires_at).toBe("2026-11-21T12:00:01.000Z");
  });

  test("140 what is wrong first is said first: path, method, key, permission, parameter, record", async () => {
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

  test("a key is refused by its checksum without asking the database", async () => {
    const server = await startServer(clinic(ours));
    const key = await server.makeKey(ours, ["clinic.patient.view"]);
    expect(isWellFormedKey(key)).toBe(true);
    for (let index = "sk_live_".length; index < key.length; index += 1) {
      const typo = key.slice(0, index) + (key[index] === "a" ? "b" : "a") + key.slice(index + 1);
      expect(isWellFormedKey(typo)).toBe(false);
    }
    // Whose address is counted in the database.
    if (onPostgres()) return;
    await server.store.close();
    expect((await server.get(key.replace(/.$/, "?"), "/api/v1/patients")).status).toBe(401);
    expect((await server.get(key, "/api/v1/patients")).status).toBe(500);
  });

  test("its last use is noted, at most once a minute", async () => {
    const server = await startServer(clinic(ours));
    const key = await server.makeKey(ours, ["clinic.patient.view"]);
    const lastUsed = async () => {
      // The note is written behind the answer; on SQLite a transaction of our own stands in line after it.
      await server.store.transaction(async () => undefined);
      return (await listKeys(server.store, 1))[0]?.last_used_at;
    };
    await expect.poll(lastUsed).toBe(null);
    await server.get(key, "/api/v1/patients");
    await expect.poll(lastUsed).toBe("2026-11-21T12:00:00.000Z");
    server.clock.now += 59_999;
    await server.get(key, "/api/v1/patients");
    await expect.poll(lastUsed).toBe("2026-11-21T12:00:00.000Z");
    server.clock.now += 1;
    await server.get(key, "/api/v1/patients");
    await expect.poll(lastUsed).toBe("2026-11-21T12:01:00.000Z");
  });

  test("135 neither the database nor the log nor the list holds a key, a name or a result", async () => {
    const one = patient({ name: "Karabaş-the-only" });
    const server = await startServer(clinic(ours), one, connection(one.fp, ours));
    const key = await server.makeKey(ours, ["clinic.patient.view", "clinic.lab.ingest"]);
    const pushed = study({ patient_fp: one.fp, results: [{ ...noResult, value: 123.456789 }] });
    await server.push(key, pushed, { fp: "Karabaş-the-only" });
    await server.get(key, `/api/v1/patients/${one.fp}?api_key=${key}`);
    await server.get(key, `/api/v1/lab/diagnostics/${pushed.fp}`);
    await server.get(key, `/nothing/${key}`);
    await server.get(`${key}x`, "/api/v1/patients");
    await server.get(key, `/api/v1/patients?page=${key}`);
    const publicId = (await listKeys(server.store, 1))[0]?.id ?? "";
    const rolled = await rollKey(server.store, server.pepper, { publicId, graceMs: HOUR_MS, now: noon });
    await server.get(rolled.key, "/api/v1/patients");
    await server.store.transaction(async () => undefined);

    const log = server.log.join("");
    const listed = JSON.stringify(await listKeys(server.store, 1));
    const stored = allStored(server.database);
    for (const secret of [key, rolled.key]) {
      for (const text of [log, listed, stored]) expect(text).not.toContain(secret.slice(12, 40));
      const digest = createHmac("sha256", server.pepper).update(secret).digest("hex");
      for (const text of [log, listed]) expect(text).not.toContain(digest);
      expect(stored).toContain(digest);
    }
    for (const secret of ["Karabaş-the-only", "123.456789"]) expect(log).not.toContain(secret);
    expect(log).toContain('"route":"/api/v1/lab/diagnostics/:fp"');
  });
});

describe("the pepper", () => {
  test("is made once, for its owner's eyes only", () => {
    const folder = temporaryFolder();
    const pepper = loadPepper(folder, false);
    expect(pepper.length).toBe(32);
    expect(loadPepper(folder, true)).toEqual(pepper);
    expect(statSync(join(folder, "pepper")).mode & 0o777).toBe(0o600);
  });

  test("is not made again when keys need the lost one, nor taken when it was cut", () => {
    const folder = temporaryFolder();
    loadPepper(folder, false);
    writeFileSync(join(folder, "pepper"), "short");
    expect(() => loadPepper(folder, false)).toThrow("has 5 bytes, expected 32");
    rmSync(join(folder, "pepper"));
    expect(() => loadPepper(folder, true)).toThrow("is missing, and the keys of this database were made with it");
  });
});

test("137 147 nothing of another clinic's records is in any answer", async () => {
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

  const secrets = [
    "Foreign-",
    foreign.fp,
    foreign.owner_customer_fp,
    theirs,
    filed.dedupe_key,
    user.fp,
    visit.fp,
    ware.fp,
  ];
  const inventory = "/api/v1/inventory";
  const urls = ["/api/v1/patients", "/agent/v1/identifiers", "/api/v1/calendar/events", inventory];
  urls.push(`${inventory}?category=VACCINE`, `${inventory}?low_stock_only=true`);
  urls.push("/api/v1/calendar/events?type=CHECKUP&status=SCHEDULED", `${inventory}?clinic_fp=${theirs}`);
  const records = [
    foreign.fp,
    filed.fp,
    held.fp,
    theirs,
    foreign.owner_customer_fp,
    record.fp,
    visit.fp,
    ware.fp,
    user.fp,
  ];
  for (const fp of records) {
    urls.push(`/api/v1/patients/${fp}`, `/api/v1/lab/diagnostics/${fp}`, `/api/v1/soap/${fp}`);
  }
  for (const url of urls) {
    const { body } = await server.get(ourKey, url);
    // What was asked for may be repeated.
    for (const secret of secrets.filter((text) => !url.includes(text))) {
      expect(JSON.stringify(body)).not.toContain(secret);
    }
  }
  // Our own studies under the same fp, and the same dedupe key, meet nothing of theirs.
  const collision = await server.push(ourKey, { ...study(), fp: filed.fp }, study({ dedupe_key: filed.dedupe_key }));
  expect(collision).toEqual([
    { fp: filed.fp, outcome: "conflict", reason: "this fp cannot be used here, make a new one" },
    expect.objectContaining({ outcome: "unmatched" }),
  ]);
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
