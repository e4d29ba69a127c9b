import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newFp } from "../../../shared/api/fp.ts";
import { writeImportFile } from "../../support/clinic/import-lines.ts";
import { patiently } from "../../support/runner/patience.ts";
import { ROOT, temporaryFolder, until, World } from "../../support/machine/processes.ts";
import { studyDraft } from "../../support/clinic/study.ts";

// Goal: every study that the server accepts is in the file that its next start opens, despite faults of that file.
// Method: a server process on a disk that is full or read-only, or whose files are removed.

let world: World;
/** True if the server's data is on a separate disk. */
let mounted = false;

beforeEach(async () => {
  world = await World.create(2);
});

afterEach(async () => {
  await world.server.end("SIGKILL");
  if (mounted) execFileSync("umount", [world.serverData]);
  mounted = false;
  await world.end();
});

describe("a database file that is removed", () => {
  for (const name of ["vetwire.db", "vetwire.db-wal"]) {
    test(`the server refuses writes while ${name} is removed, and serves again once it is restored`, async () => {
      const before = await push();
      expect(before.status).toBe(200);
      const [file, kept] = [path.join(world.serverData, name), path.join(world.folder, "kept")];
      fs.linkSync(file, kept);
      fs.rmSync(file);
      const refused = await push();
      expectUnavailable(refused);
      await until("the server refuses reads too", async () => (await read(before.fp)).status === 503);
      expectUnavailable(await get("/readyz"), { reason: "the database cannot be used now" });
      expect((await get("/healthz")).status).toBe(200);
      expect(fs.existsSync(file)).toBe(false);
      expect(world.server.output()).toContain("vetwire.db was removed or replaced: put it back, or restart the server");

      fs.linkSync(kept, file);
      expect(await push(refused.fp)).toMatchObject({ status: 200, outcome: "unchanged" });
      expect((await get("/readyz")).status).toBe(200);
      await world.server.end("SIGKILL");
      await world.startServer();
      for (const { fp } of [before, refused]) expect((await read(fp)).status).toBe(200);
    });
  }

  test("the server serves a database replaced by a backup after a restart, and files the studies refused before", async () => {
    const file = path.join(world.serverData, "vetwire.db");
    await world.server.end();
    fs.copyFileSync(file, path.join(world.folder, "backup"));
    await world.startServer();
    for (const part of ["", "-wal", "-shm"]) fs.rmSync(`${file}${part}`);
    fs.copyFileSync(path.join(world.folder, "backup"), file);
    const refused = await push();
    expectUnavailable(refused);
    await world.server.end("SIGKILL");
    await world.startServer();
    expect((await read(refused.fp)).status).toBe(404);
    expect(await push(refused.fp)).toMatchObject({ status: 200, outcome: "filed" });
    expect((await read(refused.fp)).status).toBe(200);
  });
});

const noMount = mountProblem();
if (noMount !== null) process.stdout.write(`database-faults: a full disk: skipped, ${noMount}\n`);

test.skipIf(noMount !== null)(
  "the server refuses writes and serves reads while its disk is full, and accepts writes afterwards",
  async () => {
    await moveToDisk("8m");
    const filler = path.join(world.serverData, "filler");
    const filed = [(await push()).fp];
    fillDisk(filler);
    let refused = await push();
    // Writes succeed until the last page of the log is full.
    for (let count = 0; refused.status === 200 && count < 1000; count += 1) {
      filed.push(refused.fp);
      refused = await push();
    }
    expectUnavailable(refused);
    expect((await get("/readyz")).status).toBe(200);
    for (const fp of filed) expect((await read(fp)).status).toBe(200);
    expect((await read(refused.fp)).status).toBe(404);
    fs.rmSync(filler);
    expect(await push(refused.fp)).toMatchObject({ status: 200, outcome: "filed" });
    await world.server.end("SIGKILL");
    await world.startServer();
    for (const fp of [...filed, refused.fp]) expect((await read(fp)).status).toBe(200);
    expect(integrity()).toBe("ok");
  },
);

test.skipIf(noMount !== null)("a server that starts on a read-only disk reports it and exits 1", async () => {
  await moveToDisk("8m");
  await world.server.end();
  execFileSync("mount", ["-o", "remount,ro", world.serverData]);
  expect(command("run", "--port", "0")).toEqual({
    status: 1,
    // A warning of the disk in memory that the test mounts.
    stdout: expect.stringContaining("folder.memory") as string,
    stderr: "the database cannot be used now: SQLITE_CANTOPEN, unable to open database file\n",
  });
});

describe("an import", () => {
  const LINES = 10_000;
  let file: string;
  let counts: number[];

  beforeEach(() => {
    file = path.join(world.folder, "many.ndjson");
    writeImportFile(file, LINES);
    counts = rowCounts();
  });

  test.skipIf(noMount !== null)(
    "an import onto a disk that becomes full stores nothing, reports it and exits 1",
    async () => {
      await moveToDisk("2m");
      const full = "the database cannot be used now: SQLITE_FULL, database or disk is full\n";
      const { status, stdout, stderr } = command("import", file);
      expect([status, stdout]).toEqual([1, ""]);
      expect(stderr.endsWith(full)).toBe(true);
      expect(rowCounts()).toEqual(counts);
      expect(integrity()).toBe("ok");
      expect((await push()).status).toBe(200);
    },
    patiently(60_000),
  );

  test("a killed import stores nothing, and a repeated import stores everything", {
    timeout: patiently(60_000),
  }, async () => {
    const child = spawn(process.execPath, [...SERVER, "import", file, "--data", world.serverData], { cwd: ROOT });
    let shown = "";
    child.stderr.on("data", (text) => (shown += String(text)));
    await until("the import reaches 50 %", () => shown.includes("50 %") || child.exitCode !== null);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(child.signalCode).toBe("SIGKILL");
    expect(rowCounts()).toEqual(counts);
    expect(integrity()).toBe("ok");
    expect(command("import", file)).toMatchObject({
      status: 0,
      stdout: `${file}: ${LINES} new, 0 changed, 0 unchanged\n`,
    });
    expect(rowCounts()).not.toEqual(counts);
  });
});

const SERVER = [path.join(ROOT, "dist/server/main.js")];

function command(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...SERVER, ...args, "--data", world.serverData], {
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

async function push(fp: string = newFp("cds")) {
  const { body } = studyDraft({ patient_fp: world.patients[0]?.fp ?? null, dedupe_key: fp });
  const response = await get("/agent/v1/studies", {
    method: "POST",
    headers: { "x-api-key": world.key, "content-type": "application/json" },
    body: JSON.stringify({ studies: [{ fp, revision: 1, ...body }] }),
  });
  const { outcomes } = response.body as { outcomes?: { outcome: string }[] };
  return { fp, outcome: outcomes?.[0]?.outcome ?? null, ...response };
}

async function read(fp: string) {
  return get(`/api/v1/lab/diagnostics/${fp}`, { headers: { authorization: `Bearer ${world.key}` } });
}

async function get(url: string, init: RequestInit = {}) {
  const response = await fetch(`http://127.0.0.1:${world.serverPort}${url}`, init);
  return { status: response.status, retryAfter: response.headers.get("retry-after"), body: await response.json() };
}

function expectUnavailable(
  { status, retryAfter, body }: { status: number; retryAfter: string | null; body: unknown },
  more: object = {},
) {
  expect({ status, retryAfter, body }).toEqual({
    status: 503,
    retryAfter: "5",
    body: {
      success: false,
      error: {
        code: "SERVER.UNAVAILABLE",
        message: "The server cannot answer just now. Try again after the time in Retry-After.",
        severity: "error",
        details: { request_id: expect.any(String) as string, ...more },
      },
    },
  });
}

function rowCounts(): number[] {
  return inDatabase((db) =>
    ["clinic", "customer", "patient", "clinic_patient", "study", "soap", "calendar_event", "inventory_item"].map(
      (table) => db.prepare(`select count(*) from ${table}`).pluck().get() as number,
    ),
  );
}

function integrity(): unknown {
  return inDatabase((db) => db.pragma("integrity_check", { simple: true }));
}

function inDatabase<Result>(work: (db: Database.Database) => Result): Result {
  const db = new Database(path.join(world.serverData, "vetwire.db"));
  try {
    return work(db);
  } finally {
    db.close();
  }
}

/** Moves the server's data to a separate tmpfs of that size. */
async function moveToDisk(size: string): Promise<void> {
  await world.server.end();
  const copy = path.join(world.folder, "copy");
  fs.cpSync(world.serverData, copy, { recursive: true });
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", world.serverData]);
  mounted = true;
  fs.cpSync(copy, world.serverData, { recursive: true });
  await world.startServer();
}

function fillDisk(file: string): void {
  const fd = fs.openSync(file, "w");
  try {
    for (;;) fs.writeSync(fd, Buffer.alloc(4096));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  } finally {
    fs.closeSync(fd);
  }
}

function programProblem(...[program = "", ...args]: string[]): string | null {
  const { status, stderr, error } = spawnSync(program, args, { encoding: "utf8" });
  return status === 0 ? null : (error?.message ?? stderr.trim());
}

function mountProblem(): string | null {
  const folder = temporaryFolder();
  const problem = programProblem("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder);
  if (problem === null) execFileSync("umount", [folder]);
  fs.rmdirSync(folder);
  return problem;
}
