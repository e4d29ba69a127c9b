import { execFileSync } from "node:child_process";
import fs from "node:fs";
import type { AddressInfo } from "node:net";
import path from "node:path";
import createFetchClient from "openapi-fetch";
import { expect, test } from "vitest";
import { newFp } from "../../../shared/api/fp.ts";
import type { paths } from "../../../shared/client/api.ts";
import { type ApiFailure, createClient } from "../../../shared/client/client.ts";
import { pruneFeeds } from "../../../server/records/webhooks/feed-pruning.ts";
import { type TypedDocument, typesOf } from "../../support/runner/openapi-types.ts";
import {
  clinic,
  connection,
  importEntities,
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

/** Reads a walk to its end. */
async function collect<Page extends { cursor: string }>(walk: AsyncIterable<Page>): Promise<Page[]> {
  const pages: Page[] = [];
  for await (const page of walk) pages.push(page);
  return pages;
}

test("the changed studies of several pages come once, and the next walk has the later ones alone", async () => {
  const server = await startServer(clinic(own), dog, connection(dog.fp, own));
  const { client, key } = await clientOf(server);
  const read = async (cursor: string | null) => {
    const pages = await collect(client.changedStudies(cursor));
    return { fps: pages.flatMap(({ studies }) => studies.map(({ fp }) => fp)), cursor: pages.at(-1)?.cursor ?? "" };
  };
  const empty = await read(null);
  expect(empty.fps).toEqual([]);
  const studies = Array.from({ length: 230 }, () => study({ patient_fp: dog.fp, results: [] }));
  for (let at = 0; at < studies.length; at += 100) await server.push(key, ...studies.slice(at, at + 100));
  const first = await read(empty.cursor);
  expect(first.fps.toSorted()).toEqual(studies.map(({ fp }) => fp).toSorted());
  server.clock.now += 60_000;
  const [late, corrected] = [study({ patient_fp: dog.fp }), { ...studies[0], revision: 2, device_name: "Corrected" }];
  await server.push(key, late, corrected);
  const next = await read(first.cursor);
  expect(next.fps.toSorted()).toEqual([late.fp, corrected.fp ?? ""].toSorted());
  expect((await read(next.cursor)).fps).toEqual([]);
});

test("a walk that ended in the middle goes on at its cursor, and misses no change since its start", async () => {
  const all = Array.from({ length: 250 }, () => patient());
  const server = await startServer(
    clinic(own),
    all,
    all.map(({ fp }) => connection(fp, own)),
  );
  const { client } = await clientOf(server);
  const copy = new Map<string, string>();
  const store = ({ patients }: { patients: readonly { fp: string; name: string }[] }) => {
    for (const { fp, name } of patients) copy.set(fp, name);
  };
  let cursor: string | null = null;
  for await (const page of client.changedPatients(null)) {
    store(page);
    cursor = page.cursor;
    break;
  }
  expect(copy.size).toBe(100);
  // A record that was read already, and one that was not.
  const renamed = [all.find(({ fp }) => copy.has(fp)), all.find(({ fp }) => !copy.has(fp))];
  await importEntities(server.store, ...renamed.map((each) => ({ ...each, name: "Renamed" })));
  for await (const page of client.changedPatients(cursor)) store(page);
  expect(copy).toEqual(new Map(all.map((each) => [each.fp, renamed.includes(each) ? "Renamed" : each.name] as const)));
});

test("deleted and disconnected patients and their studies come as removed, until they return", async () => {
  const server = await startServer(clinic(own), dog, cat, connection(dog.fp, own), connection(cat.fp, own));
  const { client, key } = await clientOf(server);
  const pushed = study({ patient_fp: dog.fp });
  await server.push(key, pushed);
  const removed = async (cursor: string | null) => {
    const pages = await collect(client.removedRecords(cursor));
    return { fps: pages.flatMap((page) => page.removed.map(({ fp }) => fp)), cursor: pages.at(-1)?.cursor ?? "" };
  };
  const none = await removed(null);
  expect(none.fps).toEqual([]);
  server.clock.now += 60_000;
  await importEntities(server.store, connection(dog.fp, own, false), { ...cat, deleted_at: cat.updated_at });
  const gone = await removed(none.cursor);
  expect(gone.fps.toSorted()).toEqual([dog.fp, cat.fp, pushed.fp].toSorted());
  expect((await removed(gone.cursor)).fps).toEqual([]);
  await importEntities(server.store, connection(dog.fp, own));
  expect((await removed(null)).fps).toEqual([cat.fp]);
});

test("the feed begins at its end, comes in pages, and says when its next events are no longer kept", async () => {
  const server = await startServer(clinic(own));
  const { client } = await clientOf(server);
  const read = async (cursor: string | null) => {
    const pages = await collect(client.events(cursor));
    const fps = pages.map(({ events }) => events.map(({ fp }) => fp));
    return { fps, cursor: pages.at(-1)?.cursor ?? "" };
  };
  const start = await read("latest");
  const all = Array.from({ length: 501 }, () => patient());
  await importEntities(server.store, ...all, ...all.map(({ fp }) => connection(fp, own)));
  const news = await read(start.cursor);
  expect(news.fps.map(({ length }) => length)).toEqual([500, 1]);
  expect(news.fps.flat().toSorted()).toEqual(all.map(({ fp }) => fp).toSorted());
  // A walk that was cut off goes on after its last page.
  const [first] = await collect(client.events(start.cursor));
  expect((await read(first?.cursor ?? "")).fps).toEqual([news.fps[1]]);
  expect((await read(news.cursor)).fps).toEqual([[]]);
  expect((await read(null)).fps.flat()).toHaveLength(501);
  await pruneFeeds(server.store, { before: server.clock.now + 1, now: server.clock.now });
  expect(await failureOf(read(start.cursor))).toMatchObject({ status: 410, code: "EVENTS.EXPIRED" });
  expect((await read(news.cursor)).fps).toEqual([[]]);
});

test("a walk beyond the budget of the key waits for Retry-After, and ends", async () => {
  const limit = { minute: 2, hour: 1000 };
  const limits = {
    integration: limit,
    device: limit,
    partner: limit,
    ingest: limit,
    addressMinute: 9,
    sessionMinute: 9,
  };
  const all = Array.from({ length: 450 }, () => patient());
  const server = await startLimitedServer(
    limits,
    clinic(own),
    all,
    all.map(({ fp }) => connection(fp, own)),
  );
  const { url, key } = await clientOf(server);
  const waits: number[] = [];
  const client = createClient({
    url,
    key,
    async wait(ms) {
      waits.push(ms);
      server.clock.now += ms;
    },
  });
  const pages = await collect(client.changedPatients(null));
  expect([pages.length, new Set(pages.flatMap(({ patients }) => patients.map(({ fp }) => fp))).size]).toEqual([5, 450]);
  expect(waits).toEqual([60_000, 60_000]);
});

test("a response of another program than the server is not a failure of the server", async () => {
  const client = createClient({
    url: "https://vetwire.example/",
    key: "sk_live_test",
    fetch: async () => new Response("<h1>Bad gateway</h1>", { status: 502 }),
  });
  await expect(collect(client.changedStudies(null))).rejects.toThrow(
    "expected a response of the server, got status 502",
  );
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
