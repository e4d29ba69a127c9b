import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import { encodePng } from "../../../agent/imaging/files/png.ts";
import { AlertWatch } from "../../../server/operations/alert-watch.ts";
import { buildApp } from "../../../server/app.ts";
import { createSetupCode } from "../../../server/dashboard/auth/setup-code.ts";
import { createKey, permissions } from "../../../server/http/auth/api-keys.ts";
import { loadPepper } from "../../../server/http/auth/pepper.ts";
import { listRowsOf } from "../../../server/records/audit/audit.ts";
import { listUnmatched } from "../../../server/records/unmatched/unmatched.ts";
import { exportEntities } from "../../../server/import/export.ts";
import { importFile } from "../../../server/import/importer.ts";
import { openStore } from "../../../server/database/open.ts";
import type { Store } from "../../../server/database/store.ts";
import { findClinic } from "../../../server/records/clinics/keys.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { previewPath } from "../../../shared/api/agent/preview.ts";
import type { DevicesBody, PairingCode } from "../../../server/dashboard/types/devices/devices.ts";
import { KEY_PREFIX, newKey } from "../../../shared/runtime/api-key.ts";
import { clinic, connection, patient, study } from "../../server/harness.ts";
import { batch, event, item, soap } from "../../server/records.ts";
import { frozen, type FrozenClock } from "../runner/frozen.ts";

// The server database of a release: what its routes, its import and its alerts write, and what its routes read from it. The clock
// is stopped and the random numbers are counted, so that each run writes the same rows.

export const RELEASE_AT = Date.parse("2026-11-21T12:00:00.000Z");
const PASSWORD = "seven invented words of a fixture";
const HOUR_MS = 3_600_000;
/** After the last write, within the session of the database. */
const READ_AT = RELEASE_AT + 8 * HOUR_MS;

/** How a test enters the database of a release. All secrets are invented. */
export interface Access {
  /** The file `pepper` of the data folder, in hex. */
  readonly pepper: string;
  readonly clinic: string;
  /** The key of an integration, which may read everything. Without its prefix, by which scanners find real keys. */
  readonly key: string;
  /** The key of a paired agent, without its prefix. */
  readonly agentKey: string;
  /** The Cookie header of an admin's session. */
  readonly cookie: string;
  readonly user: { readonly name: string; readonly password: string };
  /** The paths that are read. */
  readonly paths: readonly string[];
}

/** Fills an empty database, whose other files are in the folder. */
export async function writeReleaseServer(database: string, folder: string, clock: FrozenClock): Promise<Access> {
  const store = await openStore(database);
  const pepper = loadPepper(folder, false);
  const now = () => clock.now;
  const logger = pino({ level: "silent" });
  const setupCode = await createSetupCode(store, folder);
  const alerts = new AlertWatch({ store, logger, now });
  const app = buildApp(store, { pepper, now, logger, ...(setupCode && { setupCode }), alerts });
  try {
    const entities = records();
    await importAll(store, folder, now, entities.lines);
    const users = await addUsers(app, setupCode?.code ?? "", entities.ours);
    const key = await makeIntegrationKey(store, pepper, entities.ours, clock.now);
    const send = sender(app, { cookie: users.cookie, "sec-fetch-site": "same-origin" });
    const agentKey = await addAgent(app, send, entities.ours);
    const studies = await addStudies(app, send, agentKey, entities, clock);
    await addSettings(send, entities);
    // The webhook gets a further study.
    await sender(app, { "x-api-key": agentKey })("POST", "/agent/v1/studies", {
      studies: [study({ patient_fp: entities.cat.fp })],
    });
    await sender(app, { "x-api-key": "vw_not_a_key" })("GET", "/api/v1/patients").catch(() => undefined);
    clock.now += 3 * HOUR_MS;
    await alerts.check();
    await alerts.delivered();
    const paths = [...readPaths(entities, studies)];
    const [own, ofAgent] = [key, agentKey].map((each) => each.slice(KEY_PREFIX.length));
    return { pepper: pepper.toString("hex"), clinic: entities.ours, key: own!, agentKey: ofAgent!, ...users, paths };
  } finally {
    await app.close();
    await store.close();
  }
}

/** Reads a database with the routes, the export and the list of unmatched studies. @returns plain JSON */
export function readReleaseServer(database: string, access: Access): Promise<Record<string, unknown>> {
  // While intervals are stopped, no read is in the audit before the last one.
  return frozen(READ_AT, () => readAll(database, access));
}

async function readAll(database: string, access: Access): Promise<Record<string, unknown>> {
  const store = await openStore(database);
  const pepper = Buffer.from(access.pepper, "hex");
  const app = buildApp(store, { pepper, now: () => READ_AT, logger: pino({ level: "silent" }) });
  try {
    const read: Record<string, unknown> = {};
    const exported: unknown[] = [];
    for await (const line of exportEntities(store)) exported.push(line);
    read["export"] = exported;
    const unmatched: unknown[] = [];
    for (const rejected of [false, true]) {
      for await (const waiting of listUnmatched(store, { clinicId: null, rejected })) unmatched.push(waiting);
    }
    read["unmatched"] = unmatched;
    read["audit"] = await listRowsOf(store, access.clinic);
    const [key, agentKey] = [access.key, access.agentKey].map((each) => KEY_PREFIX + each);
    const keys = { "x-api-key": key, authorization: `Bearer ${key}` };
    const headers = { ...keys, cookie: access.cookie, "sec-fetch-site": "same-origin" };
    for (const url of access.paths) {
      const own = url.startsWith("/agent/") ? { "x-api-key": agentKey } : headers;
      const { statusCode, body } = await app.inject({ url, headers: own });
      read[url] = { status: statusCode, body: JSON.parse(body) as unknown };
    }
    return JSON.parse(JSON.stringify(read)) as Record<string, unknown>;
  } finally {
    await app.close();
    await store.close();
  }
}

type Send = <Body = unknown>(method: "GET" | "POST" | "PUT" | "DELETE", url: string, body?: unknown) => Promise<Body>;

/** @returns a function that sends a request and expects success */
function sender(app: FastifyInstance, headers: Record<string, string>): Send {
  return async <Body>(method: "GET" | "POST" | "PUT" | "DELETE", url: string, body?: unknown) => {
    const payload = body === undefined ? {} : { payload: body as object };
    const answer = await app.inject({ method, url, headers, ...payload });
    if (answer.statusCode !== 200) throw new Error(`${method} ${url} returned ${answer.statusCode}: ${answer.body}`);
    return answer.json<Body>();
  };
}

type Records = ReturnType<typeof records>;

/** Two clinics with patients, connections, records, calendar and stock, as lines of an import. */
function records() {
  const [ours, theirs, owner] = [newFp("clinic"), newFp("clinic"), newFp("customer")];
  const doctor = { type: "user" as const, fp: newFp("user"), name: "Invented Vet", clinic_fp: ours };
  const animal = { owner_customer_fp: owner };
  const dog = patient({ ...animal, name: "Zeytin", external_ids: ["10021", "276001"] });
  const cat = patient({ ...animal, name: "Lokum", species: "cat", sex: "FS", external_ids: ["10022"] });
  const stray = patient({ ...animal, name: "Duman" });
  const gone = patient({ ...animal, name: "Boncuk", deleted_at: "2026-11-02T08:00:00.000Z" });
  const signed = { signed_at: "2026-11-02T09:00:00.000Z" };
  const soaps = [
    soap(dog.fp, ours),
    soap(dog.fp, ours, { status: "IN_PROGRESS" }),
    soap(cat.fp, ours, { status: "SIGNED", ...signed }),
    soap(cat.fp, ours, { status: "LOCKED", ...signed }),
  ];
  const amendment = soap(cat.fp, ours, { subjective: "An amendment.", amends_fp: soaps[3]?.fp ?? null });
  const visit = event(ours, {
    patient_fp: dog.fp,
    assigned_user_fp: doctor.fp,
    start_at: "2026-11-21T13:00:00.000Z",
    end_at: "2026-11-21T13:30:00.000Z",
  });
  const stock = [item(ours), item(ours, { name: "Syringe", category: "CONSUMABLE", quantity_on_hand: 3 })];
  const {
    source: _source,
    dedupe_key: _key,
    revision: _revision,
    patient_hint: _hint,
    ...imported
  } = study({
    patient_fp: cat.fp,
    acquired_at: "2026-10-05T10:00:00.000Z",
  });
  const lines = [
    ...[clinic(ours), clinic(theirs), doctor],
    { type: "customer" as const, fp: owner, locale: { time_zone: "Europe/Istanbul" } },
    ...[dog, cat, stray, gone, connection(dog.fp, ours), connection(cat.fp, ours), connection(cat.fp, theirs)],
    ...[connection(stray.fp, theirs), connection(gone.fp, ours, false), ...soaps, amendment],
    ...[visit, event(ours, { title: "Vaccination" }), ...stock],
    ...stock.map(({ fp }) => batch(fp)),
    { type: "study" as const, ...imported },
  ];
  return { ours, theirs, dog, cat, stray, visit, stock, soaps, imported, lines };
}

async function importAll(store: Store, folder: string, now: () => number, lines: readonly unknown[]): Promise<void> {
  const file = join(folder, "import.ndjson");
  writeFileSync(file, lines.map((line) => JSON.stringify(line)).join("\n"));
  await importFile(store, file, () => undefined, now, null);
}

/** Sets the dashboard up and adds a user of each role. */
async function addUsers(app: FastifyInstance, code: string, ours: string): Promise<Pick<Access, "cookie" | "user">> {
  const user = { name: "fixture admin", password: PASSWORD };
  const made = await app.inject({ method: "POST", url: "/clinic/v1/set-up", payload: { ...user, code } });
  const cookie = String(made.headers["set-cookie"]).replace(/;.*/, "");
  const send = sender(app, { cookie, "sec-fetch-site": "same-origin" });
  for (const role of ["staff", "reader"]) {
    const body = { name: `fixture ${role}`, role, password: PASSWORD };
    await send("POST", `/clinic/v1/clinics/${ours}/users`, body);
  }
  return { cookie, user };
}

async function makeIntegrationKey(store: Store, pepper: Buffer, ours: string, now: number): Promise<string> {
  const clinicId = (await findClinic(store, ours))?.id ?? 0;
  const wanted = { clinicId, name: "integration", type: "integration", permissions: [...permissions], now } as const;
  return createKey(store, pepper, { ...wanted, expiresAt: null });
}

/** Pairs an agent, which sends heartbeats and applies the devices that an admin wrote. */
async function addAgent(app: FastifyInstance, send: Send, ours: string): Promise<string> {
  const { code } = await send<PairingCode>("POST", `/clinic/v1/clinics/${ours}/pairing-code`, {});
  const key = newKey();
  const agent = sender(app, { "x-api-key": key });
  await agent("POST", "/agent/v1/pair", { code, name: "Lab PC" });
  const configuration = { managed: true, version: null, problems: [], devices: "- id: chem-1\n" };
  const device = {
    ...{ id: "chem-1", profile: "generic-astm", name: "Abaxis VetScan VS2", protocol: "astm" },
    ...{ connection: "0.0.0.0:4001", connected: false, state: "cannot connect", reason: "refused by 10.0.0.5:4001" },
    ...{ may_be_off: true, today: { received: 3, filed: 2, unmatched: 1, quarantined: 0 } },
  };
  const beat = { version: "0.1.0", uptime_s: 60, clock_offset_s: -3, outbox: { depth: 1, oldest_at: null } };
  await agent("POST", "/agent/v1/heartbeat", { ...beat, configuration, devices: [device] });
  const { agents } = await send<DevicesBody>("GET", `/clinic/v1/clinics/${ours}/devices`);
  const wanted = "- id: chem-2\n";
  const path = `/clinic/v1/clinics/${ours}/agents/${agents[0]?.fp}/devices`;
  await send("PUT", path, { devices: wanted, edited: configuration.devices });
  return key;
}

/** Pushes studies, corrects one, and places, refuses and types others as users do. */
async function addStudies(app: FastifyInstance, send: Send, agentKey: string, entities: Records, clock: FrozenClock) {
  const { ours, dog, cat } = entities;
  const own = `/clinic/v1/clinics/${ours}`;
  const agent = sender(app, { "x-api-key": agentKey });
  const push = (...studies: object[]) => agent("POST", "/agent/v1/studies", { studies });
  const high = { analyte: "ALT", value: 400, unit: "U/L", reference_range: "10-118", flag: "critical" } as const;
  const unknown = {
    analyte: "413",
    value: 118,
    unit: "mg/dL",
    reference_range: null,
    flag: null,
    code_source: "device",
  } as const;
  const filed = study({ patient_fp: dog.fp, results: [high, unknown] });
  const image = study({ patient_fp: dog.fp, modality: "RADIOLOGY", results: [] });
  const [waiting, placed, rejected] = [study(), study(), study()];
  await push(filed, image, waiting, placed, rejected, { fp: newFp("cds") });
  clock.now += HOUR_MS;
  await push({ ...filed, revision: 2, results: [{ ...high, value: 410 }, unknown] });
  await push({ ...filed, revision: 2, results: [{ ...high, value: 420 }, unknown] });
  const png = Buffer.from(encodePng({ width: 2, height: 2, channels: 1, pixels: new Uint8Array(4) }));
  const picture = { headers: { "x-api-key": agentKey, "content-type": "image/png" }, payload: png };
  await app.inject({ method: "PUT", url: previewPath(image.fp, 1), ...picture });
  await send("POST", `${own}/unmatched/${placed.fp}/assign`, { revision: 1, patient_fp: cat.fp });
  await send("POST", `${own}/unmatched/${rejected.fp}/reject`, { revision: 1, reason: "a control sample" });
  await send("POST", `${own}/results/${filed.fp}/seen`, { revision: 2 });
  const results = [{ analyte: "ALT", value: "150", unit: "U/L" }];
  const typed = { modality: "BIOCHEMISTRY", acquired_at: "2026-11-21T09:00:00.000Z", results };
  const entry = { entry_id: "0123456789abcdef0123456789abcdef", patient_fp: dog.fp, ...typed };
  const { fp } = await send<{ fp: string }>("POST", `${own}/manual-study`, entry);
  await send("PUT", `${own}/codes`, { device_id: "chem-1", code: "413", analyte: "GLU" });
  return { filed: filed.fp, image: image.fp, waiting: waiting.fp, placed: placed.fp, rejected: rejected.fp, typed: fp };
}

async function addSettings(send: Send, { ours, theirs, stray }: Records): Promise<void> {
  const own = `/clinic/v1/clinics/${ours}`;
  await send("PUT", `${own}/settings/clinic`, { language: "tr", time_zone: "Europe/Istanbul" });
  await send("PUT", `${own}/patients/${stray.fp}/connection`, { consent: true });
  await send("POST", `/clinic/v1/clinics/${theirs}/patients/${stray.fp}/other-clinics/${ours}/confirm`, {});
  await send("DELETE", `${own}/patients/${stray.fp}/connection`);
  await send("POST", `${own}/webhooks`, { url: "https://example.com/hook", types: ["study.filed"] });
  await send("POST", `${own}/notifications/channels`, { type: "email", target: "nurse@clinic.example" });
  await send("PUT", `${own}/notifications/quiet-hours`, {
    quiet: { from: "22:00", until: "07:00", exempt_critical: true },
    seen: null,
  });
  const row = { id: "alt-dog", species: "dog", analyte: "ALT", unit: "U/L", low: "12", high: "105" };
  const text = JSON.stringify({ ...row, effective_from: "2026-01-01" });
  await send("PUT", `${own}/ranges`, { text, low_quality: false, replaces: null });
}

function readPaths({ ours, dog, cat, stray, soaps, imported }: Records, studies: Record<string, string>): string[] {
  const own = `/clinic/v1/clinics/${ours}`;
  const fps = [...Object.values(studies), imported.fp];
  return [
    // First, since reading adds rows to the audit and the time of its last use to a key.
    ...["audit", "keys"],
    "/api/v1/patients",
    ...[dog, cat, stray].map(({ fp }) => `/api/v1/patients/${fp}`),
    ...soaps.map(({ fp }) => `/api/v1/soap/${fp}`),
    ...["/api/v1/calendar/events", "/api/v1/inventory", "/api/v1/lab/diagnostics"],
    ...fps.map((fp) => `/api/v1/lab/diagnostics/${fp}`),
    ...["/agent/v1/codes", "/agent/v1/configuration", "/agent/v1/ranges", "/agent/v1/identifiers", "/agent/v1/removed"],
    ...["/clinic/v1/session", "/clinic/v1/account"],
    ...["devices", "patients", "results", "today", "unmatched", "stock", "codes", "ranges", "users"],
    ...["webhooks", "notifications", "results-devices"],
  ]
    .map((path) => (path.startsWith("/") ? path : `${own}/${path}`))
    .concat(fps.map((fp) => `${own}/results/${fp}`))
    .concat([dog, cat].flatMap(({ fp }) => [`${own}/patients/${fp}`, `${own}/patients/${fp}/results`]))
    .concat([`${own}/results/${studies["image"]}/previews`, `${own}/calendar?day=2026-11-21`]);
}
