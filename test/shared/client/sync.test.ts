import { execFile } from "node:child_process";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { defaultLimits } from "../../../server/http/rate-limit/rate-limiter.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { createSyncClient, SyncFailure } from "../../../shared/client/sync.ts";
import { type SyncDocument, syncTypesOf } from "../../support/runner/openapi-types.ts";
import { clinic, startLimitedServer, startServer, temporaryFolder } from "../../server/harness.ts";

// Method: the client calls a server that listens on a port, through a network that loses answers.

const own = newFp("clinic");
const FOLDER = path.resolve(import.meta.dirname, "../../../shared/client");
const TYPES = path.join(FOLDER, "sync-api.ts");
const owner = { external_id: "1", name: "Ada Örnek" };

function animals(count: number, name = "Animal") {
  return Array.from({ length: count }, (_, at) => ({
    external_id: String(at),
    name: `${name} ${at}`,
    species: "dog",
    owner,
  }));
}

/** What the network does with a try: passes it on, loses its answer, or answers itself. */
type Network = (asked: number) => "pass" | "lose" | Response;

async function pims(server: Awaited<ReturnType<typeof startServer>>, network: Network = () => "pass") {
  await server.app.listen({ port: 0, host: "127.0.0.1" });
  const url = `http://127.0.0.1:${(server.app.server.address() as AddressInfo).port}`;
  const key = await server.makeKey(own, ["clinic.sync.write", "clinic.patient.view"]);
  const sent: { path: string; id: string; items: number; isRepeated: boolean }[] = [];
  const waits: number[] = [];
  const client = createSyncClient({
    url,
    key,
    source: "pims",
    async fetch(address, init) {
      const done = network(sent.length);
      const { pathname: asked, search } = address as URL;
      const id = new Headers(init?.headers).get("idempotency-key") ?? "";
      const { items = [] } = JSON.parse(init?.body as string) as { items?: unknown[] };
      const one = {
        path: asked.slice(9) + search.replace(/=[0-9a-f]{64}/, ""),
        id,
        items: items.length,
        isRepeated: false,
      };
      sent.push(one);
      if (typeof done !== "string") return done;
      const response = await fetch(address, init);
      one.isRepeated = response.headers.get("idempotency-replayed") === "true";
      if (done === "pass") return response;
      await response.text();
      throw new TypeError("fetch failed");
    },
    async wait(ms) {
      waits.push(ms);
      server.clock.now += ms;
    },
  });
  return { client, sent, waits, url, key };
}

async function failureOf(work: Promise<unknown>): Promise<SyncFailure> {
  const failure = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(failure instanceof SyncFailure)) throw new Error(`expected a SyncFailure, got ${String(failure)}`);
  return failure;
}

test("the committed types are those of the sync document", async () => {
  const { app } = await startServer();
  const types = syncTypesOf((await app.inject("/sync/openapi.json")).json<SyncDocument>());
  const biome = path.resolve(import.meta.dirname, "../../../node_modules/@biomejs/biome/bin/biome");
  const options = { input: types, encoding: "utf8" } as const;
  const formatted = execFileSync(process.execPath, [biome, "format", `--stdin-file-path=${TYPES}`], options);
  if (process.env["UPDATE_CONTRACT"] === "1") fs.writeFileSync(TYPES, formatted);
  expect(fs.readFileSync(TYPES, "utf8")).toBe(formatted);
});

test("more than 500 items go in several requests, and the outcomes are those of all items", async () => {
  const { client, sent } = await pims(await startServer(clinic(own)));
  const items = animals(501);
  const first = await client.send("patients", [...items.slice(0, 500), { ...items[500], species: "Zebra?" } as never]);
  expect(first.counts).toEqual({ created: 500, updated: 0, unchanged: 0, deleted: 0, rejected: 1 });
  expect(first.items.map(({ index }) => index)).toEqual(items.map((_, at) => at));
  expect(first.items[500]).toMatchObject({ external_id: "500", errors: [{ code: "unknown_species" }] });
  expect(sent.map((one) => one.items)).toEqual([500, 1]);
  expect(new Set(sent.map(({ id }) => id)).size).toBe(2);
  expect((await client.send("patients", [])).items).toEqual([]);
});

test("two items of one external id are refused before the first request, also beyond 500", async () => {
  const { client, sent } = await pims(await startServer(clinic(own)));
  const items = [...animals(700), { ...animals(1)[0]!, name: "Another" }];
  await expect(client.preview("patients", items)).rejects.toThrow("items 0 and 700 have the same external_id");
  expect(sent).toEqual([]);
});

test("a preview stores nothing, its commit does, and a commit after another change is refused with a code", async () => {
  const { client, sent } = await pims(await startServer(clinic(own)));
  const preview = await client.preview("patients", animals(2));
  expect(preview.counts.created).toBe(2);
  const moved = await client.preview("patients", animals(3));
  expect((await preview.commit()).counts.created).toBe(2);
  expect(await failureOf(moved.commit())).toMatchObject({ status: 409, code: "SYNC.STATE_MOVED" });
  expect((await client.preview("patients", animals(3))).counts).toMatchObject({ created: 1, unchanged: 2 });
  const [dry, commit] = ["patients?dry_run=true", "patients?commit_token"];
  expect(sent.map((one) => one.path)).toEqual([dry, dry, commit, commit, dry]);
});

test("a request whose answer got lost is stored once and gets its first answer", async () => {
  const { client, sent, waits } = await pims(await startServer(clinic(own)), (asked) => (asked < 2 ? "lose" : "pass"));
  expect((await client.send("patients", animals(3))).counts.created).toBe(3);
  expect(new Set(sent.map(({ id }) => id)).size).toBe(1);
  expect(sent.map(({ isRepeated }) => isRepeated)).toEqual([false, true, true]);
  expect(waits).toEqual([1000, 2000]);
});

test("a proxy's response is no decision of the server, and a network that stays away is an error", async () => {
  const server = await startServer(clinic(own));
  const gateway = () => new Response("<h1>Bad gateway</h1>", { status: 502 });
  const once = await pims(server, (asked) => (asked === 0 ? gateway() : "pass"));
  expect((await once.client.send("owners", [owner])).counts.created).toBe(1);
  const away = createSyncClient({
    url: once.url,
    key: "k",
    source: "pims",
    wait: async () => undefined,
    fetch: async () => gateway(),
  });
  await expect(away.merge("1", "2")).rejects.toThrow("expected a response of the server, got status 502");
});

test("a key beyond its budget waits for Retry-After, and goes on", async () => {
  const limits = { ...defaultLimits, integration: { minute: 2, hour: 1000 } };
  const { client, waits } = await pims(await startLimitedServer(limits, clinic(own)));
  for (let sent = 0; sent < 5; sent += 1) await client.send("owners", [{ ...owner, name: `Ada ${sent}` }]);
  expect(waits).toEqual([60_000, 60_000]);
});

test("orders have accessions, appointments and merges their outcomes, and refusals their codes and details", async () => {
  const { client, url } = await pims(await startServer(clinic(own)));
  await client.send("patients", animals(12));
  const order = { external_id: "o1", patient: "0", tests: ["ALT"], ordered_at: "2026-11-20T09:00:00Z" };
  expect((await client.send("orders", [order])).items[0]?.accession).toMatch(/^T/);
  const visit = { external_id: "v1", title: "Visit", start_at: "2026-12-01T09:00:00Z", end_at: "2026-12-01T10:00:00Z" };
  expect((await client.send("appointments", [visit])).items[0]?.fp).toMatch(/^calevt_/);
  expect(await client.merge("0", "1")).toMatchObject({ outcome: "merged" });
  expect(await client.merge("0", "1")).toMatchObject({ outcome: "unchanged" });
  expect(await failureOf(client.merge("0", "0"))).toMatchObject({ status: 409, details: { code: "same" } });
  const refused = await failureOf(client.sendList("patients", ["0", "2"]));
  expect(refused).toMatchObject({ code: "SYNC.TOO_MANY_REMOVALS", details: { removals: 9, patients: 11 } });
  const preview = await client.previewList("patients", ["0", "2"]);
  expect([preview.counts.deleted, (await preview.commit()).absent.length]).toEqual([9, 9]);
  const stranger = createSyncClient({ url, key: "sk_live_unknown", source: "pims" });
  expect(await failureOf(stranger.send("owners", [owner]))).toMatchObject({ status: 401, code: "AUTH.UNAUTHORIZED" });
});

test("the blocks of the README run as they are written", async () => {
  const { url, key } = await pims(await startServer(clinic(own)));
  const folder = temporaryFolder();
  for (const name of ["sync.ts", "sync-api.ts"]) fs.copyFileSync(path.join(FOLDER, name), path.join(folder, name));
  const readme = fs.readFileSync(path.join(FOLDER, "README.md"), "utf8");
  const blocks = Array.from(readme.matchAll(/^```(ts|sh) sync\n(.*?)^```/gms), ([, kind, text]) => ({
    kind,
    text: text ?? "",
  }));
  expect(blocks.map(({ kind }) => kind)).toEqual(["ts", "sh", "sh"]);
  fs.writeFileSync(path.join(folder, "send.mts"), blocks[0]?.text ?? "");
  const PATH = `${path.dirname(process.execPath)}:${process.env["PATH"]}`;
  const env = { ...process.env, PATH, VETWIRE_URL: url, VETWIRE_KEY: key };
  const outputs = [];
  for (const { text } of blocks.slice(1)) {
    outputs.push((await promisify(execFile)("bash", ["-e", "-c", text], { cwd: folder, env })).stdout);
  }
  expect(outputs[0]).toMatch(
    /created: 1[^]*rejected: 1[^]*00500 species is "Zebra\?"[^]*label: T\w{7}\nSYNC.TOO_MANY_REMOVALS/,
  );
  expect(outputs[1]?.match(/"dry_run":(true|false)|"outcome":"\w+"/g)).toEqual([
    ...['"dry_run":true', '"outcome":"updated"'],
    ...['"dry_run":false', '"outcome":"updated"'],
  ]);
});
