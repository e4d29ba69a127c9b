import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { buildApp } from "../../../../server/app.ts";
import type { Permission } from "../../../../server/http/auth/api-keys.ts";
import { type ErrorEnvelope, fromClientError } from "../../../../server/http/errors.ts";
import { exampleFp, exampleUlid } from "../../../../server/http/openapi/examples.ts";
import { memoryCounters } from "../../../../server/http/rate-limit/memory-counters.ts";
import { defaultLimits } from "../../../../server/http/rate-limit/rate-limiter.ts";
import { DamagedRecord } from "../../../../server/database/damaged-records.ts";
import { StoreUnavailable } from "../../../../server/database/query.ts";
import type { Store } from "../../../../server/database/store.ts";
import { setSuspended } from "../../../../server/records/clinics/clinics.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { type Answer, type ApiDocument, Contract } from "../../../support/runner/contract.ts";
import {
  clinic,
  connection,
  importEntities,
  noon,
  patient,
  startLimitedServer,
  startServer,
  study,
  temporaryFolder,
  type TestServer,
} from "../../harness.ts";
import { event, item, soap } from "../../records.ts";

const ours = newFp("clinic");
const theirs = newFp("clinic");
const one = patient();
const record = soap(one.fp, ours);
const { revision: _r, dedupe_key: _d, source: _s, patient_hint: _h, ...seen } = study({ patient_fp: one.fp });
const imported = { type: "study" as const, ...seen, patient_fp: one.fp };
const entities = [
  clinic(ours),
  clinic(theirs),
  one,
  connection(one.fp, ours),
  record,
  imported,
  event(ours),
  item(ours),
];

const reads: Permission[] = [
  "clinic.patient.view",
  "clinic.calendar.view",
  "clinic.inventory.view",
  "clinic.audit.view",
];
const answering = [
  "/api/v1/patients",
  `/api/v1/patients/${one.fp}`,
  "/api/v1/soap",
  `/api/v1/soap/${record.fp}`,
  "/api/v1/lab/analytes",
  "/api/v1/lab/diagnostics",
  `/api/v1/lab/diagnostics/${seen.fp}`,
  `/api/v1/lab/diagnostics/${seen.fp}/trail`,
  `/api/v1/lab/diagnostics/${seen.fp}/report.pdf`,
  "/api/v1/calendar/events",
  "/api/v1/inventory",
  "/api/v1/changes",
  "/api/v1/events",
];

/** A position of an event that is not kept. */
const expired = Buffer.from(JSON.stringify(["events", 1, 1, 1])).toString("base64url");

const CONTRACT = new URL("../../contract.json", import.meta.url);

/** Returns apps with a known key whose reads fail, since no test can make SQLite refuse a reader. */
async function failingApps({ store, pepper, clock }: TestServer, key: string) {
  const errors = [
    new StoreUnavailable("gone"),
    new Error("a fault of ours"),
    new DamagedRecord("study", { fp: "cds_1" }),
  ];
  return Promise.all(
    errors.map(async (error) => {
      let fails = false;
      const all: Store["all"] = async (...query) => {
        if (fails) throw error;
        return store.all(...query);
      };
      const first: Store["first"] = async (...query) => {
        if (fails) throw error;
        return store.first(...query);
      };
      const counters = memoryCounters();
      const app = buildApp({ ...store, all, first }, { pepper, counters, now: () => clock.now });
      onTestFinished(() => app.close());
      await app.inject({ url: "/api/v1/patients/x", headers: holding(key) });
      fails = true;
      return app;
    }),
  );
}

function holding(key: string) {
  return { "x-api-key": key, authorization: `Bearer ${key}` };
}

async function documentOf({ app }: Pick<TestServer, "app">): Promise<ApiDocument> {
  return (await app.inject("/openapi.json")).json<ApiDocument>();
}

/** Yields every object of a JSON value with its path. */
function* objectsIn(value: unknown, place = "#"): Generator<[place: string, object: Record<string, unknown>]> {
  if (typeof value !== "object" || value === null) return;
  yield [place, value as Record<string, unknown>];
  for (const [name, inner] of Object.entries(value)) yield* objectsIn(inner, `${place}/${name}`);
}

const once = { minute: 1, hour: 1 };
const onceEach = { integration: once, device: once, partner: once, ingest: once, addressMinute: 1 };

describe("the API document", () => {
  test("the API document equals contract.json", async () => {
    const served = await documentOf(await startLimitedServer(defaultLimits));
    if (process.env["UPDATE_CONTRACT"] === "1") writeFileSync(CONTRACT, JSON.stringify(served, null, 2));
    const kept = JSON.parse(readFileSync(CONTRACT, "utf8")) as unknown;
    const changes = differences(kept, served);
    const advice = "Clients were promised otherwise. If it is to be so: npm run contract, and commit the file.";
    expect(changes.length > 0 ? [...changes, advice] : []).toEqual([]);
  });

  test("every documented status and header occurs in a response", async () => {
    const server = await startServer(...entities);
    const contract = new Contract(await documentOf(server));
    const meet = async ({ app }: Pick<TestServer, "app">, url: string, headers: Record<string, string> = {}) => {
      const { statusCode: status, body: text, ...response } = await app.inject({ url, headers });
      expect(
        contract.problems({ method: "GET", url, status, headers: Object.entries(response.headers), text }),
      ).toEqual([]);
      return response.headers;
    };
    // A second record for each list.
    const two = patient();
    const gone = [patient(), patient()];
    const connected = [two, ...gone].map(({ fp }) => connection(fp, ours));
    const second = { ...imported, fp: newFp("cds"), patient_fp: two.fp };
    await importEntities(server.store, two, ...gone, ...connected, second, item(ours), event(ours), soap(two.fp, ours));
    await importEntities(server.store, ...gone.map((each) => ({ ...each, deleted_at: each.updated_at })));
    const key = await server.makeKey(ours, reads);
    const agentKey = await server.makeKey(ours, ["clinic.lab.ingest"]);
    const foreignKey = await server.makeKey(theirs, reads);

    const limited = await startLimitedServer(onceEach, ...entities);
    const limitedKey = await limited.makeKey(ours, reads);
    await limited.get(limitedKey, "/api/v1/patients");

    const apart = await failingApps(server, key);

    for (const url of answering) {
      const { etag } = await meet(server, `${url}?nothing=1`, holding(key));
      await meet(server, url, { ...holding(key), "if-none-match": String(etag) });
      await meet(server, url, { ...holding(key), "if-none-match": "*" });
      await meet(server, url);
      await meet(server, url, holding(agentKey));
      await meet(server, `${url}?nothing=1`, holding(foreignKey));
      await meet(limited, url, holding(limitedKey));
      for (const app of apart) await meet({ app }, `${url}?nothing=1`, holding(key));
      const [, folder, rest = ""] = /^(.*\/)[a-z]+_\w+(\/.+)?$/.exec(url) ?? [];
      if (folder === undefined) {
        await meet(server, `${url}?page=0&page_size=0&type=x&nothing=1`, holding(key));
        for (const query of ["page_size=1", "page_size=1&updated_since=1970-01-01"]) {
          await meet(server, `${url}?${query}`, holding(key));
          await meet(server, `${url}?${query}`, { ...holding(key), "if-none-match": "*" });
        }
      } else {
        for (const fp of ["%zz", "x".repeat(5000)]) await meet(server, `${folder}${fp}${rest}`, holding(key));
        await meet(server, `${folder}x${rest}?nothing=1`, holding(key));
      }
    }
    await meet(server, `/api/v1/events?after=${expired}&nothing=1`, holding(key));
    const waiting = study();
    await server.push(agentKey, waiting);
    for (const fp of [waiting.fp, seen.fp]) {
      await meet(server, `/api/v1/lab/diagnostics/${fp}/report.pdf?language=xx&nothing=1`, holding(key));
      await meet(server, `/api/v1/lab/diagnostics/${fp}/report.pdf?nothing=1`, holding(key));
    }
    await meet(server, `/api/v1/lab/diagnostics/${seen.fp}?include=x&nothing=1`, holding(key));
    // The catalogue is in no database, so that only the search of an unknown key meets its faults.
    const isMet = (each: string) => !/^\/api\/v1\/lab\/analytes 50[03]\b/.test(each);
    expect(contract.missing.filter(isMet)).toEqual([]);
    expect(contract.missingHeaders.filter(isMet)).toEqual([]);
  });

  test("the contract check reports an undocumented field, status, header or type", async () => {
    const server = await startServer(...entities);
    const contract = new Contract(await documentOf(server));
    const url = `/api/v1/patients/${one.fp}`;
    const key = await server.makeKey(ours, reads);
    const { status, headers, body } = await server.get(key, url);
    const good: Answer = { method: "GET", url, status, headers: Object.entries(headers), text: JSON.stringify(body) };
    const problems = (changes: Partial<Answer>) => contract.problems({ ...good, ...changes });
    const withData = (changes: object) =>
      problems({ text: JSON.stringify({ ...body, data: { ...body.data, ...changes } }) });
    const prefix = `GET ${url} is`;

    expect(problems({})).toEqual([]);
    expect(withData({ owner: "x" })).toEqual([`${prefix} 200: the body/data must NOT have additional properties`]);
    expect(withData({ breed: undefined })).toEqual([
      `${prefix} 200: the body/data must have required property 'breed'`,
    ]);
    expect(withData({ weight_kg: "12" })).not.toEqual([]);
    expect(problems({ status: 418 })).toEqual([`${prefix} 418: the status is not documented`]);
    expect(problems({ headers: [["content-type", "text/html"]] })).toEqual([
      `${prefix} 200: X-Request-Id is missing`,
      `${prefix} 200: ETag is missing`,
      `${prefix} 200: expected content type application/json; charset=utf-8, got text/html`,
    ]);
    expect(problems({ headers: [...good.headers, ["x-secret", "1"]] })).toEqual([
      `${prefix} 200: x-secret is not documented`,
    ]);
    // An error code of another status.
    const forbidden = { success: false, error: { code: "AUTH.FORBIDDEN", message: "", severity: "error" } };
    const ofErrors = [...good.headers].filter(([name]) => name !== "etag");
    expect(problems({ status: 403, headers: ofErrors, text: JSON.stringify(forbidden) })).toEqual([]);
    expect(problems({ status: 404, headers: ofErrors, text: JSON.stringify(forbidden) })).not.toEqual([]);
    expect(problems({ url: "/api/v1/nothing" })).not.toEqual([]);
  });

  test("the API document allows additional fields", async () => {
    const forbidding = [...objectsIn(await documentOf(await startServer()))].filter(
      ([, object]) => "additionalProperties" in object || "unevaluatedProperties" in object,
    );
    expect(forbidding).toEqual([]);
  });

  test("every field, parameter, header, response, tag and security scheme has a description", async () => {
    const document = await documentOf(await startServer());
    const places = new Map(objectsIn(document));
    const isDescribed = ({ description, $ref }: Record<string, unknown>): boolean =>
      typeof $ref === "string"
        ? isDescribed(places.get($ref) ?? {})
        : typeof description === "string" && /^[A-Z`].*[.:|]$/s.test(description);
    const described =
      /\/(properties|parameters|headers|responses|tags|securitySchemes|components\/schemas)\/[^/]+$|\/servers\/\d+$|^#\/info$/;
    const nameless = [...places].filter(([place, object]) => described.test(place) && !isDescribed(object));
    expect(nameless.map(([place]) => place)).toEqual([]);

    const operations = Object.values(document.paths).map(({ get }) => get as Record<string, unknown>);
    const named = operations.map(({ operationId, summary, description, tags }) =>
      [operationId, summary, description, ...(tags as string[])].every((text) => typeof text === "string"),
    );
    expect(named).toEqual(answering.map(() => true));
  });

  test("fingerprints, times and dates have a pattern and a format", async () => {
    const { schemas } = (await documentOf(await startServer())).components;
    const fields = Object.values(schemas).flatMap(({ properties = {} }) => Object.entries(properties));
    const shapes = fields.flatMap(([name, field]) => {
      const kind = /(?:^|_)(fp|at|date_of_birth)$/.exec(name)?.[1];
      const { pattern, format } = field.anyOf?.[0] ?? field;
      return kind === undefined ? [] : [[kind, format, pattern?.replace(/^\^(\([a-z|]+\)|[a-z]+)_/, "")].join(" ")];
    });
    expect([...new Set(shapes)].toSorted()).toEqual([
      "at date-time ^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$",
      "date_of_birth date ^\\d{4}-\\d\\d-\\d\\d$",
      "fp  [0-7][0-9A-HJKMNP-TV-Z]{25}$",
    ]);
  });

  test("every response, error and header has a valid example", async () => {
    const document = await documentOf(await startServer());
    expect(new Contract(document).faultsOfExamples).toEqual([]);

    // An invalid example is reported.
    const faulty = JSON.parse(
      JSON.stringify(document).replace('"weight_kg":12.5', '"weight_kg":"12.5"'),
    ) as ApiDocument;
    const unit = "#/paths/~1api~1v1~1patients/get/responses/200/content/application~1json";
    expect(new Contract(faulty).faultsOfExamples).toEqual([
      `${unit}/data/items/0/weight_kg must be number, ${unit}/data/items/0/weight_kg must be null, ` +
        `${unit}/data/items/0/weight_kg must match a schema in anyOf`,
    ]);
  });

  test("the example of every error equals the response of the server", async () => {
    const stranger = patient({ fp: exampleFp("patient") });
    const server = await startServer(...entities, stranger);
    const apart = await startServer(...entities);
    const suspended = await startServer(...entities);
    await suspended.store.transaction((session) => setSuspended(session, ours, noon));
    const limited = await startLimitedServer(onceEach, ...entities);
    const key = await server.makeKey(ours, reads);
    const limitedKey = await limited.makeKey(ours, reads);
    await limited.get(limitedKey, "/api/v1/patients");
    limited.clock.now = noon + 3_588_000;

    const waiting = study();
    await server.push(await server.makeKey(ours, ["clinic.lab.ingest"]), waiting);

    const returned = [
      fromClientError({ code: "ERR_HTTP_REQUEST_TIMEOUT" }),
      fromClientError({ code: "HPE_HEADER_OVERFLOW" }),
    ].map(({ envelope }) => envelope);
    for (const [app, method, url, headers] of [
      [server.app, "GET", "/api/v1/patients", {}],
      [server.app, "GET", "/api/v1/patients", holding(await server.makeKey(ours, ["clinic.lab.ingest"]))],
      [limited.app, "GET", "/api/v1/patients", holding(limitedKey)],
      [limited.app, "GET", `/api/v1/soap/${record.fp}`, holding(limitedKey)],
      [server.app, "GET", `/api/v1/patients/${stranger.fp}`, holding(key)],
      [apart.app, "GET", `/api/v1/patients/${stranger.fp}`, holding(await apart.makeKey(ours, reads))],
      [suspended.app, "GET", "/api/v1/patients", holding(await suspended.makeKey(ours, reads))],
      [server.app, "GET", "/api/v1/patients?page_size=500", holding(key)],
      [server.app, "GET", "/api/v1/calendar/events?start_date=2026-01-01&end_date=2026-12-31", holding(key)],
      [server.app, "GET", `/api/v1/events?after=${expired}`, holding(key)],
      [server.app, "GET", `/api/v1/lab/diagnostics/${waiting.fp}/report.pdf`, holding(key)],
      [server.app, "GET", "/api/v1/patients/%zz", holding(key)],
      [server.app, "GET", `/api/v1/patients/${"x".repeat(5000)}`, holding(key)],
      [server.app, "GET", "/api/v1/example", holding(key)],
      [server.app, "POST", "/api/v1/patients", holding(key)],
      ...(await failingApps(server, key)).map(
        (failing) => [failing, "GET", "/api/v1/inventory", holding(key)] as const,
      ),
    ] as const) {
      const text = (await app.inject({ method, url, headers })).body;
      returned.push(JSON.parse(text.replace(/(?<="request_id":")\w+/, exampleUlid)) as ErrorEnvelope);
    }

    const { examples } = (await documentOf(server)).components;
    const byCode = (envelopes: ErrorEnvelope[]) => envelopes.toSorted((a, b) => (a.error.code < b.error.code ? -1 : 1));
    expect(byCode(Object.values(examples).map(({ value }) => value as ErrorEnvelope))).toEqual(byCode(returned));
  });

  test("the API document passes redocly lint without a warning", async () => {
    const file = join(temporaryFolder(), "openapi.json");
    writeFileSync(file, JSON.stringify(await documentOf(await startServer())));
    const cli = "node_modules/@redocly/cli/bin/cli.js";
    const lint = spawnSync(process.execPath, [cli, "lint", file, "--config", ".redocly.yaml", "--format", "json"], {
      cwd: fileURLToPath(new URL("../../../../", import.meta.url)),
      encoding: "utf8",
      timeout: 60_000,
    });
    const { totals, problems } = JSON.parse(lint.stdout) as { totals: object; problems: object[] };
    expect({ status: lint.status, totals, problems }).toEqual({
      status: 0,
      totals: { errors: 0, warnings: 0, ignored: 0 },
      problems: [],
    });
  });
});

describe("the page of the API", () => {
  test("the page of the API loads without internet and key, and spends no budget", async () => {
    const { app } = await startServer(clinic(ours));
    const page = await app.inject("/docs/api");
    expect([page.statusCode, page.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    const files = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file = ""]) => file);
    expect(files).toContain("/docs/api/static/swagger-ui-bundle.js");
    for (const url of [...files, "/docs/api/json", "/docs/api/", "/openapi.json"]) {
      const { statusCode, headers } = await app.inject(url);
      expect([url, statusCode]).toEqual([url, 200]);
      expect(Object.keys(headers).filter((name) => name.includes("ratelimit"))).toEqual([]);
    }
    const policy = String(page.headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(policy).not.toMatch(/https?:|\*/);
    expect((await app.inject("/docs/api/json")).json()).toEqual((await app.inject("/openapi.json")).json());
  });

  test("an error of the page of the API has the envelope", async () => {
    const { app } = await startServer(clinic(ours));
    for (const [method, url, headers, status, code] of [
      ["GET", "/docs/api/nothing", {}, 404, "ROUTE.NOT_FOUND"],
      ["GET", "/docs/api/static/nothing.js", {}, 404, "ROUTE.NOT_FOUND"],
      ["GET", "/docs/api/static/", {}, 404, "ROUTE.NOT_FOUND"],
      ["GET", "/docs/api/static/..%2f..%2fpackage.json", {}, 404, "ROUTE.NOT_FOUND"],
      ["GET", "/docs/api/static/%00", {}, 400, "REQUEST.MALFORMED"],
      ["GET", "/docs/api/static/swagger-ui.css", { range: "bytes=99999999-" }, 400, "REQUEST.MALFORMED"],
      ["POST", "/docs/api", {}, 405, "ROUTE.METHOD_NOT_ALLOWED"],
      ["POST", "/openapi.json", {}, 405, "ROUTE.METHOD_NOT_ALLOWED"],
    ] as const) {
      const response = await app.inject({ method, url, headers });
      expect([url, response.statusCode, response.headers["content-type"]]).toEqual([
        url,
        status,
        "application/json; charset=utf-8",
      ]);
      expect(response.json()).toMatchObject({ success: false, error: { code, severity: "error" } });
    }
  });
});

/** Describes each difference between two JSON values. */
function differences(kept: unknown, served: unknown, place = "#"): string[] {
  if (typeof kept !== "object" || typeof served !== "object" || kept === null || served === null) {
    return kept === served ? [] : [`${place} was ${shown(kept)}, is ${shown(served)}`];
  }
  const names = new Set([...Object.keys(kept), ...Object.keys(served)]);
  return [...names].flatMap((name) => {
    const at = (value: object) => (value as Record<string, unknown>)[name];
    return differences(at(kept), at(served), `${place} ${name}`);
  });
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "not there";
  return text.length > 100 ? `${text.slice(0, 97)}...` : text;
}
