import { execFileSync } from "node:child_process";
import fs from "node:fs";
import type { AddressInfo } from "node:net";
import path from "node:path";
import createFetchClient from "openapi-fetch";
import { expect, test } from "vitest";
import { newFp } from "../../../shared/api/fp.ts";
import type { paths } from "../../../shared/client/api.ts";
import { type ApiFailure, createClient } from "../../../shared/client/client.ts";
import { type TypedDocument, typesOf } from "../../support/openapi-types.ts";
import {
  clinic,
  connection,
  keyPermissions,
  patient,
  published,
  startLimitedServer,
  startServer,
  study,
  type TestServer,
} from "../../server/harness.ts";

// Method: the client calls a server that listens on a port.

const own = newFp("clinic");
const dog = patient();
const cat = patient({ species: "cat" });
const TYPES = path.resolve(import.meta.dirname, "../../../shared/client/api.ts");

async function clientOf(server: Pick<TestServer, "app" | "makeKey">, key?: string) {
  await server.app.listen({ port: 0, host: "127.0.0.1" });
  const url = `http://127.0.0.1:${(server.app.server.address() as AddressInfo).port}`;
  const made = key ?? (await server.makeKey(own, keyPermissions));
  return { client: createClient({ url, key: made }), url, key: made };
}

async function failureOf(work: Promise<unknown>): Promise<Pick<ApiFailure, "status" | "code" | "retryAfterS">> {
  const failure = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  const { status, code, retryAfterS } = failure as ApiFailure;
  return { status, code, retryAfterS };
}

test("the committed types are those of the API document", async () => {
  const { app } = await startServer();
  const types = typesOf((await app.inject("/openapi.json")).json<TypedDocument>());
  const biome = path.resolve(import.meta.dirname, "../../../node_modules/@biomejs/biome/bin/biome");
  const formatted = execFileSync(process.execPath, [biome, "format", `--stdin-file-path=${TYPES}`], {
    input: types,
    encoding: "utf8",
  });
  if (process.env["UPDATE_CONTRACT"] === "1") fs.writeFileSync(TYPES, formatted);
  expect(fs.readFileSync(TYPES, "utf8")).toBe(formatted);
});

test("the client lists patients and reads one patient and one study", async () => {
  const server = await startServer(clinic(own), dog, cat, connection(dog.fp, own), connection(cat.fp, own));
  const { client, key } = await clientOf(server);
  const pushed = study({ patient_fp: dog.fp });
  await server.push(key, pushed);
  const { data } = await client.get("/api/v1/patients", { query: { species: "cat", page_size: 5 } });
  expect([data.items, data.total, data.page_size]).toEqual([[published(cat)], 1, 5]);
  expect((await client.get("/api/v1/patients/{fp}", { path: { fp: dog.fp } })).data).toEqual(published(dog));
  const found = await client.get("/api/v1/lab/diagnostics/{fp}", { path: { fp: pushed.fp } });
  expect(found.data.results).toEqual(pushed.results);
});

test("an unknown key, an unknown record, a wrong parameter and too many requests are failures with a code", async () => {
  const server = await startServer(clinic(own), dog, connection(dog.fp, own));
  const { client, url } = await clientOf(server);
  const stranger = createClient({ url, key: "sk_live_unknown" });
  const none = { retryAfterS: null };
  const list = "/api/v1/lab/diagnostics";
  expect(await failureOf(stranger.get(list, {}))).toEqual({ status: 401, code: "AUTH.UNAUTHORIZED", ...none });
  expect(await failureOf(client.get("/api/v1/patients/{fp}", { path: { fp: newFp("patient") } }))).toEqual({
    status: 404,
    code: "PATIENT.NOT_FOUND",
    ...none,
  });
  expect(await failureOf(client.get(list, { query: { page: 0 } }))).toEqual({
    status: 400,
    code: "REQUEST.INVALID_PARAMETER",
    ...none,
  });
  const once = { minute: 1, hour: 1 };
  const limits = { integration: once, device: once, partner: once, ingest: once, addressMinute: 9 };
  const limited = await clientOf(await startLimitedServer(limits, clinic(own)));
  await limited.client.get(list, {});
  expect(await failureOf(limited.client.get(list, {}))).toEqual({
    status: 429,
    code: "AUTH.RATE_LIMITED",
    retryAfterS: 3600,
  });
});

test("the changed studies of several pages come once, and the next call has the later ones", async () => {
  const server = await startServer(clinic(own), dog, connection(dog.fp, own));
  const { client, key } = await clientOf(server);
  expect(await client.changedStudies(null)).toEqual({ studies: [], cursor: null });
  const studies = Array.from({ length: 230 }, () => study({ patient_fp: dog.fp, results: [] }));
  for (let at = 0; at < studies.length; at += 100) await server.push(key, ...studies.slice(at, at + 100));
  const first = await client.changedStudies(null);
  expect(first.studies.map(({ fp }) => fp).toSorted()).toEqual(studies.map(({ fp }) => fp).toSorted());
  server.clock.now += 60_000;
  const [late, corrected] = [study({ patient_fp: dog.fp }), { ...studies[0], revision: 2, device_name: "Corrected" }];
  await server.push(key, late, corrected);
  const next = await client.changedStudies(first.cursor);
  expect(
    next.studies
      .slice(0, 2)
      .map(({ fp }) => fp)
      .toSorted(),
  ).toEqual([late.fp, corrected.fp ?? ""].toSorted());
  expect((await client.changedStudies(next.cursor)).studies).toHaveLength(2);
});

test("a study that leaves the list between two pages makes the client begin again", async () => {
  const item = (fp: string) => ({ fp, updated_at: "2026-11-21T12:00:00.000Z" });
  const answers = [
    { items: [item("a"), item("b")], total: 4, has_more: true },
    { items: [item("d")], total: 3, has_more: false },
    { items: [item("a"), item("c")], total: 3, has_more: true },
    { items: [item("d")], total: 3, has_more: false },
  ];
  const client = createClient({
    url: "https://vetwire.example/",
    key: "sk_live_test",
    fetch: async () => Response.json({ success: true, data: answers.shift() }),
  });
  expect((await client.changedStudies(null)).studies.map(({ fp }) => fp)).toEqual(["a", "c", "d"]);
});

test("the types also fit openapi-fetch", async () => {
  const server = await startServer(clinic(own), dog, connection(dog.fp, own));
  const { url, key } = await clientOf(server);
  const headers = { "x-api-key": key, authorization: `Bearer ${key}` };
  const client = createFetchClient<paths>({ baseUrl: url, headers });
  const { data } = await client.GET("/api/v1/patients/{fp}", { params: { path: { fp: dog.fp } } });
  expect(data?.data.name).toBe(dog.name);
  const { error } = await client.GET("/api/v1/lab/diagnostics", { params: { query: { updated_since: "x" } } });
  expect(error?.error.code).toBe("REQUEST.INVALID_PARAMETER");
});
