import type { FastifyInstance, InjectOptions } from "fastify";
import { encodePng } from "../../../agent/imaging/files/png.ts";
import { permissions } from "../../../server/http/auth/api-keys.ts";
import { deviceId, idOf, observationId } from "../../../server/fhir/resources/ids.ts";
import { exportEntities } from "../../../server/import/export.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { previewPath } from "../../../shared/api/agent/preview.ts";
import type { QualityBody, SeriesBody } from "../../../server/dashboard/types/quality.ts";
import type { MovementList } from "../../../server/dashboard/types/stock.ts";
import type { ProposalContent } from "../../../server/dashboard/types/settings/own-intervals.ts";
import { ownInterval } from "../../../shared/clinical/compare/own-interval.ts";
import { findClinic } from "../../../server/records/clinics/keys.ts";
import { storeProposal } from "../../../server/records/intervals/proposals.ts";
import { type Role, roles } from "../../../server/dashboard/types/settings/session.ts";
import { makeOperator, makeUser, type TestUser } from "../../dashboard/harness.ts";
import { connection, patient, startServer, study, type TestServer } from "../harness.ts";
import { controlRun, deviceEvent, pushQuality } from "../quality.ts";
import { batch, event, item, soap } from "../records.ts";

// Two clinics of one server with one record of each kind. Each text of a clinic holds the clinic's marker, so that a response
// with the marker of the other clinic is a leak, in whatever field.

export interface Route {
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly url: string;
}

/** Reads all routes of an app, those of plugins and files included. The app must be ready. */
export function routesOf(app: FastifyInstance): Route[] {
  const parents: string[] = [];
  return app
    .printRoutes({ commonPrefix: false })
    .split("\n")
    .flatMap((line) => {
      const [, indent = "", part = "", methods = ""] = /^(.*?[├└]── )(\S+) \((.*)\)$/.exec(line) ?? [];
      if (part === "") return [];
      const depth = indent.length / 4 - 1;
      const url = `${depth === 0 ? "" : (parents[depth - 1] ?? "")}${part}`;
      parents[depth] = url;
      return methods.split(", ").map((method) => ({ method: method as Route["method"], url }));
    });
}

/** A clinic with its callers and the ids of its records. */
export type MarkedClinic = Awaited<ReturnType<typeof fill>>;

/** Starts a server with two clinics. `prepare` may add hooks to it. */
export async function startTwoClinics(prepare: (app: FastifyInstance) => void = () => undefined) {
  const [first, second] = [recordsOf("OursMark"), recordsOf("TheirsMark")];
  // Each animal had another number before.
  const earlier = [first, second].map(({ marker, animal }) => ({ ...animal, external_ids: [`${marker}-0`] }));
  const server = await startServer(earlier, first.entities, second.entities);
  prepare(server.app);
  return { server, ours: await fill(server, first), theirs: await fill(server, second) };
}

function recordsOf(marker: string) {
  const fp = newFp("clinic");
  const animal = patient({ name: `${marker} dog`, breed: marker, external_ids: [`${marker}-1`] });
  const record = soap(animal.fp, fp, { subjective: marker, objective: marker, assessment: marker, plan: marker });
  const visit = event(fp, { title: marker, patient_fp: animal.fp });
  const vaccine = item(fp, { name: marker, sku: marker });
  const named = { type: "clinic" as const, fp, name: `${marker} clinic` };
  const entities = [named, animal, connection(animal.fp, fp), record, visit, vaccine];
  return {
    marker,
    fp,
    animal,
    record,
    visit,
    vaccine,
    entities: [...entities, batch(vaccine.fp, { lot: marker, quantity: 12 })],
  };
}

async function fill(server: TestServer, { marker, fp, animal, record, visit, vaccine }: ReturnType<typeof recordsOf>) {
  const [key, agentKey] = [
    await server.makeFreshKey(fp, [...permissions], { name: `${marker} key` }),
    await server.makeFreshKey(fp, ["clinic.lab.ingest"], { name: `${marker} PC`, type: "device" }),
  ];
  const users = new Map<Role, TestUser>();
  for (const role of roles) users.set(role, await makeUser(server, role, fp));
  const operator = await makeOperator(server);
  const admin = users.get("admin") ?? (await makeUser(server, "admin", fp));
  const made = async (path: string, body: object) =>
    (await admin.call<{ id?: string }>("POST", path, body)).body.id ?? "";

  const unknown = { analyte: `${marker}-code`, value: 1, unit: "U/L", reference_range: null, flag: null };
  const results = [{ ...unknown, code_source: "device" as const }, ...study().results];
  const hint = { ...study().patient_hint, identifier: marker, name: marker, owner: marker };
  const [filed, pictured, waiting, unwanted] = [
    study({ patient_fp: animal.fp, device_name: marker, results }),
    study({ patient_fp: animal.fp, device_name: marker, modality: "RADIOLOGY", results: [] }),
    study({ device_name: marker, patient_hint: hint }),
    study({ device_name: marker, patient_hint: hint }),
  ];
  await server.push(agentKey, filed, pictured, waiting, unwanted);
  const picture = encodePng({ width: 2, height: 2, channels: 1, pixels: new Uint8Array(4) });
  const agentHeaders = { "x-api-key": agentKey };
  await server.app.inject({
    method: "PUT",
    url: previewPath(pictured.fp, 1),
    headers: { ...agentHeaders, "content-type": "image/png" },
    payload: Buffer.from(picture),
  });
  const devices = `- id: ${marker}\n`;
  const configuration = { managed: true, version: null, problems: [], devices };
  await server.app.inject({
    method: "POST",
    url: "/agent/v1/heartbeat",
    headers: agentHeaders,
    payload: { version: "0.1.0", configuration },
  });
  const { series, value: controlValue } = await fillQuality(server, { marker, agentKey, admin });
  const webhook = await made("/webhooks", { url: `https://${marker}.example/hook`, types: ["study.filed"] });
  const options = { name_order: "owner_first", local_first: false, pdf: false, application: "", facility: "" };
  // In a path; an answer that repeats it shows no marker.
  const slug = `pims-${marker.toLowerCase()}`;
  const destination = await made("/destinations", { name: marker, address: `tls://${marker}.invalid:6661`, options });
  await server.app.inject({
    method: "PUT",
    url: "/agent/v1/destinations",
    headers: asKey(key),
    payload: { destinations: [{ id: slug, kind: "hl7" }] },
  });
  const wanted = { patient_fp: animal.fp, device: marker, panel: marker, tests: [marker] };
  const { fp: order } = (await admin.call<{ fp: string }>("POST", "/orders", wanted)).body;
  const channel = await made("/notifications/channels", { type: "email", target: `${marker}@clinic.example` });
  const shared = { revision: 1, language: "en", zone: "UTC", days: 30 };
  const link = await made(`/results/${filed.fp}/links`, shared);
  const proposal = await propose(server, { fp, userId: admin.id, marker, studyFp: filed.fp });
  const upload = await server.app.inject({
    method: "POST",
    url: `/clinic/v1/clinics/${fp}/imports?name=${marker}.csv`,
    headers: { cookie: admin.cookie, "sec-fetch-site": "same-origin", "content-type": "application/octet-stream" },
    payload: Buffer.from(`Name;Species;Owner\n${marker};cat;${marker}\n`),
  });
  const file = upload.json<{ id: string }>().id;
  const none = { breed: null, sex: null, date_of_birth: null, weight_kg: null };
  const add = async (species: string) => {
    const owner = { name: `${marker} ${species}`, phone: null, email: null, language: null, time_zone: null };
    const written = { name: `${species} of ${marker}`, species, ...none, identifiers: [], owner };
    const body = { animal: written, seen: [] };
    return (await admin.call<{ fp: string; batch: string }>("POST", "/patients", body)).body;
  };
  const [double, { batch: change }] = [await add("dog"), await add("cat")];
  await admin.call("POST", `/stock/${vaccine.fp}/consume`, { quantity: 1, patient_fp: animal.fp });
  const { items: movements } = (await admin.call<MovementList>("GET", `/stock/${vaccine.fp}/movements`)).body;
  const spare = await makeUser(server, "reader", fp);
  await makeKeyToLose(admin, marker);
  const list = async <T>(path: string) => (await admin.call<T>("GET", path)).body;
  const { keys } = await list<{ keys: { id: string; name: string }[] }>("/keys");
  const { agents } = await list<{ agents: { fp: string }[] }>("/devices");
  const { users: members } = await list<{ users: { id: string; name: string }[] }>("/users");
  const { sessions } = (await spare.call<{ sessions: { id: string }[] }>("GET", "/clinic/v1/account")).body;

  /** Ids of resources of FHIR. */
  const resources = {
    Patient: idOf(animal.fp),
    DiagnosticReport: idOf(filed.fp),
    Specimen: idOf(filed.fp),
    Observation: observationId(filed.fp, 0),
    ImagingStudy: idOf(pictured.fp),
    ServiceRequest: idOf(order),
    Device: deviceId(marker),
  };
  /** Ids by the parameter of the path that takes them. None ends a caller: nobody calls with these users and keys. */
  const ids: Readonly<Record<string, readonly string[]>> = {
    fp: [
      animal.fp,
      record.fp,
      animal.owner_customer_fp,
      visit.fp,
      vaccine.fp,
      filed.fp,
      pictured.fp,
      waiting.fp,
      unwanted.fp,
      order,
    ],
    patient: [animal.fp],
    batch: [change],
    id: [
      keys.find(({ name }) => name === `${marker} spare`)?.id ?? "",
      webhook,
      channel,
      ...[file, destination, slug],
      ...Object.values(resources),
    ],
    user: [members.find(({ name }) => name === spare.name)?.id ?? ""],
    session: sessions.map(({ id }) => id),
    agent: agents.map((agent) => agent.fp),
    position: ["1"],
    file: ["agent.tar.gz"],
    link: [link],
    movement: movements.map(({ id }) => String(id)),
    proposal: [proposal],
    series: [series],
    value: [controlValue],
  };
  /** The record that fits the path of a route, by the start of the path. */
  const fitting: readonly (readonly [path: RegExp, id: string])[] = [
    [/patients\/:fp/, animal.fp],
    [/patients\/from-result\/:fp/, waiting.fp],
    [/owners\/:fp/, animal.owner_customer_fp],
    [/(results|diagnostics)\/:fp\/previews/, pictured.fp],
    [/(results|diagnostics|agent\/v1\/previews)\/:fp/, filed.fp],
    [/unmatched\/:fp\/re/, unwanted.fp],
    [/unmatched\/:fp/, waiting.fp],
    [/(records|soap)\/:fp/, record.fp],
    [/calendar\/:fp/, visit.fp],
    [/orders\/:fp/, order],
    [/orders\/without-order\/:fp/, filed.fp],
    [/stock\/:fp/, vaccine.fp],
    ...Object.entries(resources).map(([type, id]) => [new RegExp(`^/fhir/R4/${type}/:id`), id] as const),
    [/webhooks\/:id/, webhook],
    [/(?:clinics\/:clinic|settings)\/destinations\/:id/, destination],
    [/agent\/v1\/destinations\/:id/, slug],
    [/channels\/:id/, channel],
    [/imports\/:id/, file],
    [/./, ""],
  ];
  /** Fills the path of a route with ids of this clinic. */
  const pathTo = (url: string): string => {
    const first = fitting.find(([path]) => path.test(url))?.[1] ?? "";
    const own = (name: string) =>
      name === "clinic" ? fp : (name === "fp" || name === "id") && first !== "" ? first : (ids[name]?.[0] ?? "");
    return url.replaceAll(/:(\w+)/g, (_all, name: string) => own(name));
  };
  /** Further values that bodies name. */
  const named = {
    animal: animal.fp,
    /** Another animal, which may be merged into it. */
    double: double.fp,
    study: filed.fp,
    device: "chem-1",
    devices,
    member: spare.name,
    agent: agents[0]?.fp ?? "",
    message: `${webhook}.1`,
    controlValue,
    version: (await list<{ version: string }>(`/records/${record.fp}`)).version,
    owner: animal.owner_customer_fp,
    animalVersion: (await list<{ version: string }>(`/patients/${animal.fp}/edit`)).version,
    pairVersion: (await list<{ version: string }>(`/patients/${animal.fp}/merge/${double.fp}`)).version,
    ownerVersion: (await list<{ owner: { version: string } }>(`/patients/${animal.fp}`)).owner.version,
  };
  return { marker, fp, key, agentKey, users, admin, operator, ids, named, pathTo };
}

/** Pushes a control, one whose sample nobody has named, and an event. */
async function fillQuality(
  server: TestServer,
  { marker, agentKey, admin }: { marker: string; agentKey: string; admin: TestUser },
): Promise<{ series: string; value: string }> {
  const named = { device_name: marker, source: { device_id: "chem-1" } };
  await pushQuality(
    server,
    agentKey,
    controlRun({ ...named, material: marker, lot: marker, comments: [marker] }),
    controlRun({ ...named, material: null, level: null, lot: null, sample_ids: [`${marker} QC`] }),
    deviceEvent({ ...named, subject: marker, text: marker }),
  );
  const { devices } = (await admin.call<QualityBody>("GET", "/quality")).body;
  const series = devices[0]?.series[0]?.id ?? "";
  const { points } = (await admin.call<SeriesBody>("GET", `/quality/series/${series}`)).body;
  return { series, value: points[0]?.id ?? "" };
}

/** Stores a proposal that names the clinic, without the forty animals that the route needs. */
async function propose(
  { store, clock }: TestServer,
  { fp, userId, marker: device, studyFp: study_fp }: { fp: string; userId: number; marker: string; studyFp: string },
): Promise<string> {
  const clinicId = (await findClinic(store, fp))?.id ?? 0;
  const interval = ownInterval(Array.from({ length: 60 }, (_, index) => index));
  if (interval.state !== "interval") throw new Error("expected an interval");
  const time = { from: "2026-01-01", to: "2026-11-29" };
  const content: ProposalContent = {
    subject: { animal: "dog", analyte: "ALT", device, age_from: null, age_to: null, ...time },
    ...{ unit: "U/L", decimals: 0, values: [{ study_fp, value: 1 }], left_out: [], interval, now: null },
  };
  return store.transaction((session) => storeProposal(session, { clinicId, userId, content, now: clock.now }));
}

async function makeKeyToLose(admin: TestUser, marker: string): Promise<void> {
  const wanted = { name: `${marker} spare`, type: "integration", permissions: ["clinic.patient.view"] };
  await admin.call("POST", "/keys", { ...wanted, expires_in_days: null });
}

/** Headers of a caller at every door: a key as both headers take it, or the cookie of a session of a page. */
export const asKey = (key: string) => ({ "x-api-key": key, authorization: `Bearer ${key}` });
export const asPage = ({ cookie }: Pick<TestUser, "cookie">) => ({ cookie, "sec-fetch-site": "same-origin" });

/** Sends a request of a route. A body goes along with each change. */
export async function send(
  app: FastifyInstance,
  { method, url }: Route,
  headers: Record<string, string>,
  body: unknown = {},
) {
  const isChange = method !== "GET" && method !== "HEAD";
  const asked: InjectOptions & { url: string } = { method, url, headers, ...(isChange && { payload: body as object }) };
  return app.inject(asked);
}

export const rowOf = ({ method, url }: Route) => `${method} ${url}`;

/** The headers of a clinic's best caller at the door of a path. */
export function headersAt(
  url: string,
  clinic: Pick<MarkedClinic, "admin" | "key" | "operator">,
): Record<string, string> {
  if (url.startsWith("/operator/")) return asPage(clinic.operator);
  return url.startsWith("/clinic/") ? asPage(clinic.admin) : asKey(clinic.key);
}

/** All that the users of a clinic see, without the audit, which this look itself changes. */
export async function viewOf({ app, store }: TestServer, clinic: MarkedClinic): Promise<unknown> {
  const view: [string, string][] = [];
  for (const route of routesOf(app)) {
    const isList = route.method === "GET" && /^\/clinic\/v1\/clinics\/:clinic\/[^:]*$/.test(route.url);
    if (!isList || route.url.endsWith("/events") || /audit/.test(route.url)) continue;
    const url = route.url.replace(":clinic", clinic.fp);
    view.push([url, (await send(app, { ...route, url }, asPage(clinic.admin))).body]);
  }
  const lines = [];
  for await (const line of exportEntities(store)) lines.push(line);
  return { view, lines };
}
