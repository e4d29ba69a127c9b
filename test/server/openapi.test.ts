import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { buildApp } from "../../server/app.ts";
import type { Permission } from "../../server/auth.ts";
import { type Store, StoreUnavailable } from "../../server/store/store.ts";
import { newFp } from "../../shared/fp.ts";
import { type Answer, type ApiDocument, Contract } from "../support/contract.ts";
import { clinic, connection, patient, startLimitedServer, startServer, study, type TestServer } from "./harness.ts";
import { event, item, soap } from "./records.ts";

const ours = newFp("clinic");
const one = patient();
const record = soap(one.fp, ours);
const { revision: _r, dedupe_key: _d, source: _s, patient_hint: _h, ...seen } = study({ patient_fp: one.fp });
const imported = { type: "study" as const, ...seen, patient_fp: one.fp };
const entities = [clinic(ours), one, connection(one.fp, ours), record, imported, event(ours), item(ours)];

const reads: Permission[] = ["clinic.patient.view", "clinic.calendar.view", "clinic.inventory.view"];
const answering = [
  "/api/v1/patients",
  `/api/v1/patients/${one.fp}`,
  `/api/v1/soap/${record.fp}`,
  `/api/v1/lab/diagnostics/${seen.fp}`,
  "/api/v1/calendar/events",
  "/api/v1/inventory",
];

const CONTRACT = new URL("contract.json", import.meta.url);

describe("the API document", () => {
  test("is the one in contract.json", async () => {
    const { app } = await startServer(clinic(ours));
    const served = (await app.inject("/openapi.json")).json<unknown>();
    if (process.env["UPDATE_CONTRACT"] === "1") writeFileSync(CONTRACT, JSON.stringify(served, null, 2));
    const kept = JSON.parse(readFileSync(CONTRACT, "utf8")) as unknown;
    const changes = differences(kept, served);
    const advice = "Clients were promised otherwise. If it is to be so: npm run contract, and commit the file.";
    expect(changes.length > 0 ? [...changes, advice] : []).toEqual([]);
  });

  test("148 has no status that cannot be met", async () => {
    const server = await startServer(...entities);
    const contract = new Contract((await server.app.inject("/openapi.json")).json<ApiDocument>());
    const meet = async ({ app }: Pick<TestServer, "app">, url: string, headers: Record<string, string> = {}) => {
      const { statusCode: status, body: text, ...response } = await app.inject({ url, headers });
      expect(
        contract.problems({ method: "GET", url, status, headers: Object.entries(response.headers), text }),
      ).toEqual([]);
      return response.headers;
    };
    const holding = (key: string) => ({ "x-api-key": key, authorization: `Bearer ${key}` });
    const key = await server.makeKey(ours, reads);
    const agentKey = await server.makeKey(ours, ["clinic.lab.ingest"]);

    const once = { minute: 1, hour: 1 };
    const limits = { integration: once, device: once, partner: once, ingest: once, addressMinute: 1 };
    const limited = await startLimitedServer(limits, ...entities);
    const limitedKey = await limited.makeKey(ours, reads);
    await limited.get(limitedKey, "/api/v1/patients");

    // SQLite refuses a reader in no way that a test can bring about; a database on another machine does.
    const failing = (error: Error) => {
      const fail = async (): Promise<never> => {
        throw error;
      };
      return buildApp({ ...server.store, all: fail, first: fail } satisfies Store, { pepper: server.pepper });
    };
    const apart = [failing(new StoreUnavailable("gone")), failing(new Error("a fault of ours"))];

    for (const url of answering) {
      const { etag } = await meet(server, url, holding(key));
      await meet(server, url, { ...holding(key), "if-none-match": String(etag) });
      await meet(server, url);
      await meet(server, url, holding(agentKey));
      await meet(limited, url, holding(limitedKey));
      for (const app of apart) await meet({ app }, url, holding(key));
      const folder = /^(.*\/)[a-z]+_\w+$/.exec(url)?.[1];
      if (folder === undefined) {
        await meet(server, `${url}?page=0&type=x`, holding(key));
      } else {
        for (const fp of ["%zz", "x", "x".repeat(5000)]) await meet(server, `${folder}${fp}`, holding(key));
      }
    }
    await Promise.all(apart.map((app) => app.close()));
    expect(contract.missing).toEqual([]);
  });

  test("148 is what answers are held to: a field, status, header or type that it does not have is told", async () => {
    const server = await startServer(...entities);
    const contract = new Contract((await server.app.inject("/openapi.json")).json<ApiDocument>());
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
      `${prefix} 200: the type is text/html`,
    ]);
    expect(problems({ headers: [...good.headers, ["x-secret", "1"]] })).toEqual([
      `${prefix} 200: x-secret is not documented`,
    ]);
    // An error that this status does not have.
    const forbidden = { success: false, error: { code: "AUTH.FORBIDDEN", message: "", severity: "error" } };
    const ofErrors = [...good.headers].filter(([name]) => name !== "etag");
    expect(problems({ status: 403, headers: ofErrors, text: JSON.stringify(forbidden) })).toEqual([]);
    expect(problems({ status: 404, headers: ofErrors, text: JSON.stringify(forbidden) })).not.toEqual([]);
    expect(problems({ url: "/api/v1/nothing" })).not.toEqual([]);
  });
});

describe("the docs page", () => {
  test("is whole without the internet and without a key, and spends no budget", async () => {
    const { app } = await startServer(clinic(ours));
    const page = await app.inject("/docs");
    expect([page.statusCode, page.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    const files = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file = ""]) => file);
    expect(files).toContain("/docs/static/swagger-ui-bundle.js");
    for (const url of [...files, "/docs/json", "/docs/", "/openapi.json"]) {
      const { statusCode, headers } = await app.inject(url);
      expect([url, statusCode]).toEqual([url, 200]);
      expect(Object.keys(headers).filter((name) => name.includes("ratelimit"))).toEqual([]);
    }
    const policy = String(page.headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(policy).not.toMatch(/https?:|\*/);
    expect((await app.inject("/docs/json")).json()).toEqual((await app.inject("/openapi.json")).json());
  });

  test("has errors in the envelope", async () => {
    const { app } = await startServer(clinic(ours));
    for (const [method, url, headers, status, code] of [
      ["GET", "/docs/nothing", {}, 404, "ROUTE.NOT_FOUND"],
      ["GET", "/docs/static/nothing.js", {}, 404, "ROUTE.NOT_FOUND"],
      ["GET", "/docs/static/", {}, 404, "ROUTE.NOT_FOUND"],
      ["GET", "/docs/static/..%2f..%2fpackage.json", {}, 404, "ROUTE.NOT_FOUND"],
      ["GET", "/docs/static/%00", {}, 400, "REQUEST.MALFORMED"],
      ["GET", "/docs/static/swagger-ui.css", { range: "bytes=99999999-" }, 400, "REQUEST.MALFORMED"],
      ["POST", "/docs", {}, 405, "ROUTE.METHOD_NOT_ALLOWED"],
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

/** Each place where two JSON values differ, in words. */
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
