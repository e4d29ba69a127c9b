import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { openStore } from "../../../server/database/open.ts";
import type { Store } from "../../../server/database/store.ts";
import { findClinic } from "../../../server/records/clinics/keys.ts";
import { findStudy } from "../../../server/records/studies/studies.ts";
import { VersionedCache } from "../../../server/records/patients/versioned-cache.ts";
import { listStudies } from "../../../server/records/results/study-list.ts";
import { fileStudies } from "../../../server/records/filing/filing.ts";
import { newFp } from "../../../shared/api/fp.ts";
import type { PushedStudy, Study } from "../../../shared/api/study.ts";
import { diceOf } from "../../support/runner/dice.ts";
import { temporaryFolder } from "../../support/machine/processes.ts";
import { soakCount } from "../../support/runner/soak.ts";
import { clinic, connection, importEntities, patient, study } from "../../server/harness.ts";

// Goal: a byte that the disk changes is never served as if it had been stored. Method: one bit of the server's database or of
// its log is flipped, then every study is read and listed. SEED=7 repeats one flip.

const FLIPS = soakCount(600);
const STUDIES = 60;
const FILES = ["vetwire.db", "vetwire.db-wal"];
const NOW = Date.parse("2026-11-21T12:00:00.000Z");

type Files = ReadonlyMap<string, Buffer>;
const ours = newFp("clinic");
const dog = patient();
const stored = new Map<string, Study>();
/** A database whose log is empty, the same without checksums, and one whose studies are in the log. */
let closed: Files;
let unchecked: Files;
let running: Files;

beforeEach(async () => {
  if (stored.size > 0) return;
  const folder = temporaryFolder();
  const store = await openStore(folder);
  await importEntities(store, clinic(ours), dog, connection(dog.fp, ours));
  const clinicId = (await findClinic(store, ours))!.id;
  const analytes = ["GLU", "TBIL", "CREA", "ALT", "BUN", "ALP"];
  for (let number = 0; number < STUDIES; number += 1) {
    const pushed: PushedStudy = study({
      patient_fp: dog.fp,
      results: analytes.map((analyte, index) => ({
        ...{ analyte, value: 10 + number + index / 8, unit: "mmol/L", reference_range: null, flag: null },
      })),
    });
    await store.transaction(async (session) => fileStudies(session, clinicId, [pushed], NOW));
    stored.set(pushed.fp, (await findStudy(store, clinicId, pushed.fp))!.study);
  }
  running = filesOf(folder);
  await store.close();
  closed = filesOf(folder);
  const db = new Database(path.join(folder, "vetwire.db"));
  db.exec("UPDATE study SET checksum = NULL");
  db.close();
  unchecked = filesOf(folder);
  fs.rmSync(folder, { recursive: true });
});

function filesOf(folder: string): Files {
  const names = FILES.filter((name) => fs.existsSync(path.join(folder, name)));
  return new Map(names.map((name) => [name, fs.readFileSync(path.join(folder, name))]));
}

type Verdict = "identical" | "refused" | "missing" | "changed";

/** Flips one bit of a file, three times of four in a page with results. @returns the worst verdict */
async function flipAndRead(files: Files, name: string, seed: number): Promise<Verdict> {
  const folder = temporaryFolder();
  try {
    for (const [each, bytes] of files)
      fs.writeFileSync(path.join(folder, each), each === name ? flipped(bytes, seed) : bytes);
    return await read(folder);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

function flipped(bytes: Buffer, seed: number): Buffer {
  const dice = diceOf(seed);
  const copy = Buffer.from(bytes);
  const pages = Array.from({ length: Math.ceil(bytes.length / 4096) }, (_, page) => page * 4096);
  const content = pages.filter((at) => bytes.subarray(at, at + 4096).includes('"analyte"'));
  const isContent = dice(4) > 0 && content.length > 0;
  const at = isContent ? content[dice(content.length)]! + dice(4096) : dice(bytes.length);
  const offset = Math.min(at, bytes.length - 1);
  copy[offset] = copy[offset]! ^ (1 << dice(8));
  return copy;
}

async function read(folder: string): Promise<Verdict> {
  let store: Store;
  try {
    store = await openStore(folder);
  } catch {
    return "refused";
  }
  try {
    return worst(await verdictsOn(store, folder));
  } catch {
    return "refused";
  } finally {
    await store.close().catch(() => undefined);
  }
}

const ORDER: readonly Verdict[] = ["identical", "refused", "missing", "changed"];

function worst(verdicts: readonly Verdict[]): Verdict {
  return verdicts.toSorted((one, other) => ORDER.indexOf(other) - ORDER.indexOf(one))[0] ?? "identical";
}

async function verdictsOn(store: Store, folder: string): Promise<Verdict[]> {
  const clinicId = (await findClinic(store, ours))?.id;
  if (clinicId === undefined) return [await missing(folder)];
  const verdicts: Verdict[] = [];
  for (const [fp, before] of stored) {
    const found = await findStudy(store, clinicId, fp).catch((error: unknown) => error as Error);
    if (found instanceof Error) verdicts.push("refused");
    else if (found === undefined) verdicts.push(await missing(folder));
    else verdicts.push(JSON.stringify(found.study) === JSON.stringify(before) ? "identical" : "changed");
  }
  const filter = { clinicId, patientFp: null, updatedSince: null, page: 1, pageSize: 2 * STUDIES, version: 1 };
  const page = await listStudies(store, new VersionedCache(1), filter).catch(() => ({ items: [] }));
  for (const { updated_at: _updatedAt, ...item } of page.items) {
    if (JSON.stringify(item) !== JSON.stringify(stored.get(item.fp))) verdicts.push("changed");
  }
  return verdicts;
}

/** SQLite's check of the complete file may find why a study is missing: the log ends at its first damaged frame. */
async function missing(folder: string): Promise<Verdict> {
  const db = new Database(path.join(folder, "vetwire.db"), { readonly: true });
  const found = db.pragma("integrity_check(1)", { simple: true });
  db.close();
  return found === "ok" ? "missing" : "refused";
}

async function countVerdicts(files: Files, name: string): Promise<Map<Verdict, number[]>> {
  const seeds =
    process.env["SEED"] === undefined ? Array.from({ length: FLIPS }, (_, seed) => seed) : [process.env["SEED"]];
  const counts = new Map<Verdict, number[]>();
  for (const seed of seeds) {
    const verdict = await flipAndRead(files, name, Number(seed));
    counts.set(verdict, [...(counts.get(verdict) ?? []), Number(seed)]);
  }
  return counts;
}

test("a flipped bit of the server's database never serves another result", async () => {
  const counts = await countVerdicts(closed, "vetwire.db");
  expect(counts.get("changed"), "SEED of a changed study").toBeUndefined();
  expect(counts.get("refused")).toBeDefined();
}, 300_000);

test("a flipped bit of the server's log never serves another result", async () => {
  const counts = await countVerdicts(running, "vetwire.db-wal");
  expect(counts.get("changed"), "SEED of a changed study").toBeUndefined();
  expect(counts.get("missing")).toBeDefined();
}, 300_000);

test("a study whose column one flipped bit turns into bytes is refused", async () => {
  const folder = temporaryFolder();
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  for (const [name, bytes] of closed) fs.writeFileSync(path.join(folder, name), bytes);
  const db = new Database(path.join(folder, "vetwire.db"));
  db.exec("UPDATE study SET device_name = CAST(device_name AS BLOB)");
  db.close();
  expect(await read(folder)).toBe("refused");
});

test("control: without checksums a flipped bit serves another result", async () => {
  expect((await countVerdicts(unchecked, "vetwire.db")).get("changed")).toBeDefined();
}, 300_000);
