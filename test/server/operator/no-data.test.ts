import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { buildApp } from "../../../server/app.ts";
import { bodiesOf } from "../security/bodies.ts";
import { asKey, asPage, type Route, routesOf, rowOf, send, startTwoClinics } from "../security/two-clinics.ts";
import { clinic, startServer } from "../harness.ts";
import { newFp } from "../../../shared/api/fp.ts";

// No record of a clinic reaches the operator's console: each text of two clinics has a marker, and no answer has one. The export of a
// clinic has all of its data; export.test.ts says of which clinic, and what it takes.

/** The commands of the own account end its session; they are those of the dashboard, and have no clinic. */
const isConsole = ({ method, url }: Route) =>
  url.startsWith("/operator/v1/") &&
  !url.endsWith("/export") &&
  (method === "GET" || !url.startsWith("/operator/v1/account"));

/** The routes in an order in which each is served: support before the suspension, the erasure in it and after all else, the sign-out last. */
const inOrder = ({ url }: Route) =>
  ["/support", "/resume", "/suspend", "/erase", "/sign-out"].findIndex((end) => url.endsWith(end));

test("no answer of the console has a text of a clinic but its name", async () => {
  const world = await startTwoClinics();
  const { server, ours, theirs } = world;
  await server.app.ready();
  const { marker } = ours;
  const device = { id: marker, name: marker, profile: marker, connection: marker, reason: marker, state: "failed" };
  const waiting = { depth: 1, oldest_at: "2026-11-21T11:00:00.000Z", reason: marker };
  const devices = [device, { ...device, reason: null, foreign: { bytes: 3, protocol: marker } }];
  const payload = { version: "0.1.0", devices, outbox: waiting };
  const headers = asKey(ours.agentKey);
  const heard = await server.app.inject({ method: "POST", url: "/agent/v1/heartbeat", headers, payload });
  expect(heard.statusCode).toBe(200);
  const routes = routesOf(server.app).filter(isConsole);
  const statuses: Record<string, number> = {};
  for (const route of routes.toSorted((a, b) => inOrder(a) - inOrder(b))) {
    const url = route.url.replace(":clinic", ours.fp);
    const answer = await send(server.app, { ...route, url }, asPage(ours.operator), bodiesOf(ours)[rowOf(route)]);
    const text = JSON.stringify([answer.headers, answer.body]).replaceAll(/(Ours|Theirs)Mark clinic/g, "NAME");
    expect(`${rowOf(route)} ${text}`).not.toMatch(new RegExp(`${marker}|${theirs.marker}`, "i"));
    statuses[rowOf(route)] = answer.statusCode;
  }
  // No release and no provider is on the server.
  const refused = {
    ...{ "POST /operator/v1/rollout": 409, "POST /operator/v1/sign-in": 400 },
    ...{ "POST /operator/v1/oidc/start": 404, "POST /operator/v1/oidc/finish": 404 },
  };
  expect(statuses).toEqual({
    ...Object.fromEntries(routes.map((route) => [rowOf(route), 200])),
    ...refused,
  });
  expect(routes.length).toBeGreaterThan(12);
});

test("a server without the option has no route and no page of the console", async () => {
  const { store, pepper } = await startServer(clinic(newFp("clinic")));
  const app = buildApp(store, { pepper, logger: pino({ enabled: false }) });
  onTestFinished(() => app.close());
  await app.ready();
  expect(routesOf(app).filter(({ url }) => url.startsWith("/operator"))).toEqual([]);
  for (const url of ["/operator", "/operator/v1/session", "/operator/v1/clinics"])
    expect((await app.inject({ url })).statusCode).toBe(404);
});
