import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { beforeEach, expect, test } from "vitest";
import { recover } from "../../../agent/connection/recovery.ts";
import { profileById } from "../../../agent/devices/index.ts";
import { genericHl7 } from "../../../agent/devices/generic-hl7.ts";
import { createServerClient } from "../../../agent/push/server-client.ts";
import { openDatabase } from "../../../agent/spool/database.ts";
import { listMessages } from "../../../agent/spool/queries/messages/message-summaries.ts";
import { type Operations, operationsOn } from "../../../agent/spool/queries/operations.ts";
import { eventCheck } from "../../../agent/spool/queries/checks/row-checks.ts";
import type { Spool } from "../../../agent/spool/spool.ts";
import { Filing } from "../../../agent/study/filing.ts";
import { Directory } from "../../../agent/study/patient-directory.ts";
import { recentLoss } from "../../../shared/runtime/commit-mark.ts";
import type { PushedStudy } from "../../../shared/api/study.ts";
import { diceOf } from "../../support/dice.ts";
import { temporaryFolder } from "../../support/processes.ts";
import { soakCount } from "../../support/soak.ts";
import { patient } from "../../server/harness.ts";

// Goal: a byte of the agent's spool that the disk changes never files another result, nor one for another patient. Method: one
// bit of the spool or of its log is flipped while the agent is stopped; then it starts, files and sends. SEED=7 repeats one flip.

const FLIPS = soakCount(600);
const FILES = ["spool.db", "spool.db-wal", "spool.mark"];
/** Studies that wait for the server, messages that are not filed, and messages of which only the events are stored. */
const COUNTS = { queued: 12, stored: 12, received: 12 } as const;
const AT = Date.parse("2026-11-21T12:00:00.000Z");

type Files = ReadonlyMap<string, Buffer>;
const expected = new Map<string, string>();
let closed: Files;
let running: Files;
let unchecked: Files;

function bytesOf(number: number): Buffer {
  const analytes = ["GLU", "CREA", "BUN"];
  const segments = [
    `MSH|^~\\&|LAB|V|||20261121100000||ORU^R01|${number}|P|2.3.1`,
    `PID|1||${4700 + number}`,
    `OBR|1|LAB-${number}||X|||20261121100000`,
    ...analytes.map((name, index) => `OBX|${index + 1}|NM|${name}||${10 + number + index / 8}|mg/dL|||||F`),
  ];
  return Buffer.from(`\v${segments.join("\r")}\r\x1c\r`);
}

interface OpenAgent {
  readonly db: Database.Database;
  readonly spool: Spool;
  readonly operations: Operations;
  readonly commit: (change: () => void) => void;
  close(): void;
}

function openAgent(folder: string): OpenAgent {
  const { db, mark } = openDatabase({ folder, bytesMax: 2 ** 32 });
  const operations = operationsOn(db);
  /** Commits as the agent's worker does: an acknowledged commit is counted in the database and in the mark. */
  const commit = <Result>(change: () => Result): Result => {
    const { result, counted } = db.transaction(() => ({ result: change(), counted: mark.count() }))();
    mark.save(counted);
    return result;
  };
  const run = (name: keyof Operations, args: readonly unknown[]) =>
    commit(() => (operations[name] as (...values: readonly unknown[]) => unknown)(...args));
  const call = async (name: keyof Operations, ...args: readonly unknown[]) => run(name, args);
  const spool = { call, callLater: () => undefined, now: () => AT } as unknown as Spool;
  return { db, spool, operations, commit, close: () => (mark.close(), db.close()) };
}

/** The start of the agent, without devices and server. @returns the studies that it sends, by the identifier of their message */
async function start({ spool, operations }: OpenAgent): Promise<Map<string, string>> {
  await recover(spool, profileById);
  operations.removeDamagedPatients();
  const directory = new Directory(
    spool,
    createServerClient("http://127.0.0.1:9", () => "sk_live_test", 50),
  );
  const device = { profile: genericHl7, timeZone: "UTC", model: null };
  const filing = new Filing(spool, directory, () => device, {
    outcomeStored: () => undefined,
    fault: () => undefined,
  });
  await filing.acceptStored();
  await filing.idle();
  const sent = new Map<string, string>();
  for (;;) {
    const { batch } = await spool.call("takeQueued", 100, 1e9, AT);
    if (batch.length === 0) return sent;
    for (const { body } of batch) {
      const study = JSON.parse(body) as PushedStudy;
      const { patient_fp, acquired_at, modality, results } = study;
      const key = study.patient_hint.identifier ?? "none";
      sent.set(sent.has(key) ? `${key} again` : key, JSON.stringify({ patient_fp, acquired_at, modality, results }));
    }
    const filed = batch.map(
      ({ fp, revision }) => ({ fp, revision, outcome: "filed", reason: null, matched: true }) as const,
    );
    await spool.call("settleStudies", filed, AT);
  }
}

function filesOf(folder: string): Files {
  const names = FILES.filter((name) => fs.existsSync(path.join(folder, name)));
  return new Map(names.map((name) => [name, fs.readFileSync(path.join(folder, name))]));
}

async function fill(agent: OpenAgent): Promise<void> {
  const { spool, db, commit } = agent;
  const total = COUNTS.queued + COUNTS.stored + COUNTS.received;
  const patients = Array.from({ length: total }, () => patient());
  const rows = patients.map((each) => ({ fp: each.fp, body: JSON.stringify(each) }));
  await spool.call("upsertPatients", rows, AT);
  const identifiers = patients.map(({ fp }, number) => ({ patientFp: fp, identifiers: [String(4700 + number)] }));
  await spool.call("setIdentifiers", identifiers, AT);
  const cursor = { at: AT, seenAt: AT };
  const progress = { patients: cursor, removed: cursor, fullSyncAt: AT, syncedAt: AT };
  await spool.call("setMeta", "directory", JSON.stringify(progress));
  const store = async (from: number, count: number) => {
    for (let number = from; number < from + count; number += 1) {
      const message = { id: `M${number}`, device: "hema-1", profile: "generic-hl7", receivedAt: AT, incomplete: null };
      const bytes = bytesOf(number).subarray(1, -2);
      await spool.call("addMessage", { ...message, session: 1, ordinal: number, bytes });
    }
  };
  await store(0, COUNTS.queued);
  const directory = new Directory(
    spool,
    createServerClient("http://127.0.0.1:9", () => "sk_live_test", 50),
  );
  const filing = new Filing(spool, directory, () => ({ profile: genericHl7, timeZone: "UTC", model: null }), {
    outcomeStored: () => undefined,
    fault: (_, error) => {
      throw error;
    },
  });
  await filing.acceptStored();
  await filing.idle();
  await store(COUNTS.queued, COUNTS.stored);
  const openSession = db.prepare(
    "INSERT INTO session (id, device, profile, first_event, opened_at) VALUES (2, 'hema-1', 'generic-hl7', 1, ?)",
  );
  commit(() => openSession.run(AT));
  const insert = db.prepare(
    "INSERT INTO event (id, session, kind, at, bytes, checksum) VALUES (?, 2, 'chunk', ?, ?, ?)",
  );
  for (let number = total - COUNTS.received; number < total; number += 1) {
    const id = number + 1;
    const bytes = bytesOf(number);
    const checksum = eventCheck.of({ id, session: 2, kind: "chunk", at: AT, bytes });
    commit(() => insert.run(id, AT, bytes, checksum));
  }
}

beforeEach(async () => {
  if (expected.size > 0) return;
  const folder = temporaryFolder();
  const agent = openAgent(folder);
  await fill(agent);
  running = filesOf(folder);
  agent.close();
  closed = filesOf(folder);
  const db = new Database(path.join(folder, "spool.db"));
  for (const table of ["message", "event", "study", "patient", "identifier"])
    db.exec(`UPDATE ${table} SET checksum = NULL`);
  db.exec("DELETE FROM meta WHERE key LIKE 'checksum:%'");
  db.close();
  unchecked = filesOf(folder);
  const whole = openAgent(folder);
  for (const [key, study] of await start(whole)) expected.set(key, study);
  whole.close();
  fs.rmSync(folder, { recursive: true });
  const total = COUNTS.queued + COUNTS.stored + COUNTS.received;
  if (expected.size !== total) throw new Error(`expected ${total} results of the whole spool, got ${expected.size}`);
});

const ORDER = ["identical", "refused", "found by a check", "lost and said", "missing", "changed", "crash"] as const;
type Verdict = (typeof ORDER)[number];

/** Flips one bit of a file, three times of four in a page with content. @returns the worst verdict */
async function flipAndStart(files: Files, name: string, seed: number): Promise<Verdict> {
  const folder = temporaryFolder();
  for (const [each, bytes] of files)
    fs.writeFileSync(path.join(folder, each), each === name ? flipped(bytes, seed) : bytes);
  let agent: OpenAgent | undefined;
  try {
    agent = openAgent(folder);
    return verdictOf(await start(agent), agent.db);
  } catch (error) {
    // SQLite names the damage; the agent ends or refuses with that sentence.
    return /SQLITE_(CORRUPT|NOTADB|IOERR)/.test((error as { code?: string }).code ?? "") ? "refused" : isCorrupt(agent);
  } finally {
    agent?.close();
    fs.rmSync(folder, { recursive: true });
  }
}

/** An error of another kind is no crash loop without a sentence if SQLite's check finds the damage. */
function isCorrupt(agent: OpenAgent | undefined): Verdict {
  return agent === undefined || findsDamage(agent.db) ? "refused" : "crash";
}

function findsDamage(db: Database.Database): boolean {
  try {
    return db.pragma("integrity_check(1)", { simple: true }) !== "ok";
  } catch {
    return true;
  }
}

function flipped(bytes: Buffer, seed: number): Buffer {
  const dice = diceOf(seed);
  const copy = Buffer.from(bytes);
  const pages = Array.from({ length: Math.ceil(bytes.length / 4096) }, (_, page) => page * 4096);
  const marks = ["GLU", '"patient', "470", "471", "472"];
  const content = pages.filter((at) => marks.some((mark) => bytes.subarray(at, at + 4096).includes(mark)));
  const isContent = dice(4) > 0 && content.length > 0;
  const at = isContent ? content[dice(content.length)]! + dice(4096) : dice(bytes.length);
  const offset = Math.min(at, bytes.length - 1);
  copy[offset] = copy[offset]! ^ (1 << dice(8));
  return copy;
}

function verdictOf(sent: ReadonlyMap<string, string>, db: Database.Database): Verdict {
  const isChanged = [...sent].some(([key, study]) => !isExpected(expected.get(key), study));
  if (isChanged) return "changed";
  const whole = [...expected].filter(([key, study]) => sent.get(key) === study).length;
  if (whole === expected.size) return "identical";
  if (recentLoss(db) !== null) return "lost and said";
  const said = listMessages(db).filter(({ state, reason }) => state === "quarantined" && reason !== null).length;
  const unmatched = [...expected.keys()].filter((key) => sent.has(key) && sent.get(key) !== expected.get(key)).length;
  if (whole + said + unmatched >= expected.size) return "refused";
  return findsDamage(db) ? "found by a check" : "missing";
}

/** A study without a patient waits for a person: it is filed for nobody. */
function isExpected(study: string | undefined, sent: string): boolean {
  if (study === undefined || study === sent) return study === sent;
  const results = (text: string) => {
    const { acquired_at, results: rows } = JSON.parse(text) as PushedStudy;
    return JSON.stringify([acquired_at, rows.map(({ analyte, value, unit }) => [analyte, value, unit])]);
  };
  return (JSON.parse(sent) as PushedStudy).patient_fp === null && results(study) === results(sent);
}

async function countVerdicts(files: Files, name: string): Promise<Map<Verdict, number[]>> {
  const seeds =
    process.env["SEED"] === undefined
      ? Array.from({ length: FLIPS }, (_, seed) => seed)
      : [Number(process.env["SEED"])];
  const counts = new Map<Verdict, number[]>();
  for (const seed of seeds) {
    const verdict = await flipAndStart(files, name, seed);
    counts.set(verdict, [...(counts.get(verdict) ?? []), seed]);
  }
  const figures = ORDER.flatMap((verdict) =>
    counts.has(verdict) ? [`${counts.get(verdict)!.length} ${verdict}`] : [],
  );
  process.stdout.write(`${name}: ${figures.join(", ")}\n`);
  return counts;
}

test.each([
  ["spool", "spool.db"],
  ["log of the spool", "spool.db-wal"],
])(
  "a flipped bit of the %s files no other result, and none for another patient",
  async (_, name) => {
    const counts = await countVerdicts(name === "spool.db" ? closed : running, name);
    for (const bad of ["missing", "changed", "crash"] as const)
      expect(counts.get(bad), `SEED of ${bad}`).toBeUndefined();
  },
  600_000,
);

test("control: without checksums a flipped bit files another result", async () => {
  expect((await countVerdicts(unchecked, "spool.db")).get("changed")).toBeDefined();
}, 600_000);
