import { expect, test } from "vitest";
import type { LastImport } from "../../../server/dashboard/types/file-import.ts";
import { isBusy } from "../../../server/import/jobs/import-runner.ts";
import { until } from "../../support/machine/processes.ts";
import { allStored, onPostgres } from "../harness.ts";
import { bodiesOf } from "./bodies.ts";
import { headersAt, routesOf, send, startTwoClinics, viewOf } from "./two-clinics.ts";

// API3, broken object property level authorization: a field that a body may not hold is refused, or ignored where an older server
// must take the body of a newer agent. It is never stored. The responses hold documented fields alone: startServer() compares
// each response of /api/v1 with the API document, in which further fields are faults. The serializer of /api/v1 drops such
// fields.

const PLANTED = "PlantedValue";

/** Fields that a server sets by itself, or that change what a JavaScript object is. */
const extras: readonly (readonly [name: string, value: unknown])[] = [
  ...["id", "fp", "clinic", "clinic_fp", "user_id", "created_by", "permissions", "is_admin"].map(
    (name) => [name, PLANTED] as const,
  ),
  ...["clinic_id", "api_key_id"].map((name) => [name, 2] as const),
  ["roles", [PLANTED, "admin"]],
  ["created_at", "2020-01-01T00:00:00.000Z"],
  ["constructor", { prototype: { clinic: PLANTED } }],
];

/** Routes that refuse a fitting body: there is no release, delivery, failed control, no such password, no 20 controls, and another clinic. */
const REFUSED = /\/(rollout|rollout\/skip|release|resend|add|password|mail-server|ranges\/own|accept)$/;

type World = Awaited<ReturnType<typeof startTwoClinics>>;

const rowsOf = (ours: World["ours"]) => Object.keys(bodiesOf(ours)).filter((row) => row.includes(" /clinic/"));

/** Reads the version of the record that a row changes. */
async function currentVersion({ admin, named, pathTo }: World["ours"], row: string): Promise<string> {
  const read = async <T>(path: string) => (await admin.call<T>("GET", path)).body;
  if (row.includes("/owners/"))
    return (await read<{ owner: { version: string } }>(`/patients/${named.animal}`)).owner.version;
  if (row.endsWith("/merge")) return named.pairVersion;
  if (row.includes("/ranges/")) return (await read<{ version: string }>("/ranges")).version;
  const path = row.includes("/patients/") ? pathTo("/patients/:fp/edit") : pathTo("/records/:fp");
  return (await read<{ version: string }>(path)).version;
}

async function answerTo({ server, ours }: World, row: string, body: object | undefined) {
  const [method = "", url = ""] = row.split(" ");
  return send(server.app, { method: method as "POST", url: ours.pathTo(url) }, headersAt(url, ours), body);
}

/** The schemas of bodies are those of any engine, so PostgreSQL gets the fields of another clinic alone. */
const tried = () => extras.filter(([name]) => !onPostgres() || name === "clinic" || name === "clinic_id");

/** Adds each extra field to each body of the dashboard. @returns the responses that do not refuse it by its name */
async function acceptedExtras(world: World): Promise<string[]> {
  const faults: string[] = [];
  for (const row of rowsOf(world.ours)) {
    const body = bodiesOf(world.ours)[row] ?? {};
    for (const [name, value] of tried().filter(([extra]) => !Object.hasOwn(body, extra))) {
      const { statusCode, body: text } = await answerTo(world, row, { ...body, [name]: value });
      // A skip without a roll-out under way is refused before its body is read.
      const isRefused = row.endsWith("/skip") ? statusCode === 409 : statusCode === 400 && text.includes(name);
      if (!isRefused) faults.push(`${row} with ${name}: ${statusCode} ${text}`);
    }
  }
  return faults;
}

async function noImportRuns(world: World): Promise<boolean> {
  const { body } = await answerTo(world, "GET /clinic/v1/clinics/:clinic/imports", undefined);
  const { last } = JSON.parse(body) as LastImport;
  return last === null || !isBusy(last.phase);
}

test("a field that a body of the dashboard may not hold is refused, and without it the body is taken", {
  timeout: 240_000,
}, async () => {
  const world = await startTwoClinics();
  const { server, ours } = world;
  expect(rowsOf(ours).length).toBeGreaterThan(28);
  const before = await viewOf(server, ours);
  expect(await acceptedExtras(world)).toEqual([]);
  expect(await viewOf(server, ours)).toEqual(before);
  for (const row of rowsOf(ours)) {
    if (row.includes("/imports/")) await until("no import runs in the background", () => noImportRuns(world));
    const body = { ...bodiesOf(ours)[row] };
    // An earlier row may have changed the record.
    if ("version" in body) Object.assign(body, { version: await currentVersion(ours, row) });
    if (row.endsWith("/ranges/limits")) Object.assign(body, { replaces: await currentVersion(ours, row) });
    const { statusCode, body: text } = await answerTo(world, row, body);
    const taken = REFUSED.test(row) ? [404, 409, 401, 403] : [200];
    expect(taken, `${row} answers ${statusCode}: ${text}`).toContain(statusCode);
  }
  expect(allStored(server.database)).not.toContain(PLANTED);
});

/** Sends every extra field in the bodies of an agent, at each depth. @returns the texts of the responses */
async function pushExtras({ server, ours }: World): Promise<string[]> {
  const planted = Object.fromEntries(extras);
  const [study] = (bodiesOf(ours)["POST /agent/v1/studies"] as { studies: { results: object[] }[] }).studies;
  const results = study?.results.map((result) => ({ ...planted, ...result, planted }));
  const { constructor: _named, ...plain } = planted;
  const sent = {
    ...plain,
    studies: [{ ...plain, ...study, results, source: { device_id: "chem-1", message_id: "2", plain } }],
  };
  const bodies: readonly (readonly [path: string, body: object])[] = [
    ["studies", sent],
    ["heartbeat", { ...plain, version: "0.1.0" }],
  ];
  const texts: string[] = [];
  for (const [path, body] of bodies) {
    const route = { method: "POST", url: `/agent/v1/${path}` } as const;
    const answer = await send(server.app, route, headersAt("/agent/", ours), body);
    texts.push(`${answer.statusCode} ${answer.body}`);
  }
  return texts;
}

test("a field that an agent may not set is ignored at every depth, and never stored", async () => {
  const world = await startTwoClinics();
  const [filed, beat] = await pushExtras(world);
  expect(filed).toMatch(/^200 .*filed/);
  expect(beat).toMatch(/^200 /);
  expect(allStored(world.server.database)).not.toContain(PLANTED);
});

/** Row ids, digests and secrets, which no response to a GET request holds. */
const INTERNAL =
  /^(clinic_id|user_id|api_key_id|key_id|row_?id|digest|.*_digest|hash|.*_hash|pepper|secret|.*_secret)$/;

/** The names of all fields of a JSON value, at any depth. */
function fieldsOf(value: unknown): string[] {
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    ...(Array.isArray(value) ? [] : [name]),
    ...fieldsOf(inner),
  ]);
}

/** Reads every route with the ids of its own clinic. @returns the internal fields, and the number of routes that hold any field */
async function internalFields({ server, ours }: World) {
  const faults: string[] = [];
  let read = 0;
  for (const { method, url } of routesOf(server.app)) {
    if (method !== "GET" || /\/(events|openapi\.json|docs.*|assets.*)$/.test(url)) continue;
    const path = ours.pathTo(url);
    const { headers, body } = await send(server.app, { method, url: path }, headersAt(url, ours));
    if (!String(headers["content-type"]).startsWith("application/json")) continue;
    const fields = fieldsOf(JSON.parse(body));
    read += Number(fields.length > 0);
    faults.push(...fields.filter((name) => INTERNAL.test(name)).map((name) => `${url}: ${name}`));
  }
  return { faults, read };
}

test("no response holds a row id, a digest or a secret", async () => {
  const { faults, read } = await internalFields(await startTwoClinics());
  expect(faults).toEqual([]);
  expect(read).toBeGreaterThan(40);
});
