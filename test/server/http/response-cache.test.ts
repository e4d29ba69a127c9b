import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { permissions } from "../../../server/http/api-keys.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { ClinicWorld, type Write } from "../clinic-world.ts";
import { clinic, connection, connectTo, patient, startLimitedServer, startServer } from "../harness.ts";

const ours = newFp("clinic");

describe("what a write has changed is never served from the cache", () => {
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

  // After each write every clinic reads everything, with the ETag it got before, and must see what the model says.
  test("136 149 whoever writes, and whatever: a plain model of the data says the same", {
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

  test("what moves to another patient or clinic is gone where it was", async () => {
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

  test("the calendar's default range moves on with the UTC day", async () => {
    const world = await ClinicWorld.create();
    await world.write({ what: "event", patient: 0, clinic: 0, record: 0, value: 0, elsewhere: false });
    for (const now of ["2026-11-21T23:59:59.999Z", "2026-11-22T00:00:00.000Z"]) {
      world.server.clock.now = Date.parse(now);
      expect(await world.readAll()).toBeGreaterThan(0);
    }
    await world.close();
  });
});

describe("an answer", () => {
  async function serverWithOne() {
    const one = patient();
    const server = await startServer(clinic(ours), one, connection(one.fp, ours));
    const key = await server.makeKey(ours, [...permissions]);
    const ask = async (method: "GET" | "HEAD", headers = {}, url = `/api/v1/patients/${one.fp}`) =>
      server.app.inject({ method, url, headers: { "x-api-key": key, ...headers } });
    return { one, server, ask };
  }

  test("is given again without asking the tables while its clinic's version stays", async () => {
    const { one, server, ask } = await serverWithOne();
    const first = await ask("GET");
    // Behind the server's back, as no write of ours is: the version stays.
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

  test("2 13 20 150 has the same headers the first time and from the cache, but for its id and its budget", async () => {
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

  test("149 is 304 to its ETag in every form, by GET and HEAD, cached or not", async () => {
    for (const cached of [true, false]) {
      for (const method of ["GET", "HEAD"] as const) {
        const { ask } = await serverWithOne();
        const etag = String((await ask("GET")).headers["etag"]);
        const url = (await ask("GET")).json<{ data: { fp: string } }>().data.fp;
        for (const [index, value] of [etag, `W/${etag}`, "*", `"other", ${etag}`].entries()) {
          // An unknown parameter makes it another URL of the same body.
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

test("149 a 304 costs no budget, until there were ten times as many as other answers are allowed", async () => {
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
