import { expect, test } from "vitest";
import { newFp } from "../../../shared/api/fp.ts";
import { onPostgres } from "../harness.ts";
import { bodiesOf } from "./bodies.ts";
import {
  asPage,
  headersAt,
  type MarkedClinic,
  type Route,
  routesOf,
  rowOf,
  send,
  startTwoClinics,
  viewOf,
} from "./two-clinics.ts";

// API1, broken object level authorization: an id of another clinic gets the response to a missing id, and changes nothing in that
// clinic.

/**
 * The caller requests a connection of another clinic, which is notified. That is the one way from clinic to clinic, with the same
 * response for an absent patient: test/server/records/patients/connections.test.ts.
 */
const BY_CONSENT = "PUT /clinic/v1/clinics/:clinic/patients/:fp/connection";

/** The published contract has 403 for a record of an unconnected patient, and 404 with --conceal-unconnected. */
const TELLS_403 =
  /^GET (\/api\/v1\/(patients|soap|lab\/diagnostics)\/:fp(\/trail|\/report\.pdf)?|\/fhir\/R4\/(Patient|DiagnosticReport|Observation|Specimen|ImagingStudy)\/:id)$/;

type World = Awaited<ReturnType<typeof startTwoClinics>>;

/** @returns an id of the same form that no record has */
function absentLike(id: string): string {
  const kind = /^(patient|soap|cds|calevt|invitem|agent|order|batch)_/.exec(id)?.[1];
  return kind === undefined ? id.replaceAll(/[0-9A-Za-z]/g, "0") : newFp(kind as "patient");
}

/** Requests ids of another clinic and absent ones from every route of a server. @returns what differs, and the number of ids */
async function foreignPaths({ server, ours, theirs }: World) {
  const bodies = bodiesOf(ours);
  const faults: string[] = [];
  let asked = 0;
  for (const route of routesOf(server.app)) {
    const names = Array.from(route.url.matchAll(/:(\w+)/g), ([, name = ""]) => name).filter(
      (name) => name !== "clinic",
    );
    if (names.length === 0 || rowOf(route) === BY_CONSENT) continue;
    // A HEAD request runs the query of its GET. SQLite has both.
    if (route.method === "HEAD" && onPostgres()) continue;
    const answerTo = async (ids: readonly string[]) => {
      const path = names.reduce((url, name, at) => url.replace(`:${name}`, ids[at] ?? ""), route.url);
      const url = path.replace(":clinic", ours.fp);
      const { statusCode, body } = await send(
        server.app,
        { ...route, url },
        headersAt(url, ours),
        bodies[rowOf(route)],
      );
      return `${statusCode} ${ids.reduce((text, id) => text.replaceAll(id, "ID"), body)}`;
    };
    const [, second = ""] = names;
    for (const id of theirs.ids[names[0] ?? ""] ?? []) {
      const rest = second === "" ? [] : [theirs.ids[second]?.[0] ?? ""];
      const foreign = await answerTo([id, ...rest]);
      const absent = await answerTo([absentLike(id), ...(second === "position" ? rest : rest.map(absentLike))]);
      asked += 1;
      const isContract = TELLS_403.test(rowOf(route).replace("HEAD", "GET")) && foreign.startsWith("403");
      if (foreign !== absent && !isContract) faults.push(`${rowOf(route)} ${id}: ${foreign}, absent ${absent}`);
      if (foreign.startsWith("2") || foreign.includes(theirs.marker)) faults.push(`${rowOf(route)} ${id}: ${foreign}`);
    }
  }
  return { faults, asked };
}

test("an id of another clinic in a path gets the response of an absent one, at every route", {
  timeout: 240_000,
}, async () => {
  const world = await startTwoClinics();
  const before = await viewOf(world.server, world.theirs);
  const { faults, asked } = await foreignPaths(world);
  expect(faults).toEqual([]);
  expect(asked).toBeGreaterThan(onPostgres() ? 100 : 200);
  expect(await viewOf(world.server, world.theirs)).toEqual(before);
});

test("the own id at the same routes is served, so that the refusals above are those of the id", async () => {
  const { server, ours } = await startTwoClinics();
  const missing: string[] = [];
  // An animal is removed after all else, comes back, and then the connection to it ends.
  const removes = ({ method, url }: Route) =>
    (method === "DELETE" && !url.includes("/links/")) || url.endsWith("/delete")
      ? 3
      : ["/remove", "/restore"].findIndex((end) => url.endsWith(end)) + 1;
  for (const route of routesOf(server.app).toSorted((a, b) => removes(a) - removes(b))) {
    if (!/:(?!clinic)/.test(route.url) || route.method === "HEAD") continue;
    const url = ours.pathTo(route.url);
    const body = bodiesOf(ours)[rowOf(route)];
    const { statusCode } = await send(server.app, { ...route, url }, headersAt(url, ours), body);
    if (statusCode === 404) missing.push(rowOf(route));
  }
  // No release was published, no message sent yet, and the session is that of another user.
  const sessions = ["clinic", "operator"].map((realm) => `DELETE /${realm}/v1/account/sessions/:session`);
  const resend = "POST /clinic/v1/clinics/:clinic/webhooks/:id/resend";
  // No clinic requested a connection.
  const asked = ["confirm", "end", "refuse", "seen"].map(
    (answer) => `POST /clinic/v1/clinics/:clinic/patients/:fp/other-clinics/:other/${answer}`,
  );
  // The secret of a link is no id of a record: test/dashboard/routes/settings/sharing.test.ts.
  const links = ["GET /r/:secret", "GET /r/:secret/:ticket/report.pdf", "POST /r/:secret"];
  // A script belongs to no clinic.
  // Nothing was delivered.
  const outcomes = "POST /agent/v1/destinations/:id/outcomes";
  const expected = [
    ...sessions,
    outcomes,
    "GET /agent/v1/releases/:file",
    "GET /assets/:file",
    ...asked,
    resend,
    ...links,
  ];
  expect(missing.toSorted()).toEqual(expected.toSorted());
});

/** Puts ids of another clinic and absent ones into bodies. @returns what differs */
async function foreignBodies({ server, ours, theirs }: World): Promise<string[]> {
  const answerTo = async (row: string, path: string, names: MarkedClinic["named"]) => {
    const [method = "", url = ""] = row.split(" ");
    const full = `${method} /clinic/v1/clinics/:clinic/${url}`;
    const body = bodiesOf({ marker: ours.marker, named: names })[full];
    const route = { method: method as "POST", url: `/clinic/v1/clinics/${ours.fp}/${path}` };
    const { statusCode, body: text } = await send(server.app, route, asPage(ours.admin), body);
    return `${statusCode} ${Object.values(names).reduce((shown, name) => shown.replaceAll(name, "NAME"), text)}`;
  };
  const faults: string[] = [];
  for (const [row, path] of [
    ["POST unmatched/:fp/assign", ours.pathTo("unmatched/:fp/assign")],
    ["POST patients", "patients"],
    ["POST patients/:fp/merge", ours.pathTo("patients/:fp/merge")],
    ["POST records", "records"],
    ["POST calendar", "calendar"],
    ["PUT calendar/:fp", ours.pathTo("calendar/:fp")],
    ["POST orders", "orders"],
    ["POST orders/:fp/attach", ours.pathTo("orders/:fp/attach")],
    ["POST orders/:fp/detach", ours.pathTo("orders/:fp/detach")],
    ["POST manual-study/preview", "manual-study/preview"],
    ["POST manual-study", "manual-study"],
    ["POST users/add", "users/add"],
    ["POST rollout/skip", "rollout/skip"],
    ["POST webhooks/:id/resend", ours.pathTo("webhooks/:id/resend")],
  ] as const) {
    const { named } = theirs;
    const missing = {
      ...named,
      animal: newFp("patient"),
      double: newFp("patient"),
      owner: newFp("customer"),
      study: newFp("cds"),
      agent: newFp("agent"),
      member: "nobody",
      message: "x.1",
    };
    const [foreign, absent] = [await answerTo(row, path, named), await answerTo(row, path, missing)];
    if (foreign !== absent || !/^4(00|04|09) /.test(foreign)) faults.push(`${row}: ${foreign}, absent ${absent}`);
  }
  return faults;
}

test("an id of another clinic in a body gets the response of an absent one", async () => {
  const world = await startTwoClinics();
  const before = await viewOf(world.server, world.theirs);
  expect(await foreignBodies(world)).toEqual([]);
  expect(await viewOf(world.server, world.theirs)).toEqual(before);
});

/** Filters by ids of another clinic and by absent ones, and searches for its words. @returns what differs */
async function foreignFilters({ server, ours, theirs }: World): Promise<string[]> {
  await server.app.ready();
  const { animal } = theirs.named;
  const pages = ["results?patient=", "results.csv?patient=", "records?patient=", "audit?fp=", "audit.csv?fp="];
  const paths = [
    ...pages.map((path) => `/clinic/v1/clinics/${ours.fp}/${path}`),
    "/api/v1/lab/diagnostics?patient_fp=",
  ];
  const faults: string[] = [];
  for (const path of paths) {
    const answers = [animal, newFp("patient")].map(async (fp) => {
      const { statusCode, body } = await send(server.app, { method: "GET", url: path + fp }, headersAt(path, ours));
      return `${statusCode} ${body}`;
    });
    const [foreign = "", absent = ""] = await Promise.all(answers);
    if (foreign !== absent || !foreign.startsWith("200 ")) faults.push(`${path}: ${foreign}, absent ${absent}`);
  }
  for (const path of ["patients?search=", "results?q=", "audit?text=", "audit?user="]) {
    const url = `/clinic/v1/clinics/${ours.fp}/${path}Theirs`;
    const { statusCode, body } = await send(server.app, { method: "GET", url }, asPage(ours.admin));
    if (statusCode !== 200 || body.includes(theirs.marker)) faults.push(`${path}: ${statusCode} ${body}`);
  }
  return faults;
}

test("a filter with an id of another clinic finds what an absent one finds, and a search finds nothing of others", async () => {
  expect(await foreignFilters(await startTwoClinics())).toEqual([]);
});
