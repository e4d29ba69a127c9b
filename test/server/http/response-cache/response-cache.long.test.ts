import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { permissions } from "../../../../server/http/auth/api-keys.ts";
import { listKeys, revokeKey } from "../../../../server/records/clinics/keys.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { ClinicWorld, type Write } from "../../clinic-world.ts";
import { clinic, connection, connectTo, patient, startLimitedServer, startServer } from "../../harness.ts";

const ours = newFp("clinic");
const theirs = newFp("clinic");

describe("the cache serves no data that a write has changed", () => {
  const one = (count: number) => fc.nat({ max: count - 1 });
  const common = {
    patient: one(3),
    clinic: one(3),
    record: one(2),
    value: fc.nat({ max: 99 }),
    elsewhere: fc.boolean(),
  };
  const write: fc.Arbitrary<Write> = fc.oneof(
    fc.record({ ...common, what: fc.constantFrom("patient", "delete", "study", "push", "push again", "soap") }),
    fc.record({ ...common, what: fc.constantFrom("connect", "disconnect", "event", "item") }),
    fc.record({ ...common, what: fc.constantFrom("make key", "revoke key", "wait") }),
  );

  // After each write every clinic reads all its data with the last ETags, and the responses must equal the model.
  test("responses after any sequence of writes equal those of a model", {
    timeout: 120_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(write, { minLength: 15, maxLength: 25 }), async (writes) => {
        const world = await ClinicWorld.create();
        for (const each of writes) {
          expect(await world.readAll()).toBeGreaterThan(0);
          await world.write(each);
        }
        expect(await world.readAll()).toBeGreaterThan(0);
        await world.close();
      }),
      { numRuns: 10 },
    );
  });

  test("a record that moves to another patient disappears from the first one, and an item stays in its clinic", async () => {
    const world = await ClinicWorld.create();
    const first = { patient: 0, clinic: 0, record: 0, value: 1, elsewhere: false };
    await world.write({ ...first, what: "connect", patient: 1, clinic: 1 });
    for (const what of ["study", "soap", "push", "event", "item"] as const) {
      for (const place of [first, { ...first, patient: 1, clinic: 1 }]) {
        await world.write({ ...place, what });
        expect(await world.readAll()).toBeGreaterThan(0);
      }
    }
    await world.close();
  });

  test("the default range of the calendar moves with the UTC day", async () => {
    const world = await ClinicWorld.create();
    await world.write({ what: "event", patient: 0, clinic: 0, record: 0, value: 0, elsewhere: false });
    for (const now of ["2026-11-21T23:59:59.999Z", "2026-11-22T00:00:00.000Z"]) {
      world.server.clock.now = Date.parse(now);
      expect(await world.readAll()).toBeGreaterThan(0);
    }
    await world.close();
  });
});

describe("a response", () => {
  async function serverWithOne() {
    const one = patient();
    const server = await startServer(clinic(ours), one, connection(one.fp, ours));
    const key = await server.makeKey(ours, [...permissions]);
    const ask = async (method: "GET" | "HEAD", headers = {}, url = `/api/v1/patients/${one.fp}`) =>
      server.app.inject({ method, url, headers: { "x-api-key": key, ...headers } });
    return { one, server, ask };
  }

  test("a response is served from memory while the version of its clinic stays", async () => {
    const { one, server, ask } = await serverWithOne();
    const first = await ask("GET");
    // A write past the store, which keeps the version.
    const behind = await connectTo(server.database);
    await behind.run(`update patient set name = 'Changed' where fp = '${one.fp}'`);
    expect((await ask("GET")).body).toBe(first.body);
    expect((await ask("HEAD")).headers["content-length"]).toBe(first.headers["content-length"]);
    await behind.run("update clinic set version = version + 1");
    await behind.close();
    const changed = await ask("GET");
    expect(changed.json()).toMatchObject({ data: { name: "Changed" } });
    expect(changed.headers["etag"]).not.toBe(first.headers["etag"]);
  });

  test("a cached response has the headers of the first one, except request id and budget", async () => {
    const { ask } = await serverWithOne();
    const stable = async (method: "GET" | "HEAD", url?: string) => {
      const { "x-request-id": id, date: _date, ...headers } = (await ask(method, {}, url)).headers;
      expect(id).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
      return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.includes("ratelimit")));
    };
    for (const url of [undefined, "/api/v1/patients?x=1"]) {
      const first = await stable("GET", url);
      for (const method of ["GET", "HEAD"] as const) expect(await stable(method, url)).toEqual(first);
      expect(first).toMatchObject({
        "content-type": "application/json; charset=utf-8",
        etag: expect.stringMatching(/^"[\w-]{22}"$/),
        ...(url !== undefined && { "x-ignored-parameters": "x" }),
      });
    }
  });

  test("a matching If-None-Match of any form gets 304, with GET and HEAD, cached or not", async () => {
    for (const cached of [true, false]) {
      for (const method of ["GET", "HEAD"] as const) {
        const { ask } = await serverWithOne();
        const etag = String((await ask("GET")).headers["etag"]);
        const url = (await ask("GET")).json<{ data: { fp: string } }>().data.fp;
        for (const [index, value] of [etag, `W/${etag}`, "*", `"other", ${etag}`].entries()) {
          // An unknown parameter makes a new cache entry with the same body.
          const path = `/api/v1/patients/${url}${cached ? "" : `?nth=${index}`}`;
          const response = await ask(method, { "if-none-match": value }, path);
          expect([response.statusCode, response.body, response.headers["etag"]]).toEqual([304, "", etag]);
          expect(response.headers).toMatchObject({ "cache-control": "private, no-cache", vary: expect.any(String) });
          expect(response.headers).not.toHaveProperty("content-type");
          expect(response.headers).not.toHaveProperty("content-length");
        }
        for (const value of ['"other"', etag.slice(1, -1), ""]) {
          expect((await ask(method, { "if-none-match": value })).statusCode).toBe(200);
        }
      }
    }
  });
});

test("304 responses are free up to ten times the budget", async () => {
  const limits = { minute: 3, hour: 100 };
  const server = await startLimitedServer(
    { integration: limits, device: limits, partner: limits, ingest: limits, addressMinute: 3 },
    clinic(ours),
  );
  const key = await server.makeKey(ours, [...permissions]);
  const ask = async (headers = {}) =>
    server.app.inject({ url: "/api/v1/patients", headers: { "x-api-key": key, ...headers } });
  const first = await ask();
  expect(first.headers["x-ratelimit-remaining"]).toBe("2");
  const etag = String(first.headers["etag"]);
  const seen = [];
  for (let count = 0; count < 34; count += 1) {
    const { statusCode, headers } = await ask({ "if-none-match": etag });
    seen.push(`${statusCode} ${String(headers["x-ratelimit-remaining"])}`);
  }
  const refused = Array.from({ length: 2 }, () => "429 0");
  expect(seen).toEqual([...Array.from({ length: 30 }, () => "304 2"), "304 1", "304 0", ...refused]);
  server.clock.now += 60_000;
  expect((await ask({ "if-none-match": etag })).headers["x-ratelimit-remaining"]).toBe("3");
});

describe("a cached response", () => {
  const limits = { minute: 100, hour: 100 };

  async function limitedServer() {
    const [mine, foreign] = [patient(), patient()];
    const server = await startLimitedServer(
      { integration: limits, device: limits, partner: limits, ingest: limits, addressMinute: 100 },
      [clinic(ours), clinic(theirs), mine, foreign, connection(mine.fp, ours), connection(foreign.fp, theirs)],
    );
    const ask = async (key: string, headers = {}) =>
      server.app.inject({ url: "/api/v1/patients", headers: { "x-api-key": key, ...headers } });
    const first = await ask(await server.makeKey(ours, [...permissions]));
    return { server, ask, first, etag: String(first.headers["etag"]), mine, foreign };
  }

  test("a key of another clinic gets its own response", async () => {
    const { server, ask, first, etag, foreign } = await limitedServer();
    const theirKey = await server.makeKey(theirs, [...permissions]);
    for (const headers of [{}, { "if-none-match": etag }, {}]) {
      const response = await ask(theirKey, headers);
      expect(response.statusCode).toBe(200);
      expect(response.body).toContain(foreign.fp);
      expect(response.headers["etag"]).not.toBe(first.headers["etag"]);
    }
  });

  test("a key without permission gets 403 and pays for it, with and without If-None-Match", async () => {
    const { server, ask, etag } = await limitedServer();
    const weak = await server.makeKey(ours, ["clinic.inventory.view"]);
    // A new key bumps the version of its clinic, so this fills the cache again.
    expect((await ask(await server.makeKey(ours, [...permissions]))).headers["etag"]).toBe(etag);
    const seen = [];
    for (const headers of [{}, { "if-none-match": etag }, { "if-none-match": "*" }]) {
      const response = await ask(weak, headers);
      seen.push([response.statusCode, response.headers["x-ratelimit-remaining"], response.headers["etag"]]);
    }
    expect(seen).toEqual([
      [403, "99", undefined],
      [403, "98", undefined],
      [403, "97", undefined],
    ]);
  });

  test("a cached 304 is sent to a key with an empty budget, and a cached 200 is not", async () => {
    const { server, ask, etag } = await limitedServer();
    const key = await server.makeKey(ours, [...permissions]);
    for (let count = 1; count < limits.minute; count += 1) expect((await ask(key)).statusCode).toBe(200);
    expect((await ask(key)).statusCode).toBe(429);
    const unchanged = await ask(key, { "if-none-match": etag });
    expect([unchanged.statusCode, unchanged.headers["x-ratelimit-remaining"]]).toEqual([304, "0"]);
    expect((await ask(key, { "if-none-match": '"other"' })).statusCode).toBe(429);
  });

  test("a revoked key gets 401 for a cached response", async () => {
    const { server, ask, etag } = await limitedServer();
    const key = await server.makeFreshKey(ours, [...permissions]);
    expect((await ask(key)).statusCode).toBe(200);
    const publicId = (await listKeys(server.store, 1)).at(-1)?.id ?? "";
    await server.store.transaction((session) => revokeKey(session, publicId, server.clock.now));
    expect((await ask(key, { "if-none-match": etag })).statusCode).toBe(401);
  });
});
