import * as fc from "fast-check";
import { expect, test } from "vitest";
import { bodiesOf } from "./bodies.ts";
import { headersAt, type Route, routesOf, rowOf, send, startTwoClinics } from "./two-clinics.ts";

// Values that no client of ours sends, in each place of each route: a refusal names what is wrong, and a 500 is a fault of ours. `npm run
// test:all` draws others each time.

/** JSON of values at the bounds of types, texts, times and objects. */
const LITERALS = [
  ...[
    "null",
    "true",
    "-1",
    "0",
    "1.5",
    "1e308",
    "1e999",
    "-0",
    "9007199254740993",
    "2147483648",
    "9223372036854775808",
  ],
  ...['""', '" "', '"\\u0000"', '"a\\ud800"', '"\\u202e\\ufeff"', '"0"', '"-1"', '"1e999"', '"NaN"', '"%"', '"\\\\"'],
  ...['"0000-01-01"', '"0099-12-31"', '"9999-12-31"', '"2026-02-30"', '"2024-02-29T24:00:00Z"'],
  ...['"0001-01-01T00:00:00.000Z"', '"9999-12-31T23:59:59.999Z"', '"+275760-09-13T00:00:00.001Z"'],
  ...['"2026-11-21T09:00:00.000+25:00"', '"__proto__"', '"constructor"', `"${"x ".repeat(30_000)}"`],
  ...["[]", "{}", "[null]", '{"__proto__":{}}', '{"constructor":1}', '[{"a":[{}]}]'],
];

/** Texts of a query or a path, escaped. */
const TEXTS = [
  ...[
    "a%ED%A0%80",
    "%F0%9F%92%A9",
    "%00",
    "0",
    "-1",
    "1e999",
    "9223372036854775808",
    "__proto__",
    "constructor",
    "%25",
    "%27",
  ],
  ...["0000-01-01", "0099-12-31", "9999-12-31", "2026-02-30", "%2B275760-09-13T00:00:00.001Z", "-271821-04-20"],
  ...["0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z", "ge2020", "a|b", "|", "1.2", "1,2", "MTox", "e30", "W10"],
];

const visit = { external_id: "9", title: "x", type: "CHECKUP", status: "SCHEDULED", patient: "7" };
const owner = { external_id: "8", name: "Ayşe", phone: "0532", email: "a@b.example" };
const animal = {
  ...{ external_id: "7", name: "Pamuk", species: "cat", sex: "F", breed: "Van", date_of_birth: "2020-01-01" },
  ...{ weight_kg: 4, deceased_at: null, updated_at: "2026-11-01T10:00:00Z", owner },
  identifiers: [{ type: "microchip", value: "900000000000001" }],
};
const order = { external_id: "1", patient: "7", tests: ["ALT"], device: null, ordered_at: "2026-11-21T09:00:00Z" };

/** Bodies of practice software, which the table of bodies lacks. */
const ofSoftware = Object.fromEntries(
  Object.entries({
    patients: animal,
    owners: { ...owner, updated_at: "2026-11-01T10:00:00Z" },
    orders: { ...order, cancelled: false },
    appointments: { ...visit, start_at: "2026-11-26T09:00:00Z", end_at: "2026-11-26T09:30:00Z" },
  }).map(([list, item]) => [`POST /sync/v1/${list}`, { source: "PIMS", mode: "partial", items: [item] }]),
);

/** Routes that end a caller or remove what others name. */
const ENDING = /\/erase$|account\/|sign-out/;

interface Place {
  readonly row: string;
  readonly path: string;
}

/** Lists the paths of a value and of all within it. */
function pathsIn(value: unknown, path = ""): string[] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, inner]) => pathsIn(inner, `${path}/${name}`))];
}

/** Returns the JSON of a body with a literal at a path. */
function withLiteral(body: unknown, path: string, literal: string): string {
  const [name, ...rest] = path.split("/").slice(1);
  if (name === undefined) return literal;
  const parts = Object.entries(body as object).map(([each, inner]): [string, string] => [
    each,
    each === name ? withLiteral(inner, rest.map((part) => `/${part}`).join(""), literal) : JSON.stringify(inner),
  ]);
  if (Array.isArray(body)) return `[${parts.map(([, text]) => text).join(",")}]`;
  return `{${parts.map(([each, text]) => `${JSON.stringify(each)}:${text}`).join(",")}}`;
}

test("no value in a body makes a route fail", { timeout: 240_000 }, async () => {
  const { server, ours } = await startTwoClinics();
  const bodies: Readonly<Record<string, object>> = { ...bodiesOf(ours), ...ofSoftware };
  const routes = new Map(routesOf(server.app).map((route) => [rowOf(route), route]));
  const places = Object.entries(bodies)
    .filter(([row]) => routes.has(row) && !ENDING.test(row))
    .flatMap(([row, body]) => pathsIn(body).map((path): Place => ({ row, path })));
  const change = async ({ row, path }: Place, literal: string) => {
    const { method, url } = routes.get(row) as Route;
    const headers = { ...headersAt(url, ours), "content-type": "application/json" };
    const payload = withLiteral(bodies[row], path, literal);
    const { statusCode, body } = await server.app.inject({ method, url: ours.pathTo(url), headers, payload });
    expect(statusCode, `${row} with ${literal.slice(0, 40)} at ${path}: ${body}`).toBeLessThan(500);
  };
  await fc.assert(fc.asyncProperty(fc.constantFrom(...places), fc.constantFrom(...LITERALS), change), {
    numRuns: process.env["ALL"] === "1" ? 20_000 : 300,
    examples: [[{ row: "POST /clinic/v1/clinics/:clinic/quality/answers", path: "/from" }, '"0000-01-01"']],
  });
});

const NAMES =
  "page page_size after before updated_since species patient_fp status type from to start end search rows device flag modality sort order " +
  "analyte code row limit _count _id _lastUpdated _include _revinclude _sort _summary identifier date subject patient name birthdate " +
  "based-on unit language zone since kind user text day week rejected category soap_type seen series lot agent";

test("no text in a query or a path makes a route fail", { timeout: 240_000 }, async () => {
  const { server, ours } = await startTwoClinics();
  const routes = routesOf(server.app).filter(
    ({ method, url }) =>
      method === "GET" && /^\/(api|agent|fhir|clinic|operator)\/.*/.test(url) && !/clinic.*\/events$/.test(url),
  );
  const read = async (route: Route, url: string) => {
    const { statusCode, body } = await send(server.app, { ...route, url }, headersAt(route.url, ours));
    // A server without a folder of releases responds 503.
    expect(statusCode === 503 ? 0 : statusCode, `${url}: ${body}`).toBeLessThan(500);
  };
  const ask = async (route: Route, name: string, text: string) => {
    const path = ours.pathTo(route.url);
    await read(route, `${path}?${name}=${text}`);
    const [parameter] = route.url.replace(":clinic", ours.fp).match(/:\w+/) ?? [];
    if (parameter !== undefined) await read(route, ours.pathTo(route.url.replace(parameter, "@")).replace("@", text));
  };
  const names = fc.constantFrom(...NAMES.split(" "));
  await fc.assert(fc.asyncProperty(fc.constantFrom(...routes), names, fc.constantFrom(...TEXTS), ask), {
    numRuns: process.env["ALL"] === "1" ? 20_000 : 250,
  });
});
