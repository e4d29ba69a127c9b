import { createHash, randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { permissions } from "../../../server/http/auth/api-keys.ts";
import { defaultLimits } from "../../../server/http/rate-limit/rate-limiter.ts";
import { insertSession, listSessionsOf } from "../../../server/records/users/sessions.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { newKey } from "../../../shared/runtime/api-key.ts";
import { makeUser } from "../../dashboard/harness.ts";
import { clinic, startLimitedServer, startServer } from "../harness.ts";
import { routesOf } from "./two-clinics.ts";
import { ask, listen } from "./wire.ts";

// Bounds of what one caller takes of the server: requests, sessions, streams, bytes and pages. The budgets of keys and addresses are
// tested in test/server/http/rate-limit, the size of bodies in test/server/http/errors.test.ts.

const ours = newFp("clinic");

test("a session has a budget of requests a minute, and another session of the same user has its own", async () => {
  const server = await startLimitedServer({ ...defaultLimits, sessionMinute: 3 }, clinic(ours));
  const user = await makeUser(server, "reader", ours);
  const url = `/clinic/v1/clinics/${ours}/today`;
  const answerTo = (cookie: string) => server.app.inject({ url, headers: { cookie } });
  const statusOf = async (cookie: string) => (await answerTo(cookie)).statusCode;
  const seen = [];
  for (let count = 0; count < 5; count += 1) seen.push(await statusOf(user.cookie));
  expect(seen).toEqual([200, 200, 200, 429, 429]);
  const { headers, body } = await answerTo(user.cookie);
  expect([headers["retry-after"], body]).toEqual(["60", expect.stringContaining("AUTH.RATE_LIMITED")]);
  expect(await statusOf(await cookieOf(server, user.id))).toBe(200);
  server.clock.now += 60_000;
  expect(await statusOf(user.cookie)).toBe(200);
});

test("without a setting a session sends 1 200 requests a minute, enough for a page that is used quickly", async () => {
  const server = await startLimitedServer({ ...defaultLimits }, clinic(ours));
  const { cookie } = await makeUser(server, "reader", ours);
  let allowed = 0;
  while ((await server.app.inject({ url: "/clinic/v1/session", headers: { cookie } })).statusCode === 200) allowed += 1;
  expect(allowed).toBe(1200);
});

test("a user has at most 100 sessions, and the longest unused one ends first", async () => {
  const server = await startServer(clinic(ours));
  const user = await makeUser(server, "reader", ours);
  const other = await makeUser(server, "reader", ours);
  const cookies = [];
  for (let count = 0; count < 100; count += 1) {
    server.clock.now += 1000;
    cookies.push(await cookieOf(server, user.id));
  }
  const sessions = await listSessionsOf(server.store, user.id, server.clock.now);
  expect(sessions.length).toBe(100);
  const statusOf = async (cookie = "") =>
    (await server.app.inject({ url: "/clinic/v1/account", headers: { cookie } })).statusCode;
  expect(await Promise.all([user.cookie, cookies[0], cookies[99], other.cookie].map(statusOf))).toEqual([
    401, 200, 200, 200,
  ]);
});

test("a session has at most 20 open streams, and another session gets its own meanwhile", async () => {
  const server = await startServer(clinic(ours));
  const user = await makeUser(server, "reader", ours);
  const port = await listen(server.app);
  const ended = new AbortController();
  onTestFinished(() => ended.abort());
  const open = async (cookie: string) => {
    const url = `http://127.0.0.1:${port}/clinic/v1/clinics/${ours}/events`;
    return (await fetch(url, { headers: { cookie }, signal: ended.signal })).status;
  };
  const statuses = [];
  for (let count = 0; count < 22; count += 1) statuses.push(await open(user.cookie));
  expect(statuses).toEqual([...Array<number>(20).fill(200), 503, 503]);
  expect(await open(await cookieOf(server, user.id))).toBe(200);
});

test("URL, headers, parameters, pages and names have bounds, each with a clear refusal", async () => {
  const server = await startServer(clinic(ours));
  const key = await server.makeKey(ours, [...permissions]);
  const port = await listen(server.app);
  const headers = { "x-api-key": key };
  const outcome = async (path: string, more = {}) => {
    const { status, text } = await ask(port, { path, headers: { ...headers, ...more } });
    return [status, (JSON.parse(text) as { error?: { code: string } }).error?.code];
  };
  expect(await outcome(`/api/v1/patients/${"a".repeat(5000)}`)).toEqual([414, "REQUEST.URL_TOO_LONG"]);
  expect(await outcome(`/api/v1/patients?x=${"a".repeat(17_000)}`)).toEqual([431, "REQUEST.HEADERS_TOO_LARGE"]);
  expect(await outcome("/api/v1/patients", { "x-a": "a".repeat(17_000) })).toEqual([431, "REQUEST.HEADERS_TOO_LARGE"]);
  for (const query of ["page_size=101", "page=1000000000", "page_size=0", `species=${"a".repeat(201)}`]) {
    expect(await outcome(`/api/v1/patients?${query}`)).toEqual([400, "REQUEST.INVALID_PARAMETER"]);
  }
  expect(await outcome("/api/v1/calendar/events?start_date=2026-01-01&end_date=2026-12-31")).toEqual([
    400,
    "CALENDAR.INVALID_RANGE",
  ]);
  // A thousand parameters cost one pass over 16 KiB, and the response names twenty of them.
  const many = Array.from({ length: 1000 }, (_, index) => `p${index}=1`).join("&");
  const { status, headers: answered } = await ask(port, { path: `/api/v1/patients?${many}`, headers });
  expect([status, String(answered["x-ignored-parameters"]).split(", ").length]).toEqual([200, 20]);
});

test("without credentials no route reads a long body, also one that is short until it is unpacked", async () => {
  const { app } = await startServer(clinic(ours));
  await app.ready();
  const payload = gzipSync(JSON.stringify({ name: " ".repeat(3_000_000) }));
  expect(payload.length).toBeLessThan(4000);
  const packed = { "content-type": "application/json", "content-encoding": "gzip" };
  const headers = { "x-api-key": newKey(), ...packed };
  const read: string[] = [];
  for (const { method, url } of routesOf(app)) {
    if (method === "GET" || method === "HEAD") continue;
    const { statusCode: status } = await app.inject({ method, url: url.replaceAll(/:\w+/g, "x"), headers, payload });
    // The key is unknown, the session is missing, or the body is too long.
    if (![401, 413].includes(status)) read.push(`${method} ${url} ${status}`);
  }
  expect(read).toEqual([]);
});

/** Starts a further session of a user. @returns its cookie */
async function cookieOf({ store, clock }: Awaited<ReturnType<typeof startServer>>, userId: number): Promise<string> {
  const token = randomBytes(32).toString("base64url");
  const digest = createHash("sha256").update(token).digest("hex");
  const ends = { now: clock.now, expiresAt: clock.now + 3_600_000 };
  await store.transaction((session) =>
    insertSession(session, { digest, userId, ...ends, address: "127.0.0.1", browser: "a test" }),
  );
  return `vetwire=${token}`;
}
