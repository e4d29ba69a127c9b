import type { FastifyInstance, InjectOptions } from "fastify";
import { encodePng } from "../../../agent/imaging/png.ts";
import { permissions } from "../../../server/http/auth/api-keys.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { previewPath } from "../../../shared/api/preview.ts";
import { type Role, roles } from "../../../shared/dashboard/session.ts";
import { makeUser, type TestUser } from "../../dashboard/harness.ts";
import { connection, patient, startServer, study, type TestServer } from "../harness.ts";
import { batch, event, item, soap } from "../records.ts";

// Two clinics of one server with one record of each kind. Each text of a clinic holds the clinic's marker, so that an answer with
// the marker of the other clinic is a leak, whatever field it stands in.

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

/** Starts a server with two clinics. */
export async function startTwoClinics() {
  const [first, second] = [recordsOf("OursMark"), recordsOf("TheirsMark")];
  const server = await startServer(first.entities, second.entities);
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
  const admin = users.get("admin") ?? (await makeUser(server, "admin", fp));
  const made = async (path: string, body: object) =>
    (await admin.call<{ id?: string }>("POST", path, body)).body.id ?? "";

  const unknown = { analyte: `${marker}-code`, value: 1, unit: "U/L", reference_range: null, flag: null };
  const results = [{ ...unknown, code_source: "device" as const }, ...study().results];
  const [filed, pictured, waiting] = [
    study({ patient_fp: animal.fp, device_name: marker, results }),
    study({ patient_fp: animal.fp, device_name: marker, modality: "RADIOLOGY", results: [] }),
    study({
      device_name: marker,
      patient_hint: { ...study().patient_hint, identifier: marker, name: marker, owner: marker },
    }),
  ];
  await server.push(agentKey, filed, pictured, waiting);
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
  const webhook = await made("/webhooks", { url: `https://${marker}.example/hook`, types: ["study.filed"] });
  const channel = await made("/notifications/channels", { type: "email", target: `${marker}@clinic.example` });
  const spare = await makeUser(server, "reader", fp);
  await makeKeyToLose(admin, marker);
  const list = async <T>(path: string) => (await admin.call<T>("GET", path)).body;
  const { keys } = await list<{ keys: { id: string; name: string }[] }>("/keys");
  const { agents } = await list<{ agents: { fp: string }[] }>("/devices");
  const { users: members } = await list<{ users: { id: string; name: string }[] }>("/users");
  const { sessions } = (await spare.call<{ sessions: { id: string }[] }>("GET", "/clinic/v1/account")).body;

  /** Ids by the parameter of the path that takes them. None ends a caller: users and keys are those that nobody calls with. */
  const ids: Readonly<Record<string, readonly string[]>> = {
    fp: [animal.fp, record.fp, visit.fp, vaccine.fp, filed.fp, pictured.fp, waiting.fp],
    patient: [animal.fp],
    id: [keys.find(({ name }) => name === `${marker} spare`)?.id ?? "", webhook, channel],
    user: [members.find(({ name }) => name === spare.name)?.id ?? ""],
    session: sessions.map(({ id }) => id),
    agent: agents.map((agent) => agent.fp),
    position: ["1"],
    file: ["agent.tar.gz"],
  };
  const named = { animal: animal.fp, item: vaccine.fp, waiting: waiting.fp, device: "chem-1", devices };
  return { marker, fp, key, agentKey, users, admin, ids, named };
}

async function makeKeyToLose(admin: TestUser, marker: string): Promise<void> {
  const wanted = { name: `${marker} spare`, type: "integration", permissions: ["clinic.patient.view"] };
  await admin.call("POST", "/keys", { ...wanted, expires_in_days: null });
}

/** Headers of a caller at every door: a key as both headers take it, or the cookie of a session of a page. */
export const asKey = (key: string) => ({ "x-api-key": key, authorization: `Bearer ${key}` });
export const asPage = ({ cookie }: TestUser) => ({ cookie, "sec-fetch-site": "same-origin" });

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
