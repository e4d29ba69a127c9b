import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import type { OperatorAudit } from "../../../server/dashboard/types/operator.ts";
import { exportLines } from "../../../server/import/export-lines.ts";
import { findClinic } from "../../../server/records/clinics/keys.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { makeOperator, makeUser } from "../../dashboard/harness.ts";
import { patiently } from "../../support/runner/patience.ts";
import { clinic, startServer } from "../harness.ts";
import { event } from "../records.ts";
import { startTwoClinics } from "../security/two-clinics.ts";

// The export of a clinic from the console: what it has, what it takes, and who reads of it.

const reason = "ticket 8: the clinic leaves";

test("the export of the console is that of the command, of one clinic alone, and no cache keeps it", async () => {
  const { server, ours, theirs } = await startTwoClinics();
  const exported = await ours.operator.call("POST", `/clinics/${ours.fp}/export`, { reason });
  expect([exported.status, exported.headers["cache-control"]]).toEqual([200, "no-store"]);
  expect(exported.headers["content-disposition"]).toBe(`attachment; filename="${ours.fp}-2026-11-21.ndjson"`);
  const clinicId = (await findClinic(server.store, ours.fp))?.id ?? 0;
  const ofCommand = await server.store.snapshot(async (session) => {
    const lines: string[] = [];
    for await (const line of exportLines(session, clinicId, { clinicFp: ours.fp, ownerFp: null })) lines.push(line);
    return lines.join("");
  });
  expect(exported.text).toBe(ofCommand);
  expect(exported.text).toContain(ours.marker);
  expect(exported.text).not.toContain(theirs.marker);
});

test("an export needs a session of an operator, a reason, and a page of this site; both audits have the reason", async () => {
  const ours = newFp("clinic");
  const server = await startServer(clinic(ours));
  const [operator, admin] = [await makeOperator(server), await makeUser(server, "admin", ours)];
  const path = `/clinics/${ours}/export`;
  for (const other of ["", "too short", " ".repeat(20), 5, undefined])
    expect((await operator.call("POST", path, { reason: other })).status).toBe(400);
  expect((await operator.call("POST", `/clinics/${newFp("clinic")}/export`, { reason })).status).toBe(404);
  const send = async (headers: Record<string, string>) => {
    const url = `/operator/v1${path}`;
    return (await server.app.inject({ method: "POST", url, headers, payload: { reason } })).statusCode;
  };
  const here = { "sec-fetch-site": "same-origin" };
  expect(await send({ cookie: operator.cookie, "sec-fetch-site": "cross-site" })).toBe(403);
  expect(await send(here)).toBe(401);
  expect(await send({ cookie: admin.cookie, ...here })).toBe(401);
  const commands = async () => (await operator.call<OperatorAudit>("GET", "/audit")).body.commands;
  expect(await commands()).toEqual([]);
  expect(await send({ cookie: operator.cookie, ...here })).toBe(200);
  const route = `clinics export: ${reason}`;
  expect(await commands()).toMatchObject([{ command: route, by: operator.name, clinic: ours }]);
  const { entries } = (await admin.call<{ entries: object[] }>("GET", "/audit?text=export")).body;
  expect(entries).toMatchObject([{ route, user: operator.name, fp: ours }]);
});

test("an export waits for its reader, another one for its end, and a reader who leaves ends it", async () => {
  const ours = newFp("clinic");
  const server = await startServer(
    clinic(ours),
    Array.from({ length: 6000 }, () => event(ours, { title: "x".repeat(500) })),
  );
  const operator = await makeOperator(server);
  const { port } = new URL(await server.app.listen({ port: 0, host: "127.0.0.1" }));
  const payload = JSON.stringify({ reason });
  const served = once(server.app.server, "connection") as Promise<[Socket]>;
  const reader = connect(Number(port), "127.0.0.1");
  reader.write(
    `POST /operator/v1/clinics/${ours}/export HTTP/1.1\r\nHost: x\r\nCookie: ${operator.cookie}\r\nSec-Fetch-Site: same-origin\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${payload.length}\r\n\r\n${payload}`,
  );
  await once(reader, "data");
  reader.pause();
  // A system may take tens of megabytes for a reader that pauses, so the server's end passes nothing more on.
  (await served)[0].cork();
  const again = () => operator.call("POST", `/clinics/${ours}/export`, { reason });
  const refused = await again();
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining("CLINIC.IS_EXPORTED")]);
  reader.resetAndDestroy();
  const rows = async () => (await again()).text.split("\n").length;
  await expect.poll(rows, { timeout: patiently(20_000) }).toBe(6002);
});
