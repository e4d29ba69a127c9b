import type { Permission } from "../../../server/http/auth/api-keys.ts";
import { permissions } from "../../../server/http/auth/api-keys.ts";
import { findClinic, revokeKey } from "../../../server/records/clinics/keys.ts";
import { includesRole, type Role, roles } from "../../../server/dashboard/types/settings/session.ts";
import { makeOperator } from "../../dashboard/harness.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { expect, test } from "vitest";
import { asKey, asPage, type Route, routesOf, send, startTwoClinics } from "./two-clinics.ts";

// API5, broken function level authorization: every route of the server with the callers that it serves. A route that is in the
// server and not in this table fails the test, and so does one that serves a caller whom the table does not name.

/**
 * The proof that a route requires of its caller: nothing, the code of a form, a key with one of the permissions, any session, the
 * session of an operator, or a role.
 */
type Demand =
  | "nothing"
  | "code"
  | readonly [header: "x-api-key" | "authorization", ...permissions: Permission[]]
  | "session"
  | "operator"
  | Role;

const patients = ["x-api-key", "clinic.patient.view"] as const;
const soap = ["authorization", "clinic.patient.view", "clinic.soap.view"] as const;
const lab = ["authorization", "clinic.patient.view", "clinic.lab.view"] as const;
const animals = ["authorization", "clinic.patient.view"] as const;
const agent = ["x-api-key", "clinic.lab.ingest"] as const;

const table: Readonly<Record<string, Demand>> = {
  "GET /healthz": "nothing",
  "GET /readyz": "nothing",
  "GET /": "nothing",
  "GET /dashboard": "nothing",
  "GET /dashboard/": "nothing",
  "GET /dashboard/*": "nothing",
  "GET /assets/*": "nothing",
  "GET /openapi.json": "nothing",
  "GET /docs": "nothing",
  "GET /docs/*": "nothing",
  "GET /sync/openapi.json": "nothing",
  "GET /sync/docs": "nothing",
  "GET /sync/docs/*": "nothing",

  "GET /api/v1/patients": patients,
  "GET /api/v1/patients/:fp": patients,
  "GET /api/v1/soap": soap,
  "GET /api/v1/soap/:fp": soap,
  "GET /api/v1/lab/analytes": lab,
  "GET /api/v1/lab/diagnostics": lab,
  "GET /api/v1/lab/diagnostics/:fp": lab,
  "GET /api/v1/lab/diagnostics/:fp/trail": ["x-api-key", "clinic.audit.view"],
  "GET /api/v1/lab/diagnostics/:fp/report.pdf": lab,
  "GET /api/v1/calendar/events": ["x-api-key", "clinic.calendar.view"],
  "GET /api/v1/inventory": ["x-api-key", "clinic.inventory.view"],
  "GET /api/v1/changes": [
    ...(["x-api-key", "clinic.patient.view", "clinic.lab.view", "clinic.soap.view"] as const),
    ...(["clinic.calendar.view", "clinic.inventory.view"] as const),
  ],
  "GET /api/v1/events": [
    "x-api-key",
    "clinic.patient.view",
    "clinic.lab.view",
    "clinic.soap.view",
    "clinic.calendar.view",
    "clinic.inventory.view",
  ],

  "GET /fhir/R4/metadata": "nothing",
  ...Object.fromEntries(
    ["Patient", "DiagnosticReport", "Observation", "Specimen", "Device", "ServiceRequest", "ImagingStudy"].flatMap(
      (type) =>
        [`GET /fhir/R4/${type}`, `GET /fhir/R4/${type}/:id`].map((row) => [row, type === "Patient" ? animals : lab]),
    ),
  ),

  "POST /sync/v1/patients": ["x-api-key", "clinic.sync.write"],
  "POST /sync/v1/owners": ["x-api-key", "clinic.sync.write"],
  "POST /sync/v1/patients/merge": ["x-api-key", "clinic.sync.write"],
  "POST /sync/v1/orders": ["x-api-key", "clinic.sync.write"],
  "POST /sync/v1/appointments": ["x-api-key", "clinic.sync.write"],

  "POST /agent/v1/pair": "code",
  "POST /agent/v1/studies": agent,
  "POST /agent/v1/quality": agent,
  "POST /agent/v1/registry": agent,
  "POST /agent/v1/profiles": agent,
  "POST /agent/v1/registry/file": agent,
  "PUT /agent/v1/destinations": agent,
  "GET /agent/v1/destinations": agent,
  "POST /agent/v1/destinations/:id/again": agent,
  "GET /agent/v1/destinations/:id/next": agent,
  "POST /agent/v1/destinations/:id/outcomes": agent,
  "POST /agent/v1/heartbeat": agent,
  "GET /agent/v1/identifiers": agent,
  "GET /agent/v1/removed": agent,
  "GET /agent/v1/ranges": agent,
  "GET /agent/v1/codes": agent,
  "GET /agent/v1/news": agent,
  "GET /agent/v1/placements": agent,
  "GET /agent/v1/orders": agent,
  "GET /agent/v1/configuration": agent,
  "GET /agent/v1/releases/:file": agent,
  "PUT /agent/v1/previews/:fp/:position": agent,

  // The secret of the path opens them.
  "GET /r/:secret": "nothing",
  "POST /r/:secret": "nothing",
  "GET /r/:secret/:ticket/report.pdf": "nothing",
  "GET /operator": "nothing",
  "GET /operator/clinics/:clinic": "nothing",
  "GET /operator/account": "nothing",
  "GET /operator/audit": "nothing",
  "GET /operator/v1/session": "nothing",
  "POST /operator/v1/sign-in": "code",
  "GET /operator/oidc": "nothing",
  "POST /operator/v1/oidc/start": "nothing",
  "POST /operator/v1/oidc/finish": "nothing",
  "POST /operator/v1/sign-out": "operator",
  ...ofOperator(["GET clinics", "POST clinics", "GET clinics/:clinic", "GET meters.csv", "GET audit"]),
  ...ofOperator(
    ["suspend", "resume", "support", "export", "erase"].map((command) => `POST clinics/:clinic/${command}`),
  ),
  ...ofOperator(["PUT announcement", "DELETE announcement"]),
  ...ofOperator(["PUT clinics/:clinic/quota", "POST rollout", "POST rollout/stop"]),
  ...ofOperator(["GET account", "DELETE account/sessions/:session", "POST account/sign-out-everywhere"]),
  ...ofOperator(["POST account/password", "POST account/second-factor/secret", "POST account/second-factor/on"]),
  ...ofOperator(["POST account/second-factor/off", "POST account/second-factor/recovery-codes"]),
  "GET /clinic/v1/session": "nothing",
  "GET /clinic/v1/authority.crt": "nothing",
  "POST /clinic/v1/set-up": "code",
  "POST /clinic/v1/sign-in": "code",
  // The provider decides whom they serve, and the server of this test has none.
  "POST /clinic/v1/oidc/start": "nothing",
  "POST /clinic/v1/oidc/finish": "nothing",
  "POST /clinic/v1/oidc/logout": "nothing",
  "POST /clinic/v1/sign-out": "session",
  "GET /clinic/v1/account": "session",
  "DELETE /clinic/v1/account/sessions/:session": "session",
  "POST /clinic/v1/account/sign-out-everywhere": "session",
  "POST /clinic/v1/account/password": "session",
  "POST /clinic/v1/account/second-factor/secret": "session",
  "POST /clinic/v1/account/second-factor/on": "session",
  "POST /clinic/v1/account/second-factor/off": "session",
  "POST /clinic/v1/account/second-factor/recovery-codes": "session",
  ...ofClinic("reader", [
    ...["GET events", "GET today", "GET menu", "GET devices", "GET rollout", "GET ranges"],
    "GET devices/log",
    "GET ranges/file",
    ...["GET patients", "GET patients/:fp", "GET patients/:fp/results", "GET codes", "GET codes/analytes"],
    ...["GET results", "GET results-devices", "GET results.csv", "GET results/:fp", "GET results/:fp/report.pdf"],
    ...["GET results/:fp/results.csv", "GET results/:fp/previews", "GET results/:fp/previews/:position"],
    ...["GET quality", "GET quality/series/:series", "GET quality/runs.csv", "GET quality/report.pdf"],
    ...["GET unmatched", "GET unmatched/:fp", "GET unmatched/:fp/preview/:patient"],
    ...["GET records", "GET records/:fp", "GET calendar", "GET stock", "GET stock/:fp", "GET connections"],
    "GET stock/:fp/movements",
    ...["GET patients/removed", "GET ranges/limits", "GET results/:fp/follow-up"],
    ...["GET orders", "GET orders/choices", "GET ranges/own", "GET ranges/own/:proposal"],
  ]),
  ...ofClinic("staff", [
    ...["PUT patients/:fp/connection", "DELETE patients/:fp/connection", "PUT codes", "POST results/:fp/seen"],
    ...["confirm", "refuse", "end", "seen"].map((answer) => `POST patients/:fp/other-clinics/:other/${answer}`),
    ...["assign", "remark", "done", "reopen"].map((step) => `POST results/:fp/follow-up/${step}`),
    ...["POST results/:fp/move", "POST results/:fp/undo-move", "POST results/:fp/flag-again", "PUT results/:fp/remark"],
    ...["POST results/:fp/correct", "POST results/:fp/withdraw", "POST results/:fp/release"],
    ...["GET results/:fp/sharing", "POST results/:fp/links", "DELETE results/:fp/links/:link"],
    "POST results/:fp/report-mail",
    ...["POST unmatched/:fp/assign", "POST unmatched/:fp/reject", "POST unmatched/:fp/reopen"],
    ...["POST records", "PATCH records/:fp", "POST records/:fp/move", "POST records/:fp/amend"],
    ...["POST calendar", "PUT calendar/:fp", "POST calendar/check", "POST calendar/:fp/move", "POST calendar/:fp/undo"],
    ...["POST stock/:fp/receive", "POST stock/:fp/consume"],
    ...["POST stock/:fp/count", "POST stock/:fp/movements/:movement/undo"],
    ...["POST patients", "POST patients/check", "PUT patients/:fp", "GET patients/:fp/edit", "POST stock"],
    ...["PUT patients/:fp/deceased", "POST patients/:fp/remove", "POST patients/:fp/restore", "PUT owners/:fp"],
    ...[
      "POST patients/:fp/merge",
      "GET patients/:fp/merge/:patient",
      "GET patients/:fp/doubles",
      "POST changes/:batch/undo",
    ],
    "GET patients/from-result/:fp",
    ...["GET ranges/own/candidates", "POST ranges/own"],
    ...["POST orders", "POST orders/:fp/cancel", "POST orders/:fp/attach", "POST orders/:fp/detach"],
    "PUT orders/without-order/:fp",
    ...["POST quality/controls", "POST quality/answers", "POST quality/events"],
    ...["POST quality/values/:value/exclusion", "DELETE quality/values/:value/exclusion"],
    "POST quality/series/:series/explanations",
    ...["GET manual-study/analytes", "POST manual-study/preview", "POST manual-study"],
    ...["GET imports", "POST imports", "PUT imports/:id/choices", "POST imports/:id/preview", "POST imports/:id/start"],
    ...["POST imports/:id/undo", "GET imports/:id/refused", "DELETE imports/:id"],
  ]),
  ...ofClinic("admin", [
    ...["GET keys", "POST keys", "POST keys/:id/roll", "POST keys/:id/revoke", "GET audit", "GET audit.csv"],
    ...["GET users", "POST users", "POST users/add", "PATCH users/:user", "DELETE users/:user"],
    ...["POST users/:user/reset", "POST users/:user/end-sessions", "POST users/:user/disable"],
    ...[
      "POST users/:user/enable",
      "PUT settings/clinic",
      "GET settings/report",
      "GET settings/report/logo",
      "PUT settings/report",
      "POST ranges/preview",
      "PUT ranges",
      "POST pairing-code",
    ],
    ...["GET agents/:agent/devices", "PUT agents/:agent/devices", "GET profiles", "POST profiles"],
    ...["POST rollout", "POST rollout/stop", "POST rollout/skip", "POST rollout/close"],
    ...["GET webhooks", "POST webhooks", "GET webhooks/:id/deliveries", "POST webhooks/:id/pause"],
    ...["POST webhooks/:id/delete", "POST webhooks/:id/test", "POST webhooks/:id/resend"],
    ...["POST webhooks/:id/rotate", "POST webhooks/:id/resend-all"],
    ...["GET destinations", "POST destinations", "GET destinations/:id", "POST destinations/:id/test"],
    ...["POST destinations/:id/pause", "PUT destinations/:id/options", "POST destinations/:id/delete"],
    ...["POST destinations/:id/again", "POST destinations/:id/aside"],
    ...["GET notifications", "PUT notifications/quiet-hours", "POST notifications/channels"],
    ...["DELETE notifications/channels/:id", "POST notifications/channels/:id/test"],
    ...["GET network", "PUT network", "POST today/skipped-steps", "PUT ranges/limits"],
    ...["GET mail-server", "PUT mail-server", "DELETE mail-server", "POST mail-server/test"],
    "POST ranges/own/:proposal/decide",
    ...["POST quality/targets", "POST quality/targets/file", "POST quality/series/:series/accept"],
    ...["PUT quality/rules", "PUT quality/schedule"],
    ...["GET owners/:fp/erasure", "POST owners/:fp/erase", "GET settings/retention", "PUT settings/retention"],
  ]),
};

function ofClinic(role: Role, routes: readonly string[]): Record<string, Role> {
  return Object.fromEntries(routes.map((route) => [route.replace(" ", " /clinic/v1/clinics/:clinic/"), role]));
}

function ofOperator(routes: readonly string[]): Record<string, "operator"> {
  return Object.fromEntries(routes.map((route) => [route.replace(" ", " /operator/v1/"), "operator"]));
}

/** A HEAD request requires what its GET does, and so do the files of the pages. */
function rowOf({ method, url }: Route): string {
  const files = url.replace(/^\/(assets|docs|sync\/docs)\/.*/, "/$1/*");
  return `${method === "HEAD" ? "GET" : method} ${files}`;
}

/** A caller, and what it brings. */
interface Caller {
  readonly name: string;
  readonly headers: Record<string, string>;
  readonly permissions?: readonly Permission[];
  /** The role in the clinic of the path. */
  readonly role?: Role;
  /** Whether a session is active; a session of another clinic has no role here. */
  readonly session?: true;
  /** Whether it is the session of an operator, which opens nothing of the dashboard. */
  readonly operator?: true;
}

/** @returns the status of the refusal; null if the caller is served */
function refusalOf(demand: Demand, caller: Caller): 401 | 403 | 404 | null {
  if (demand === "nothing" || demand === "code") return null;
  if (demand === "operator") return caller.operator === true ? null : 401;
  if (demand === "session") return caller.session === true ? null : 401;
  if (typeof demand === "string") {
    if (caller.session !== true) return 401;
    if (caller.role === undefined) return 404;
    return includesRole(caller.role, demand) ? null : 403;
  }
  const [header, ...needed] = demand;
  if (caller.permissions === undefined || !(header in caller.headers)) return 401;
  return needed.some((one) => caller.permissions?.includes(one)) ? null : 403;
}

async function callers(world: Awaited<ReturnType<typeof startTwoClinics>>): Promise<Caller[]> {
  const { server, ours, theirs } = world;
  const clinicId = (await findClinic(server.store, ours.fp))?.id ?? 0;
  const operator = await makeOperator(server);
  const expired = await server.makeFreshKey(ours.fp, [...permissions], { expiresAt: server.clock.now + 1 });
  const revoked = await server.makeFreshKey(ours.fp, [...permissions], { name: "revoked" });
  const admin = await ours.admin.call<{ keys: { id: string; name: string }[] }>("GET", "/keys");
  const id = admin.body.keys.find(({ name }) => name === "revoked")?.id ?? "";
  await server.store.transaction((session) => revokeKey(session, id, server.clock.now, clinicId));
  server.clock.now += 1000;
  const single = permissions.map(async (one): Promise<Caller> => {
    const key = await server.makeFreshKey(ours.fp, [one]);
    return { name: `key with ${one}`, headers: asKey(key), permissions: [one] };
  });
  return [
    { name: "nobody", headers: {} },
    { name: "forged session", headers: { cookie: "vetwire=x; vetwire-operator=x", "sec-fetch-site": "same-origin" } },
    { name: "operator", headers: asPage(operator), operator: true },
    {
      name: "admin with the cookie of the dashboard at the console",
      headers: asPage({ cookie: ours.admin.cookie.replace("vetwire=", "vetwire-operator=") }),
    },
    {
      name: "operator with the cookie of the console at the dashboard",
      headers: asPage({ cookie: operator.cookie.replace("vetwire-operator=", "vetwire=") }),
    },
    { name: "unknown key", headers: asKey(`${ours.key.slice(0, -1)}${ours.key.endsWith("A") ? "B" : "A"}`) },
    { name: "expired key", headers: asKey(expired) },
    { name: "revoked key", headers: asKey(revoked) },
    { name: "key in the wrong header", headers: { "x-api-key": `Bearer ${ours.key}`, authorization: ours.key } },
    { name: "key in X-API-Key alone", headers: { "x-api-key": ours.key }, permissions },
    { name: "key in Authorization alone", headers: { authorization: `Bearer ${ours.key}` }, permissions },
    { name: "key with all permissions", headers: asKey(ours.key), permissions },
    { name: "agent of another clinic", headers: asKey(theirs.agentKey), permissions: ["clinic.lab.ingest"] },
    ...(await Promise.all(single)),
    ...roles.map((role): Caller => {
      const user = ours.users.get(role) ?? ours.admin;
      return { name: `session of ${role}`, headers: asPage(user), role, session: true };
    }),
    { name: "admin of another clinic", headers: asPage(theirs.admin), session: true },
    {
      name: "admin of another clinic with our key",
      headers: { ...asPage(theirs.admin), ...asKey(ours.key) },
      permissions,
      session: true,
    },
  ];
}

/** Routes whose call by the right caller ends that caller's session, or never ends. They have tests of their own. */
const NOT_CALLED = /\/(events|sign-out|sign-out-everywhere|second-factor\/[\w-]+)$/;

test("every route of the server has one row in the table, and every row a route", async () => {
  const { server } = await startTwoClinics();
  await server.app.ready();
  const rows = new Set(routesOf(server.app).map(rowOf));
  expect([...rows].toSorted()).toEqual(Object.keys(table).toSorted());
  expect(rows.size).toBeGreaterThan(100);
});

/** Sends every request of every caller to a server. @returns what differs from the table, and the number of refusals */
async function differences() {
  const world = await startTwoClinics();
  const { server, ours } = world;
  await server.app.ready();
  const all = await callers(world);
  const routes = routesOf(server.app).filter((route) => !rowOf(route).endsWith("s/*"));
  const faults: string[] = [];
  let refused = 0;
  for (const { method, url } of routes) {
    const demand = table[rowOf({ method, url })] ?? "nothing";
    // A command of the operator on our clinic would end its users.
    const clinicFp = url.startsWith("/operator/") ? newFp("clinic") : ours.fp;
    const path = url.replace(":clinic", clinicFp).replaceAll(/:\w+/g, newFp("cds"));
    for (const caller of all) {
      const expected = refusalOf(demand, caller);
      if (expected === null && NOT_CALLED.test(url)) continue;
      const { statusCode: status, body } = await send(server.app, { method, url: path }, caller.headers);
      const isRight = expected === null ? ![401, 403].includes(status) || demand === "code" : status === expected;
      if (expected !== null) refused += 1;
      if (!isRight)
        faults.push(`${method} ${url} answers ${status} to ${caller.name}, expected ${expected ?? "service"}: ${body}`);
      if (body.includes("OursMark") && expected !== null) faults.push(`${method} ${url} shows data to ${caller.name}`);
    }
  }
  return { faults, refused };
}

test("every route serves the callers of its row alone, and responds 401, 403 or 404 to the others", {
  timeout: 240_000,
}, async () => {
  const { faults, refused } = await differences();
  expect(faults).toEqual([]);
  expect(refused).toBeGreaterThan(2000);
});
