import { expect, test } from "vitest";
import { allStored } from "../harness.ts";
import { bodiesOf } from "./bodies.ts";
import { headersAt, send, startTwoClinics, viewOf } from "./two-clinics.ts";

// API3, broken object property level authorization: a field that a body may not hold is refused, or ignored where an older
// server must take the body of a newer agent. It is never stored. The answers hold documented fields alone: startServer()
// compares each answer of /api/v1 with the API document, in which further fields are faults.

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

/** Routes that answer a fitting body with a refusal: there is no release, no delivery, and no such password. */
const REFUSED = /\/(rollout|rollout\/skip|resend|add|password)$/;

test("a field that a body of the dashboard may not hold is refused, and without it the body is taken", {
  timeout: 240_000,
}, async () => {
  const { server, ours } = await startTwoClinics();
  const rows = Object.keys(bodiesOf(ours)).filter((row) => row.includes(" /clinic/"));
  expect(rows.length).toBeGreaterThan(28);
  const answerTo = async (row: string, body: object) => {
    const [method = "", url = ""] = row.split(" ");
    return send(server.app, { method: method as "POST", url: ours.pathTo(url) }, headersAt(url, ours), body);
  };
  const before = await viewOf(server, ours);
  for (const row of rows) {
    const body = bodiesOf(ours)[row] ?? {};
    for (const [name, value] of extras.filter(([extra]) => !Object.hasOwn(body, extra))) {
      const { statusCode, body: text } = await answerTo(row, { ...body, [name]: value });
      // A skip without an update under way is refused before its body is read.
      const expected = row.endsWith("/skip") ? 409 : 400;
      const said = expected === 400 ? name : "";
      expect([row, name, statusCode, text]).toEqual([row, name, expected, expect.stringContaining(said)]);
    }
  }
  expect(await viewOf(server, ours)).toEqual(before);
  for (const row of rows) {
    const body = { ...bodiesOf(ours)[row] };
    if ("version" in body) {
      const path = `/records/${ours.ids["fp"]?.[1]}`;
      body.version = (await ours.admin.call<{ version: string }>("GET", path)).body.version;
    }
    const { statusCode, body: text } = await answerTo(row, body);
    const taken = REFUSED.test(row) ? [404, 409, 401, 403] : [200];
    expect(taken, `${row} answers ${statusCode}: ${text}`).toContain(statusCode);
  }
  expect(allStored(server.database)).not.toContain(PLANTED);
});

test("a field that an agent may not set is ignored at every depth, and never stored", async () => {
  const { server, ours } = await startTwoClinics();
  const planted = Object.fromEntries(extras);
  const [study] = (bodiesOf(ours)["POST /agent/v1/studies"] as { studies: { results: object[] }[] }).studies;
  const results = study?.results.map((result) => ({ ...planted, ...result, planted }));
  const { constructor: _named, ...plain } = planted;
  const sent = {
    ...plain,
    studies: [{ ...plain, ...study, results, source: { device_id: "chem-1", message_id: "2", plain } }],
  };
  const answer = await send(server.app, { method: "POST", url: "/agent/v1/studies" }, headersAt("/agent/", ours), sent);
  expect([answer.statusCode, answer.body]).toEqual([200, expect.stringContaining("filed")]);
  const beat = { ...plain, version: "0.1.0" };
  const heartbeat = await send(
    server.app,
    { method: "POST", url: "/agent/v1/heartbeat" },
    headersAt("/agent/", ours),
    beat,
  );
  expect([heartbeat.statusCode, heartbeat.body]).toEqual([200, expect.any(String)]);
  expect(allStored(server.database)).not.toContain(PLANTED);
});
