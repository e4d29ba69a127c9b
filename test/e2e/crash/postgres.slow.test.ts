import { once } from "node:events";
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { demoClinics, demoFile } from "../../../server/demo/data.ts";
import { hasDataChecksums } from "../../../server/database/postgres.ts";
import { patiently } from "../../support/runner/patience.ts";
import { Postgres, postgresProblem } from "../../support/machine/postgres.ts";
import { type Running, SERVER, start, temporaryFolder, testPatients, until } from "../../support/machine/processes.ts";

// Goal: two servers on one PostgreSQL act as one and survive its restart. Method: command line and HTTP only. The database is
// stopped and started while the servers run.

const clinic = demoClinics.kadikoy;
const REVOKED_WITHIN_MS = 5000;

let postgres: Postgres;
let folder: string;
const nodes: { data: string; address: string; running: Running }[] = [];
/** Output of every started process. */
const printed: (() => string)[] = [];

describe.skipIf(postgresProblem() !== null)("two servers on one PostgreSQL", () => {
  beforeAll(async () => {
    postgres = await Postgres.start();
    folder = temporaryFolder();
    const running = ["one", "two"].map((name) => {
      const data = path.join(folder, name);
      return { data, running: launch(data, "run", "--port", "0") };
    });
    // Both start simultaneously on an empty database.
    for (const node of running) {
      const address = await until(
        "the server listens",
        () => /listening on (http:[^"]+)/.exec(node.running.output())?.[1],
      );
      nodes.push({ ...node, address });
    }
  });

  afterAll(async () => {
    await Promise.all(nodes.map(({ running }) => running.end("SIGKILL")));
    await postgres?.end();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  test("two servers share imported data and rate limits, and keys once they have the same pepper", async () => {
    await expectDone(command("import", writeDemo()));
    const key = await makeKey();
    const list = (index: number) => get(nodes[index], key, "/api/v1/patients");
    expect((await list(0)).body).toMatchObject({ success: true, data: { total: 4 } });
    expect((await list(1)).status).toBe(401);

    await restartSecondWithPepper();
    expect((await list(1)).body).toMatchObject({ success: true, data: { total: 4 } });
    // The key has made two requests before.
    const responses = await Promise.all(Array.from({ length: 70 }, (_, index) => list(index % 2)));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(58);
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(12);
    for (const index of [0, 1]) expect((await list(index)).status).toBe(429);
  });

  test(`two servers refuse a revoked key within ${REVOKED_WITHIN_MS} ms`, async () => {
    const key = await makeKey();
    const statuses = () => Promise.all(nodes.map(async (node) => (await get(node, key, "/api/v1/patients")).status));
    expect(await statuses()).toEqual([200, 200]);
    const listed = await command("keys", "list", "--clinic", clinic, "--json");
    const ids = (JSON.parse(listed.output) as { id: string }[]).map(({ id }) => id);
    await expectDone(command("keys", "revoke", ids.at(-1) ?? ""));
    const revoked = Date.now();
    await until("both servers refuse the key", async () => (await statuses()).every((status) => status === 401));
    expect(Date.now() - revoked).toBeLessThan(patiently(REVOKED_WITHIN_MS));
  });

  test("two servers respond 503 in the envelope while the database is stopped, and serve once it runs again", async () => {
    const key = await makeKey();
    const mistyped = `${key.slice(0, -1)}${key.endsWith("a") ? "b" : "a"}`;
    await postgres.stop();
    for (const node of nodes) {
      for (const presented of [key, mistyped, ""]) {
        const { status, body, headers } = await get(node, presented, "/api/v1/patients");
        expect([status, headers.get("retry-after")]).toEqual([503, "5"]);
        expect(body).toMatchObject({ success: false, error: { code: "SERVER.UNAVAILABLE", severity: "error" } });
      }
      expect((await get(node, key, "/readyz")).status).toBe(503);
      expect((await get(node, key, "/healthz")).status).toBe(200);
    }
    const refused = await command("keys", "list", "--clinic", clinic);
    expect(refused).toMatchObject({
      code: 1,
      output: expect.stringMatching(/^the database cannot be used now: .*\(ECONN/),
    });

    await postgres.start();
    for (const node of nodes) expect((await get(node, key, "/api/v1/patients")).status).toBe(200);
  });

  test("a killed import stores nothing, and the next import stores everything", async () => {
    const before = await exported();
    const file = path.join(folder, "large.ndjson");
    const owner = {
      type: "customer",
      fp: "customer_01K9TEST000000000000000D01",
      locale: { time_zone: "Europe/Istanbul" },
    };
    const patients = testPatients(3000).map(({ fp, species, externalId }) => ({
      type: "patient",
      fp,
      name: "Test animal",
      species,
      breed: null,
      sex: "male",
      date_of_birth: "2020-01-01",
      weight_kg: 12.5,
      owner_customer_fp: owner.fp,
      external_ids: [externalId],
      deleted_at: null,
      created_at: "2026-01-01T00:00:00.000Z",
      updated_at: "2026-01-01T00:00:00.000Z",
    }));
    writeFileSync(file, [owner, ...patients].map((line) => `${JSON.stringify(line)}\n`).join(""));

    const killed = launch(nodes[0]!.data, "import", file);
    // Most of the import is left when the signal comes, also on a machine that is busy.
    await until("the import writes patients", () => killed.output().includes("10 %"));
    await killed.end("SIGKILL");
    expect(killed.output()).not.toContain("100 %");
    expect(await exported()).toBe(before);
    const imported = await expectDone(command("import", file));
    expect(imported).toContain("3001 new, 0 changed, 0 unchanged");
  });

  test("an export from PostgreSQL equals the export from SQLite after its import", async () => {
    const lines = await exported();
    expect(lines.split("\n").length).toBeGreaterThan(3000);
    const file = path.join(folder, "export.ndjson");
    writeFileSync(file, lines);
    const data = path.join(folder, "sqlite");
    await expectDone(finished(start(SERVER, ["import", file, "--data", data])));
    const copy = path.join(folder, "copy.ndjson");
    await expectDone(finished(start(SERVER, ["export", copy, "--data", data])));
    expect(readFileSync(copy, "utf8")).toBe(lines);
  });

  test("a server warns at its start of a PostgreSQL without data checksums, and not of one with them", async () => {
    const warning = "PostgreSQL has no data checksums";
    await until("the warning", () => nodes[0]!.running.output().includes(warning));
    expect(await hasDataChecksums(postgres.url())).toBe(false);
    await postgres.enableChecksums();
    expect(await hasDataChecksums(postgres.url())).toBe(true);
  });

  test("no process prints the password of the database, even on errors", async () => {
    const wrong = { DATABASE_URL: postgres.url().replace("vetwire:", "vetwire:x") };
    const refused = start(SERVER, ["run", "--data", path.join(folder, "refused")], wrong);
    printed.push(refused.output);
    expect(await finished(refused)).toMatchObject({ code: 1 });
    expect(refused.output()).toContain("password authentication failed");
    const unreadable = start(SERVER, ["run"], { DATABASE_URL: postgres.url().replace("postgres:", "mysql:") });
    printed.push(unreadable.output);
    expect(await finished(unreadable)).toMatchObject({ code: 1 });
    expect(unreadable.output()).toMatch(/^invalid DATABASE_URL, expected postgres:/);
    expect(printed.length).toBeGreaterThan(10);
    for (const output of printed) expect(output()).not.toContain(postgres.password);
  });
});

/** Starts the server's program on PostgreSQL with that data folder. */
function launch(data: string, ...args: string[]): Running {
  const running = start(SERVER, [...args, "--data", data], { DATABASE_URL: postgres.url() });
  printed.push(running.output);
  return running;
}

async function command(...args: string[]): Promise<{ code: number; output: string }> {
  return finished(launch(path.join(folder, "one"), ...args));
}

async function finished(running: Running): Promise<{ code: number; output: string }> {
  const [code] = (await once(running.process, "close")) as [number];
  return { code, output: running.output() };
}

async function expectDone(running: Promise<{ code: number; output: string }>): Promise<string> {
  const { code, output } = await running;
  expect([code, output]).toEqual([0, output]);
  return output;
}

async function makeKey(): Promise<string> {
  const made = ["--clinic", clinic, "--name", "test", "--permissions", "clinic.patient.view"];
  return (await expectDone(command("keys", "create", ...made))).trim();
}

async function exported(): Promise<string> {
  const file = path.join(folder, "whole.ndjson");
  await expectDone(command("export", file));
  return readFileSync(file, "utf8");
}

async function restartSecondWithPepper(): Promise<void> {
  const [first, second] = nodes;
  await second!.running.end();
  copyFileSync(path.join(first!.data, "pepper"), path.join(second!.data, "pepper"));
  second!.running = launch(second!.data, "run", "--port", new URL(second!.address).port);
  await until("the second server listens again", () => second!.running.output().includes("listening on"));
}

async function get(node: { address: string } | undefined, key: string, url: string) {
  const response = await fetch(`${node?.address}${url}`, { headers: { "x-api-key": key } });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

function writeDemo(): string {
  const file = path.join(folder, "demo.ndjson");
  writeFileSync(file, demoFile());
  return file;
}
