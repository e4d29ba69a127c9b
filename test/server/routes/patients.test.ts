import { assert, asyncProperty, constantFrom, integer, record } from "fast-check";
import { describe, expect, test } from "vitest";
import { buildApp } from "../../../server/app.ts";
import type { Store } from "../../../server/store/database/store.ts";
import { newFp } from "../../../shared/api/fp.ts";
import {
  clinic,
  connection,
  importEntities,
  noon,
  patient,
  published,
  startServer,
  type TestServer,
} from "../harness.ts";

const ours = newFp("clinic");
const theirs = newFp("clinic");

describe("GET /api/v1/patients", () => {
  test("the list holds the connected, not deleted patients with exactly the documented fields", async () => {
    const [seen, shared, closed, deleted, foreign] = [
      patient({ updated_at: "2026-10-03T00:00:00.000Z", external_ids: ["10021"] }),
      patient({
        updated_at: "2026-10-02T00:00:00.000Z",
        breed: "Kangal",
        date_of_birth: null,
        weight_kg: null,
        sex: null,
      }),
      patient(),
      patient({ deleted_at: "2026-10-05T00:00:00.000Z" }),
      patient(),
    ] as const;
    const server = await startServer(
      clinic(ours),
      clinic(theirs),
      [seen, shared, closed, deleted, foreign],
      [connection(seen.fp, ours), connection(shared.fp, ours), connection(deleted.fp, ours)],
      [connection(closed.fp, ours, false), connection(shared.fp, theirs), connection(foreign.fp, theirs)],
    );
    const { status, headers, body } = await list(server, "");
    expect(status).toBe(200);
    expect(headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(body).toEqual({
      success: true,
      data: { items: [published(seen), published(shared)], total: 2, page: 1, page_size: 20, has_more: false },
      message: "OK",
    });
    expect((await list(server, "?include_deleted=true")).body).toEqual(body);
  });

  test("a clinic without patients has an empty page", async () => {
    const server = await startServer(clinic(ours));
    expect((await list(server, "")).body.data).toEqual({
      items: [],
      total: 0,
      page: 1,
      page_size: 20,
      has_more: false,
    });
  });

  test("page must be at least 1, and page_size 1 to 100", async () => {
    const server = await startServer(clinic(ours));
    const bad = ["0", "-1", "abc", "1.5", "", "1e2", "99999999999999999999", "+1", "01", "1%20"];
    for (const name of ["page", "page_size"]) {
      for (const value of [...bad, ...(name === "page_size" ? ["101"] : [])]) {
        const { status, body } = await list(server, `?${name}=${value}`);
        expect([name, value, status]).toEqual([name, value, 400]);
        expect(body.error).toMatchObject({ code: "REQUEST.INVALID_PARAMETER", severity: "error" });
        expect(body.error.details).toMatchObject({ parameter: name, min: 1 });
      }
      expect((await list(server, `?${name}=1&${name}=2`)).status).toBe(400);
      for (const value of ["1", "100"]) expect((await list(server, `?${name}=${value}`)).status).toBe(200);
    }
    expect((await list(server, "?page_size=500")).body).toEqual({
      success: false,
      error: {
        code: "REQUEST.INVALID_PARAMETER",
        message: "page_size is 500, expected a whole number from 1 to 100.",
        severity: "error",
        details: { parameter: "page_size", value: "500", rule: "a whole number from 1 to 100", min: 1, max: 100 },
      },
    });
    expect((await list(server, "?page=999999999")).status).toBe(200);
    expect((await list(server, "?page=1000000000")).body.error).toEqual({
      code: "REQUEST.INVALID_PARAMETER",
      message: "page is 1000000000, expected a whole number from 1 to 999999999.",
      severity: "error",
      details: {
        parameter: "page",
        value: "1000000000",
        rule: "a whole number from 1 to 999999999",
        min: 1,
        max: 999_999_999,
      },
    });
  });

  test("has_more is false on the last page, also on a full one, and beyond it", async () => {
    const server = await startServer(...connected(4));
    const page = async (query: string) => {
      const { items, ...rest } = (await list(server, query)).body.data;
      return { count: items.length, ...rest };
    };
    expect(await page("?page_size=2")).toEqual({ count: 2, total: 4, page: 1, page_size: 2, has_more: true });
    expect(await page("?page_size=2&page=2")).toEqual({ count: 2, total: 4, page: 2, page_size: 2, has_more: false });
    expect(await page("?page_size=2&page=9")).toEqual({ count: 0, total: 4, page: 9, page_size: 2, has_more: false });
    expect(await page("?page=999999999&page_size=100")).toMatchObject({ count: 0, total: 4 });
  });

  test("the pages hold every match once, newest first, for any page_size", async () => {
    // Several patients share an updated_at, so the order also depends on the fp.
    const instants = ["2026-10-01T00:00:00.000Z", "2026-10-01T00:00:00.001Z", "2026-10-02T00:00:00.000Z"];
    const patients = Array.from({ length: 230 }, (_, index) =>
      patient({ updated_at: instants[index % 3] ?? "", species: index % 4 === 0 ? "cat" : "dog" }),
    );
    const server = await startServer(clinic(ours), ...patients.flatMap((one) => [one, connection(one.fp, ours)]));
    const key = await server.makeKey(ours, ["clinic.patient.view"]);
    const ordered = patients.toSorted((a, b) => compare(b.updated_at, a.updated_at) || compare(b.fp, a.fp));

    const filters = record({
      pageSize: integer({ min: 1, max: 100 }),
      species: constantFrom(null, "dog", "cat"),
      since: constantFrom(null, ...instants),
    });
    await assert(
      asyncProperty(filters, async ({ pageSize, species, since }) => {
        const query = `page_size=${pageSize}${species ? `&species=${species}` : ""}${since ? `&updated_since=${since}` : ""}`;
        const walked: string[] = [];
        for (let page = 1, more = true; more; page += 1) {
          const { data } = (await server.get(key, `/api/v1/patients?${query}&page=${page}`)).body;
          walked.push(...data.items.map((item) => item.fp));
          more = data.has_more;
        }
        const expected = ordered.filter(
          (one) => (species === null || one.species === species) && (since === null || one.updated_at >= since),
        );
        expect(walked).toEqual(expected.map((one) => one.fp));
      }),
      { numRuns: 40 },
    );
  });

  test("species filters exactly, and an unknown one matches nothing", async () => {
    const dog = patient();
    const cat = patient({ species: "cat" });
    const server = await startServer(clinic(ours), dog, cat, connection(dog.fp, ours), connection(cat.fp, ours));
    const fps = async (query: string) => (await list(server, query)).body.data.items.map((item) => item.fp);
    expect(await fps("?species=cat")).toEqual([cat.fp]);
    expect((await list(server, "?species=cat")).body.data.total).toBe(1);
    for (const other of ["DOG", "Dog", "hamster", "", "%ZZ", "cat%00"]) {
      expect((await list(server, `?species=${other}`)).body.data).toMatchObject({ items: [], total: 0 });
    }
    expect(await fps("?species=cat&updated_since=2026-10-02")).toEqual([]);
  });

  test("updated_since is inclusive, and accepts the usual forms of ISO 8601", async () => {
    const one = patient({ updated_at: "2026-10-01T08:00:00.000Z" });
    const server = await startServer(clinic(ours), one, connection(one.fp, ours));
    const total = async (since: string) => (await list(server, `?updated_since=${since}`)).body.data.total;
    for (const since of [
      "2026-10-01T08:00:00.000Z",
      "2026-10-01T08:00:00Z",
      "2026-10-01T08:00Z",
      "2026-10-01T08:00:00",
      "2026-10-01T11:00:00%2B03:00",
      "2026-10-01T11:00:00+03:00",
      "2026-10-01T11:00:00.000+0300",
      "2026-10-01T03:00:00-05:00",
      "2026-10-01t08:00:00z",
      "2026-10-01T08:00:00-00:00",
      "2026-10-01T08:00:00.0009999999999Z",
      "2026-09-30T23:59:60Z",
      "2026-10-01",
    ]) {
      expect([since, await total(since)]).toEqual([since, 1]);
    }
    for (const since of ["2026-10-01T08:00:00.001Z", "2026-10-01T11:00:00.001+03:00", "2026-10-02", "2999-01-01"]) {
      expect([since, await total(since)]).toEqual([since, 0]);
    }
  });

  test("an invalid updated_since gets 400", async () => {
    const server = await startServer(clinic(ours));
    for (const since of [
      "",
      "yesterday",
      "2026",
      "2026-02-30",
      "2026-W05",
      "1700000000",
      "10:00",
      "2026-10-01T25:00Z",
      "2026-10-01T08:59:60Z",
      "2026-10-01+08:00:00Z",
    ]) {
      const { status, body } = await list(server, `?updated_since=${since}`);
      expect([since, status, body.error?.code]).toEqual([since, 400, "REQUEST.INVALID_PARAMETER"]);
    }
    expect((await list(server, "?updated_since=2026-10-01&updated_since=2026-10-02")).status).toBe(400);
  });

  test("a newly connected patient is in the clinic's next list by updated_since", async () => {
    const one = patient({ updated_at: "2026-10-01T08:00:00.000Z" });
    const server = await startServer(clinic(ours), clinic(theirs), one, connection(one.fp, theirs));
    const since = `?updated_since=${new Date(noon).toISOString()}`;
    expect((await list(server, since)).body.data.total).toBe(0);

    await importEntities(server.store, connection(one.fp, ours));
    expect((await list(server, since)).body.data.items).toEqual([
      { ...published(one), updated_at: "2026-11-21T12:00:00.000Z" },
    ]);
  });

  test("unknown parameters are ignored and reported", async () => {
    const server = await startServer(...connected(1), clinic(theirs));
    const { headers, body } = await list(server, `?clinic_fp=${theirs}&page=1&%C3%BC=1`);
    expect(body.data.total).toBe(1);
    expect(headers["x-ignored-parameters"]).toBe("clinic_fp, %C3%BC");
    expect((await list(server, "?page=1&page_size=2&species=dog&updated_since=2026-01-01")).headers).not.toHaveProperty(
      "x-ignored-parameters",
    );
  });
});

describe("GET /api/v1/patients/{fp}", () => {
  test("an fp in the wrong case gets 404 with the format of an fp, without a database query", async () => {
    const one = patient();
    const server = await startServer(clinic(ours), one, connection(one.fp, ours));
    const key = await server.makeKey(ours, ["clinic.patient.view"]);
    let asked = 0;
    const counting: Store = {
      ...server.store,
      first: async (...question) => {
        asked += 1;
        return server.store.first(...question);
      },
      readAt: (_at, work) => work(counting),
    };
    const app = buildApp(counting, { pepper: server.pepper });
    const headers = { "x-api-key": key };
    const read = async (fp: string) => {
      const before = asked;
      const response = await app.inject({ url: `/api/v1/patients/${fp}`, headers });
      return { response, questions: asked - before };
    };
    await read(one.fp);
    // Servers that share a database query the versions of the key.
    const unknown = await read(newFp("patient"));
    for (const fp of [one.fp.toUpperCase(), one.fp.toLowerCase(), one.fp.replace("patient_", "Patient_")]) {
      const { response, questions } = await read(fp);
      expect(questions).toBe(unknown.questions - 1);
      expect([response.statusCode, response.json()]).toEqual([
        404,
        {
          success: false,
          error: {
            code: "PATIENT.NOT_FOUND",
            message: `Patient ${fp} does not exist.`,
            severity: "error",
            details: {
              parameter: "fp",
              value: fp,
              rule: "patient_ and a ULID of 26 digits and upper-case letters; fps are case-sensitive",
            },
          },
        },
      ]);
    }
    await app.close();
  });

  test("a shared patient is the same for both clinics", async () => {
    const one = patient({ breed: null, sex: null, date_of_birth: null, weight_kg: null });
    const server = await startServer([
      clinic(ours),
      clinic(theirs),
      one,
      connection(one.fp, ours),
      connection(one.fp, theirs),
    ]);
    for (const fp of [ours, theirs]) {
      const key = await server.makeKey(fp, ["clinic.patient.view"]);
      const { status, body } = await server.get(key, `/api/v1/patients/${one.fp}`);
      expect(status).toBe(200);
      expect(body).toEqual({ success: true, data: published(one), message: "OK" });
    }
  });

  test("unknown and deleted patients get 404", async () => {
    const deleted = patient({ deleted_at: "2026-10-05T00:00:00.000Z" });
    const server = await startServer(clinic(ours), deleted, connection(deleted.fp, ours));
    for (const fp of [deleted.fp, newFp("patient")]) {
      const { status, body } = await get(server, fp);
      expect(status).toBe(404);
      expect(body).toEqual({
        success: false,
        error: { code: "PATIENT.NOT_FOUND", message: `Patient ${fp} does not exist.`, severity: "error" },
      });
    }
  });

  test("a patient without an active connection gets 403", async () => {
    const [closed, foreign] = [patient(), patient()];
    const server = await startServer(
      [clinic(ours), clinic(theirs), closed, foreign],
      [connection(closed.fp, ours, false), connection(foreign.fp, theirs)],
    );
    for (const { fp } of [closed, foreign]) {
      const { status, body } = await get(server, fp);
      expect([status, body.error.code, body.error.severity]).toEqual([403, "PATIENT.ACCESS_DENIED", "error"]);
    }
  });

  test("a malformed fp gets 404, with the fp shortened and without control characters", async () => {
    const server = await startServer(clinic(ours));
    const malformed = [
      "x",
      newFp("cds"),
      newFp("patient").toLowerCase(),
      "patient_8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
      "patient_01%2F..%2Fx",
      "%00%0Ax",
      "a".repeat(3000),
    ];
    for (const fp of malformed) {
      const { status, body } = await get(server, fp);
      expect([fp, status, body.error.code]).toEqual([fp, 404, "PATIENT.NOT_FOUND"]);
      expect(body.error.message).toMatch(/^Patient [^\p{C}]{0,64} does not exist\.$/u);
    }
  });
});

function connected(count: number) {
  const patients = Array.from({ length: count }, () => patient());
  return [clinic(ours), ...patients, ...patients.map((one) => connection(one.fp, ours))];
}

async function list(server: TestServer, query: string) {
  return server.get(await server.makeKey(ours, ["clinic.patient.view"]), `/api/v1/patients${query}`);
}

async function get(server: TestServer, fp: string) {
  return server.get(await server.makeKey(ours, ["clinic.patient.view"]), `/api/v1/patients/${fp}`);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
