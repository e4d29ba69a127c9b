import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import Database from "better-sqlite3";
import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import { AuditQueue } from "../../../server/records/audit/audit-queue.ts";
import { auditRequests, startAuditTrail } from "../../../server/http/audit-trail.ts";
import { createKey } from "../../../server/http/auth/api-keys.ts";
import { authenticateRequests } from "../../../server/http/auth/authentication.ts";
import { authorizeRequests } from "../../../server/http/auth/authorization.ts";
import { createKeyLookup } from "../../../server/http/auth/key-lookup.ts";
import { createKeyUse } from "../../../server/http/auth/key-use.ts";
import { loadPepper } from "../../../server/http/auth/pepper.ts";
import { Drain } from "../../../server/http/drain.ts";
import { handleErrors } from "../../../server/http/error-handler.ts";
import { createHttpServer, defaultTimeouts } from "../../../server/http/http-server.ts";
import { reportIgnoredParameters } from "../../../server/http/query-parameters.ts";
import { memoryCounters } from "../../../server/http/rate-limit/memory-counters.ts";
import { limitRequests } from "../../../server/http/rate-limit/rate-limit.ts";
import { defaultLimits, RateLimiter } from "../../../server/http/rate-limit/rate-limiter.ts";
import { startRequestContext } from "../../../server/http/request-context.ts";
import { refuseUnknownRoutes } from "../../../server/http/unknown-routes.ts";
import { cacheResponses } from "../../../server/http/response-cache/response-cache.ts";
import { calendarRoutes } from "../../../server/api/calendar.ts";
import { agentRoutes } from "../../../server/api/agent/ingest.ts";
import { patientRoutes } from "../../../server/api/patients.ts";
import { openStore } from "../../../server/database/open.ts";
import type { Store } from "../../../server/database/store.ts";
import { findClinic } from "../../../server/records/clinics/keys.ts";
import { SyncPoints } from "../../../server/records/changes/sync-point.ts";
import { SteadyTime } from "../../../server/database/steady-time.ts";
import { importFile } from "../../../server/import/importer.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { type Clock, type Machine, Process } from "./clock.ts";
import type { HttpAnswer, HttpRequest } from "./network.ts";

// The real server on a real database. It responds through inject(), at one moment of virtual time.

export const PATIENTS = ["PET-1", "PET-2", "PET-3", "PET-4"] as const;

/** Writes the folder of a server that knows the patients, to copy for each world. @returns the key of the agent */
export async function makeServerFolder(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const store = await openStore(folder, 1000);
  const clinic = newFp("clinic");
  const lines = [
    { type: "clinic", fp: clinic, name: "A clinic" },
    ...PATIENTS.flatMap((id) => {
      const fp = newFp("patient");
      return [
        { ...PATIENT, fp, name: id, owner_customer_fp: newFp("customer"), external_ids: [id] },
        { type: "connection", patient_fp: fp, clinic_fp: clinic, active: true },
      ];
    }),
  ];
  const file = path.join(folder, "import.ndjson");
  writeFileSync(file, lines.map((line) => JSON.stringify(line)).join("\n"));
  const now = Date.parse(EPOCH);
  await importFile(
    store,
    file,
    () => undefined,
    () => now,
    null,
  );
  const clinicId = (await findClinic(store, clinic))?.id ?? 0;
  const key = await createKey(store, loadPepper(folder, false), {
    clinicId,
    name: "agent",
    type: "device",
    permissions: ["clinic.lab.ingest", "clinic.patient.view", "clinic.calendar.view"],
    now,
    expiresAt: null,
  });
  writeFileSync(path.join(folder, "agent.key"), key, { mode: 0o600 });
  await store.close();
}

/** The server's clock at the start of a world. */
export const EPOCH = "2026-03-02T08:00:00.000Z";

const PATIENT = {
  type: "patient",
  species: "dog",
  breed: null,
  sex: "male",
  date_of_birth: "2019-04-12",
  weight_kg: 12.5,
  created_at: "2026-01-01T08:00:00.000Z",
  updated_at: "2026-01-01T08:00:00.000Z",
};

/** A study as an agent pushed it. */
export interface PushedStudy {
  readonly fp: string;
  readonly revision: number;
  readonly dedupe_key: string;
  readonly acquired_at: string;
  readonly source: { readonly device_id: string };
  readonly results: readonly { readonly analyte: string; readonly value: number }[];
}

/** A study in the database of the server. */
export interface StoredStudy {
  readonly fp: string;
  /** Null while a person must choose the patient. */
  readonly patient: string | null;
  /** Milliseconds since 1970. */
  readonly acquiredAt: number;
  readonly alt: number;
}

const logger = pino({ enabled: false });

/** Builds the endpoints that the agent calls, as app.ts does. The other routes take most of a start's time. */
function buildApp(store: Store, pepper: Buffer, now: () => number): FastifyInstance {
  const app = createHttpServer({ logger, timeouts: defaultTimeouts, trustProxy: [], certificate: undefined });
  const trail = startAuditTrail(app, new AuditQueue(store, logger, now, new SteadyTime({ wall: now })));
  const limiter = new RateLimiter(defaultLimits, memoryCounters());
  const keys = { findKey: createKeyLookup(store, pepper), noteUse: createKeyUse(app, store, logger), now };
  const quota = { studiesMax: null, deferred: 0 };
  const syncPoints = new SyncPoints(store);
  const context = {
    store,
    now,
    concealUnconnected: false,
    quota,
    syncPoints,
    releaseFolder: null,
    render: async () => null,
    pictures: null,
    drain: new Drain(),
  };
  app.setSerializerCompiler(() => JSON.stringify);
  startRequestContext(app, new Drain());
  refuseUnknownRoutes(app);
  reportIgnoredParameters(app);
  handleErrors(app, logger);
  app.register(async (api) => {
    auditRequests(api, trail, now);
    authenticateRequests(api, keys);
    cacheResponses(api, limiter, now, { hits: 0, misses: 0, bytes: 0 });
    limitRequests(api, limiter, now);
    authorizeRequests(api);
    patientRoutes(api, context);
    calendarRoutes(api, context);
  });
  app.register(async (agent) => {
    auditRequests(agent, trail, now);
    authenticateRequests(agent, keys);
    limitRequests(agent, limiter, now);
    authorizeRequests(agent);
    agentRoutes(agent, context);
  });
  return app;
}

export class SimulatedServer {
  readonly folder: string;
  readonly machine: Machine = { name: "server", wallAtStart: Date.parse(EPOCH) };
  /** The machine itself: requests reach it also while the server is down. */
  readonly host = new Process(this.machine);
  /** Called with the studies of each request that arrives. */
  onPush: (studies: readonly PushedStudy[]) => void = () => undefined;
  /** A study with this ALT makes the server fail. */
  poison: number | null = null;
  readonly #clock: Clock;
  #running: { readonly app: FastifyInstance; readonly store: Store } | null = null;
  /** The connection of the model. */
  #reader: Database.Database | null = null;

  constructor(folder: string, template: string, clock: Clock) {
    cpSync(template, folder, { recursive: true });
    this.folder = folder;
    this.#clock = clock;
  }

  get keyFile(): string {
    return path.join(this.folder, "agent.key");
  }

  /** Starts the server unless it runs. */
  async start(): Promise<void> {
    if (this.#running !== null) return;
    const store = await openStore(this.folder, 1000);
    const app = buildApp(store, loadPepper(this.folder, true), () => this.#clock.wall(this.machine));
    await app.ready();
    this.#running = { app, store };
  }

  /** Ends the server without a word, as a crash does. */
  async crash(): Promise<void> {
    const running = this.#running;
    this.#running = null;
    await running?.app.close();
    await running?.store.close();
  }

  /** Handles a request. @returns the response; null if the server is down */
  async serve({ method, path: url, headers, body }: HttpRequest): Promise<HttpAnswer | null> {
    if (this.#running === null) return null;
    if (url.startsWith("/agent/v1/studies")) {
      const json = headers["content-encoding"] === "gzip" ? gunzipSync(body) : body;
      const { studies } = JSON.parse(json.toString()) as { studies: PushedStudy[] };
      this.onPush(studies);
      if (studies.some((study) => altOf(study.results) === this.poison)) return FAILED;
    }
    const request = { method: method as "GET", url, headers, ...(body.length > 0 && { payload: body }) };
    const response = await this.#running.app.inject(request);
    const date = new Date(this.#clock.wall(this.machine)).toUTCString();
    const own = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
    return { status: response.statusCode, headers: { ...Object.fromEntries(own), date }, body: response.rawPayload };
  }

  /** Reads all studies from the database. */
  studies(): StoredStudy[] {
    const rows = this.#database()
      .prepare(
        `SELECT s.fp, p.name AS patient, s.acquired_at AS acquiredAt, s.results
         FROM study s LEFT JOIN patient p ON p.id = s.patient_id ORDER BY s.id`,
      )
      .all() as (Omit<StoredStudy, "alt"> & { results: string })[];
    return rows.map(({ results, ...study }) => ({
      ...study,
      alt: altOf(JSON.parse(results) as PushedStudy["results"]),
    }));
  }

  /** Reads the values of all control runs from the database. */
  controls(): { readonly measuredAt: number; readonly value: number }[] {
    return this.#database().prepare("SELECT measured_at AS measuredAt, value FROM control_value ORDER BY id").all() as {
      measuredAt: number;
      value: number;
    }[];
  }

  #database(): Database.Database {
    return (this.#reader ??= new Database(path.join(this.folder, "vetwire.db"), { readonly: true }));
  }

  /** Ends the server with its world. */
  async end(): Promise<void> {
    await this.crash();
    this.#reader?.close();
  }
}

/** The response of a server that failed at a request. */
const FAILED: HttpAnswer = {
  status: 500,
  headers: { "content-type": "application/json" },
  body: Buffer.from(JSON.stringify({ success: false, error: { code: "SERVER.INTERNAL", message: "failed" } })),
};

/** The ALT of an image study. */
export const NO_ALT = -1;

/** The ALT of a study, which is the number of its message. */
export function altOf(results: PushedStudy["results"]): number {
  return results.find(({ analyte }) => analyte === "ALT")?.value ?? NO_ALT;
}
