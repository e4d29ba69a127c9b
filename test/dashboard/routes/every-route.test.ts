import type { FastifyInstance } from "fastify";
import { expect, test } from "vitest";
import { exportEntities } from "../../../server/import/export.ts";
import { permissions } from "../../../server/http/auth/api-keys.ts";
import { findClinic, listKeys } from "../../../server/records/clinics/keys.ts";
import { listUnmatched } from "../../../server/records/unmatched/unmatched.ts";
import { type Role, roles } from "../../../server/dashboard/types/settings/session.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { clinic, connection, patient, startServer, study } from "../../server/harness.ts";
import { event, item, soap } from "../../server/records.ts";
import { makeUser, type TestUser } from "../harness.ts";

// Method: the routes come from the app, so each new one is checked by itself.

interface Route {
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly url: string;
  readonly access: "anyone" | "signed in" | Role | undefined;
  /** Why the write may run again when it is repeated. */
  readonly repeats: string | undefined;
}

/** Collects the routes that start with a path. Call it before the first request. */
function routesOf(app: FastifyInstance): Route[] {
  const routes: Route[] = [];
  app.addHook("onRoute", ({ method, url, config }) => {
    for (const name of [method].flat()) {
      routes.push({ method: name as Route["method"], url, access: config?.access, repeats: config?.repeats });
    }
  });
  return routes;
}

const under = (routes: readonly Route[], ...prefixes: string[]) =>
  routes.filter(({ url }) => prefixes.some((prefix) => url.startsWith(prefix)));

const isWrite = ({ method }: Route) => method !== "GET" && method !== "HEAD";

function pathOf({ url }: Route, clinicFp: string, id = newFp("cds")): string {
  return url.replace(":clinic", clinicFp).replaceAll(/:\w+/g, id);
}

/** Occurs in every text of the foreign clinic. */
const SECRET = "ForeignSecret";

/** Two clinics: `ours` is empty, `theirs` has one record of each kind. */
async function startClinics() {
  const [ours, theirs] = [newFp("clinic"), newFp("clinic")];
  const animal = patient({ name: SECRET });
  const records = [
    soap(animal.fp, theirs, { subjective: SECRET }),
    event(theirs, { title: SECRET, patient_fp: animal.fp }),
    item(theirs, { name: SECRET }),
  ];
  const foreign = { type: "clinic" as const, fp: theirs, name: SECRET };
  const server = await startServer(clinic(ours), foreign, animal, connection(animal.fp, theirs), records);
  const routes = routesOf(server.app);
  const key = await server.makeKey(theirs, [...permissions]);
  const studies = [study({ patient_fp: animal.fp, device_name: SECRET }), study({ device_name: SECRET })];
  await server.push(key, ...studies);

  const users = await Promise.all(roles.map(async (role) => ({ role, user: await makeUser(server, role, ours) })));
  const stranger = await makeUser(server, "admin", theirs);
  const members = await stranger.call<{ users: { id: string }[] }>("GET", "/users");
  const account = await stranger.call<{ sessions: { id: string }[] }>("GET", "/clinic/v1/account");
  const clinicId = (await findClinic(server.store, theirs))?.id ?? 0;
  const keys = await listKeys(server.store, clinicId);
  const named = [...members.body.users, ...account.body.sessions, ...keys].map(({ id }) => id);
  const ids = [animal, ...records, ...studies].map(({ fp }) => fp).concat(named);

  /** Everything that belongs to `theirs`. */
  async function foreignData(): Promise<unknown> {
    const lines = [];
    for await (const line of exportEntities(server.store)) lines.push(line);
    for await (const waiting of listUnmatched(server.store, { clinicId, rejected: false })) lines.push(waiting);
    return { lines, users: (await stranger.call("GET", "/users")).body };
  }

  /** Calls a route as a page of the user does. */
  async function send({ cookie }: TestUser, route: Route, clinicFp: string, id?: string) {
    const headers = { cookie, "sec-fetch-site": "same-origin" };
    const payload = isWrite(route) ? { payload: {} } : {};
    const answer = await server.app.inject({
      method: route.method,
      url: pathOf(route, clinicFp, id),
      headers,
      ...payload,
    });
    return { status: answer.statusCode, text: answer.body };
  }

  return { server, routes, ours, theirs, users, ids, key, foreignData, send };
}

test("every write refuses the page of another site, before it reads the session", async () => {
  const { server, routes, ours, users } = await startClinics();
  await server.app.ready();
  const cookie = users.find(({ role }) => role === "admin")?.user.cookie ?? "";
  const writes = under(routes, "/clinic/v1/").filter(isWrite);
  expect(writes.length).toBeGreaterThan(10);
  const crossSite = [
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "cross-site", origin: "http://localhost:80" },
    { origin: "http://evil.example" },
    { origin: "null" },
  ];
  for (const route of writes) {
    for (const sent of crossSite) {
      const headers = { cookie, ...sent };
      const answer = await server.app.inject({ method: route.method, url: pathOf(route, ours), headers, payload: {} });
      expect([route.method, route.url, answer.statusCode]).toEqual([route.method, route.url, 403]);
      expect(answer.body).toContain("SESSION.CROSS_SITE");
    }
  }
});

const OF_CLINIC = "/clinic/v1/clinics/:clinic/";

/** Writes that may run again when they are repeated. All others run once for each id of a request. */
const repeated: Readonly<Record<string, string>> = {
  "POST /clinic/v1/set-up": "the set-up code ends with the first user",
  "POST /clinic/v1/sign-in": "each sign-in is a session of its own, which the user can end",
  "POST /clinic/v1/oidc/start": "each start replaces the one before",
  "POST /clinic/v1/oidc/finish": "an answer of the provider works once",
  "POST /clinic/v1/oidc/logout": "a logout token works once",
  "POST /clinic/v1/sign-out": "an ended session stays ended",
  "DELETE /clinic/v1/account/sessions/:session": "an ended session stays ended",
  "POST /clinic/v1/account/sign-out-everywhere": "ended sessions stay ended",
  "POST /clinic/v1/account/password": "the old password proves it, and ends with the first",
  "POST /clinic/v1/account/second-factor/secret": "it changes nothing",
  "POST /clinic/v1/account/second-factor/on": "a second factor that is on is refused",
  "POST /clinic/v1/account/second-factor/recovery-codes": "the codes shown last are the ones that count",
  "POST /clinic/v1/account/second-factor/off": "a second factor that is off stays off",
  [`POST ${OF_CLINIC}today/skipped-steps`]: "a step that was skipped stays skipped",
  [`POST ${OF_CLINIC}results/:fp/seen`]: "a study that was seen stays seen",
  [`POST ${OF_CLINIC}calendar/check`]: "it changes nothing",
  [`POST ${OF_CLINIC}patients/check`]: "it changes nothing",
  [`POST ${OF_CLINIC}imports`]: "it replaces the file that is not imported",
  [`PUT ${OF_CLINIC}imports/:id/choices`]: "equal choices read the file alike",
  [`POST ${OF_CLINIC}manual-study/preview`]: "it changes nothing",
  [`POST ${OF_CLINIC}ranges/preview`]: "it changes nothing",
  [`POST ${OF_CLINIC}results/:fp/report-mail`]: "a second e-mail with the report to the address waits a minute",
  [`POST ${OF_CLINIC}mail-server/test`]: "it sends a message and stores nothing, and a second one waits",
  [`POST ${OF_CLINIC}notifications/channels/:id/test`]: "it sends a message and stores nothing, and a second one waits",
};

test("every write runs once for each id of a request, or has a reason to run again", async () => {
  const { server, routes, ours, users } = await startClinics();
  await server.app.ready();
  const cookie = users.find(({ role }) => role === "admin")?.user.cookie ?? "";
  const headers = { cookie, "sec-fetch-site": "same-origin", "idempotency-key": "too short" };
  const writes = under(routes, "/clinic/v1/").filter(isWrite);
  const runAgain: Record<string, string> = {};
  for (const route of writes) {
    const { method, url, repeats = repeated[`${method} ${url}`] ?? "" } = route;
    if (!url.startsWith(OF_CLINIC) || route.repeats !== undefined) {
      runAgain[`${method} ${url}`] = repeats;
      continue;
    }
    const payload = url.endsWith("/users") ? { name: "Ada", role: "reader" } : {};
    const answer = await server.app.inject({ method, url: pathOf(route, ours), headers, payload });
    expect([method, url, answer.body]).toEqual([method, url, expect.stringContaining("Idempotency-Key is too short")]);
  }
  expect(runAgain).toEqual(repeated);
});

test("every page has strict headers", async () => {
  const { server } = await startClinics();
  const { body: html } = await server.app.inject({ url: "/dashboard" });
  const script = /src="(\/assets\/[^"]+)"/.exec(html)?.[1] ?? "no script";
  for (const url of ["/", "/dashboard", "/dashboard/results/x", script]) {
    const { headers } = await server.app.inject({ url });
    expect({ url, ...headers }).toMatchObject({
      url,
      "content-security-policy": expect.stringMatching(
        /^default-src 'none'; script-src 'self'; style-src 'self';.* frame-ancestors 'none'$/,
      ) as string,
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "x-frame-options": "DENY",
    });
    expect(headers["content-security-policy"]).not.toMatch(/unsafe|\*|https?:/);
  }
});
