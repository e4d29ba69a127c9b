import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { gunzipSync } from "node:zlib";
import { join } from "node:path";
import type { FastifyInstance, InjectOptions } from "fastify";
import Sqlite from "better-sqlite3";
import { Client } from "pg";
import { pino } from "pino";
import { inject, onTestFinished } from "vitest";
import { AlertWatch } from "../../server/operations/alert-watch.ts";
import { buildApp } from "../../server/app.ts";
import { Network } from "../../server/network/network.ts";
import { createSetupCode } from "../../server/dashboard/auth/setup-code.ts";
import { createKey, type NewApiKey, type Permission } from "../../server/http/auth/api-keys.ts";
import { loadPepper } from "../../server/http/auth/pepper.ts";
import type { Entity } from "../../server/import/lines.ts";
import { importFile } from "../../server/import/importer.ts";
import type { Limits } from "../../server/http/rate-limit/rate-limiter.ts";
import { RELEASES } from "../../server/operations/release-folder.ts";
import { listClinics, setClinicSettings } from "../../server/records/clinics/clinics.ts";
import { findClinic } from "../../server/records/clinics/keys.ts";
import { openStore } from "../../server/database/open.ts";
import type { Store } from "../../server/database/store.ts";
import { MailServer } from "../../server/operations/mail/mail-server.ts";
import type { SendMail } from "../../server/operations/mail/smtp.ts";
import { newFp } from "../../shared/api/fp.ts";
import type { Patient } from "../../shared/api/patient.ts";
import type { Outcome, PushedStudy, Study } from "../../shared/api/study.ts";
import type { WebhookOptions } from "../../server/operations/webhooks/send.ts";
import { type ApiDocument, Contract } from "../support/runner/contract.ts";
import { createDatabase, dropDatabase, dump, resetDatabase } from "../support/machine/postgres.ts";

/** Time for which writes of the test server wait for another process, in milliseconds. */
const writeWaitMs = 200;

// A server with its own data folder, called through app.inject.

export const noon = Date.parse("2026-11-21T12:00:00.000Z");

/** The last backup of the server failed, the one before was made. */
const made = {
  at: "2026-11-20T03:00:00.000Z",
  file: "/backups/server.backup",
  seconds: 3,
  bytes: 5_000_000,
  error: null,
};
const failed = { ...made, at: "2026-11-21T03:00:00.000Z", bytes: null, error: "the disk is full" };
const backups = { last: failed, succeeded: made };

/** Any body of a response. A test reads the fields that it expects. */
export interface Body {
  success: boolean;
  message: string;
  error: { code: string; message: string; severity: string; details?: Record<string, unknown> };
  data: { items: Patient[]; total: number; has_more: boolean; left_out?: number } & Study & Patient;
}

/** Creates a folder that is removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "vetwire-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Whether the tests run on PostgreSQL, not on SQLite. */
export function onPostgres(): boolean {
  return inject("postgres") !== undefined;
}

/** Creates an empty database that is removed after the test. @returns its location for openStore() */
export async function temporaryDatabase(folder = temporaryFolder(), template?: string): Promise<string> {
  const postgres = inject("postgres");
  if (postgres === undefined) return folder;
  const database = (template === undefined ? undefined : spare.pop()) ?? (await createDatabase(postgres, template));
  onTestFinished(async () => {
    const isLeft = template !== undefined && !changedByHand.has(database) && (await resetDatabase(database));
    if (!isLeft) return dropDatabase(database);
    spare.push(database);
  });
  return database;
}

/** Copies of the template that no test uses. A copy takes longer than most tests. */
const spare: string[] = [];
/** Databases to which a test made a connection of its own, whose schema it may have changed. */
const changedByHand = new Set<string>();

/** Opens a further connection, for statements that the store lacks. */
export async function connectTo(
  database: string,
): Promise<{ run(sql: string): Promise<void>; close(): Promise<void> }> {
  if (onPostgres()) {
    changedByHand.add(database);
    const client = new Client({ connectionString: database });
    await client.connect();
    return { run: async (sql) => void (await client.query(sql)), close: () => client.end() };
  }
  const file = new Sqlite(join(database, "vetwire.db"));
  return { run: async (sql) => void file.exec(sql), close: async () => void file.close() };
}

/** Starts a transaction that blocks all other writers, like an import. */
export function heldWriteLock(): string {
  return onPostgres() ? "begin; lock table migration in exclusive mode" : "begin immediate";
}

/** Returns the content of the database, as text or as the bytes of its files. */
export function allStored(database: string): string {
  if (onPostgres()) return dump(database);
  return ["vetwire.db", "vetwire.db-wal"].map((name) => readFileSync(join(database, name), "latin1")).join("");
}

export type TestServer = Awaited<ReturnType<typeof startServer>>;

const plenty = { minute: 1_000_000, hour: 1_000_000 };
const unlimited: Limits = {
  integration: plenty,
  device: plenty,
  partner: plenty,
  ingest: plenty,
  addressMinute: 1_000_000,
  sessionMinute: 1_000_000,
};

/** A test replaces what the server sends with. */
interface TestSenders {
  sendMail: SendMail | null;
  webhooks: WebhookOptions;
}

/** Starts a server that has imported the entities. `clock.now` is its time, and `log` holds its log lines. */
export async function startServer(...entities: (Entity | Entity[])[]) {
  return startLimitedServer(unlimited, ...entities);
}

let empty: Promise<Buffer> | undefined;

/** Returns a database file without data: each server copies it, since the migrations take longer than many tests. */
function emptyFile(): Promise<Buffer> {
  const make = async () => {
    const folder = mkdtempSync(join(tmpdir(), "vetwire-empty-"));
    await (await openStore(folder)).close();
    const file = readFileSync(join(folder, "vetwire.db"));
    rmSync(folder, { recursive: true });
    return file;
  };
  return (empty ??= make());
}

/** Starts a server with rate limits. */
export async function startLimitedServer(limits: Limits, ...entities: (Entity | Entity[])[]) {
  const folder = temporaryFolder();
  const database = await temporaryDatabase(folder, inject("template"));
  const clock = { now: noon };
  if (!onPostgres()) writeFileSync(join(database, "vetwire.db"), await emptyFile());
  const store = await openStore(database, writeWaitMs, () => clock.now);
  const pepper = loadPepper(folder, false);
  const log: string[] = [];
  const setupCode = await createSetupCode(store, folder);
  const logger = pino({ level: "debug" }, { write: (line) => log.push(line) });
  const senders: TestSenders = { sendMail: null, webhooks: { allowPrivate: false } };
  const ofTest = {
    host: "127.0.0.1",
    port: 25,
    encryption: "starttls",
    user: null,
    from: "vetwire@clinic.example",
  } as const;
  const mail = new MailServer({
    ...{ session: store, pepper },
    fixed: () => senders.sendMail && { send: senders.sendMail, setting: ofTest },
  });
  const alerts = new AlertWatch({
    ...{ store, now: () => clock.now, logger },
    senders: {
      sendMail: mail.send,
      get webhooks() {
        return senders.webhooks;
      },
    },
  });
  const releaseFolder = join(folder, RELEASES);
  const own = { names: ["clinic-pc", "clinic-pc.local"], addresses: ["192.168.77.10"] };
  const network = new Network({
    ...{ folder, logger, now: () => clock.now, host: "127.0.0.1", fixedBy: [], proxies: [], publicUrl: null },
    mainCertificate: () => undefined,
    own: () => own,
  });
  const app = buildApp(store, {
    pepper,
    now: () => clock.now,
    limits,
    setupCode,
    logger,
    alerts,
    mail,
    releaseFolder,
    network,
    hosting: { backups: () => backups, isLeader: () => true },
  });
  holdToContract(app);
  onTestFinished(async () => {
    await network.stop();
    await app.close();
    await store.close();
  });
  await importEntities(store, ...entities.flat());

  /** Creates a key. */
  async function makeFreshKey(clinicFp: string, permissions: Permission[], more: Partial<NewApiKey> = {}) {
    const clinicId = (await findClinic(store, clinicFp))?.id ?? 0;
    const now = clock.now;
    const wanted: NewApiKey = { clinicId, name: "test", type: "integration", permissions, now, expiresAt: null };
    return createKey(store, pepper, { ...wanted, ...more });
  }

  const keys = new Map<string, Promise<string>>();

  /** Returns the key with these permissions. It is created once, since the keys of a clinic are limited. */
  async function makeKey(clinicFp: string, permissions: Permission[]) {
    const name = `${clinicFp} ${permissions.join()}`;
    const key = keys.get(name) ?? makeFreshKey(clinicFp, permissions);
    keys.set(name, key);
    return key;
  }

  return {
    database,
    releaseFolder,
    store,
    pepper,
    app,
    clock,
    log,
    /** Watches alerts when the test calls it, and sends with `senders`. */
    alerts,
    senders,
    folder,
    network,
    /** The names and addresses of the server's machine, as the test changes them. */
    own,
    /** The code with which the first user is made. */
    setupCode: setupCode?.code ?? "",
    makeKey,
    makeFreshKey,
    /** Sends GET with the key in both headers. Returns the parsed body. */
    get: async (key: string, url: string) => {
      const response = await app.inject({ url, headers: { "x-api-key": key, authorization: `Bearer ${key}` } });
      return { status: response.statusCode, headers: response.headers, body: response.json<Body>() };
    },
    push: async (key: string, ...studies: unknown[]) => {
      const response = await app.inject({
        method: "POST",
        url: "/agent/v1/studies",
        headers: { "x-api-key": key },
        payload: { studies },
      });
      return response.json<{ outcomes: Outcome[] }>().outcomes;
    },
  };
}

/** The contract. All servers share it, since its schemas are slow to compile. */
let contract: Contract | undefined;

/** Checks each response of the app against the API document. */
function holdToContract(app: FastifyInstance): void {
  const ask = app.inject.bind(app);
  app.inject = (async (asked: string | (InjectOptions & { url: string })) => {
    const response = await ask(asked);
    contract ??= new Contract((await ask("/openapi.json")).json<ApiDocument>());
    const { method = "GET", url } = typeof asked === "string" ? { url: asked } : asked;
    const { statusCode: status, headers, rawPayload } = response;
    const isPacked = headers["content-encoding"] === "gzip" && rawPayload.length > 0;
    const text = isPacked ? gunzipSync(rawPayload).toString() : response.body;
    const problems = contract.problems({ method, url, status, headers: Object.entries(headers), text });
    if (problems.length > 0) throw new Error(problems.join("\n"));
    return response;
  }) as typeof app.inject;
}

/** Writes the entities to a file and imports it. */
export async function importEntities(store: Store, ...entities: unknown[]) {
  return importText(store, entities.map((entity) => JSON.stringify(entity)).join("\n"));
}

export async function importText(store: Store, text: string | Buffer, now = noon, ownerId: number | null = null) {
  const file = join(temporaryFolder(), "import.ndjson");
  writeFileSync(file, text);
  return importFile(
    store,
    file,
    () => undefined,
    () => now,
    ownerId,
  );
}

/** Lets connections open without the confirmation of other clinics, as each clinic may choose. */
export async function needNoConfirmation(store: Store): Promise<void> {
  const chosen = { language: null, time_zone: null, confirms_connections: false };
  for (const { id } of await listClinics(store)) {
    await store.transaction((session) => setClinicSettings(session, id, chosen));
  }
}

export function clinic(fp: string): Entity {
  return { type: "clinic", fp, name: "A clinic" };
}

export function patient(changes: Partial<Patient> & { external_ids?: string[]; deleted_at?: string | null } = {}) {
  return {
    type: "patient" as const,
    fp: newFp("patient"),
    name: "Karabaş",
    species: "dog",
    breed: null,
    sex: "male",
    date_of_birth: "2019-04-12",
    weight_kg: 12.5,
    owner_customer_fp: newFp("customer"),
    created_at: "2026-10-01T08:00:00.000Z",
    updated_at: "2026-10-01T08:00:00.000Z",
    ...changes,
  };
}

/** Returns the patient of an import line as the API shows it. */
export function published({
  type: _type,
  external_ids: _ids,
  deleted_at: _deleted,
  ...shown
}: ReturnType<typeof patient>): Patient {
  return shown;
}

export function connection(patient_fp: string, clinic_fp: string, active = true): Entity {
  return { type: "connection", patient_fp, clinic_fp, active };
}

export function study(changes: Partial<PushedStudy> = {}): PushedStudy {
  return {
    fp: newFp("cds"),
    patient_fp: null,
    modality: "BIOCHEMISTRY",
    device_name: "Abaxis VetScan VS2",
    status: "COMPLETED",
    acquired_at: "2026-11-20T10:00:00.000Z",
    results: [
      { analyte: "GLU", value: 5.2, unit: "mmol/L", reference_range: "3.3-6.1", flag: "normal" },
      { analyte: "TBIL", value: 0.2, unit: "mg/dL", reference_range: null, flag: null, comparator: "<" },
    ],
    revision: 1,
    dedupe_key: newFp("cds"),
    source: { device_id: "chem-1", message_id: "1" },
    patient_hint: {
      identifier: "10021",
      name: null,
      species: null,
      breed: null,
      sex: null,
      owner: null,
      date_of_birth: null,
      weight_kg: null,
    },
    ...changes,
  };
}

export const keyPermissions: Permission[] = ["clinic.patient.view", "clinic.lab.ingest"];
