import { expect, test } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import type { DevicesBody, PairingCode } from "../../../../server/dashboard/types/devices/devices.ts";
import { newKey } from "../../../../shared/runtime/api-key.ts";
import { listRowsOf } from "../../../../server/records/audit/audit.ts";
import { clinic, noon, startServer } from "../../../server/harness.ts";
import { makeUser } from "../../harness.ts";

const ours = newFp("clinic");
const theirs = newFp("clinic");

async function start() {
  const server = await startServer(clinic(ours), clinic(theirs));
  const pair = async (code: string, key: string) =>
    (
      await server.app.inject({
        method: "POST",
        url: "/agent/v1/pair",
        headers: { "x-api-key": key },
        payload: { code, name: "Lab PC" },
      })
    ).statusCode;
  return { ...server, pair };
}

test("an admin of the clinic alone makes codes, and the audit names who did", async () => {
  const server = await start();
  const statuses = [];
  for (const role of ["reader", "staff", "admin"] as const) {
    const user = await makeUser(server, role, ours);
    statuses.push((await user.call("POST", "/pairing-code", {})).status);
  }
  const foreign = await makeUser(server, "admin", theirs);
  statuses.push((await foreign.call("POST", `/clinic/v1/clinics/${ours}/pairing-code`, {})).status);
  const anonymous = { method: "POST", url: `/clinic/v1/clinics/${ours}/pairing-code` } as const;
  statuses.push((await server.app.inject(anonymous)).statusCode);
  expect(statuses).toEqual([403, 403, 200, 404, 401]);
  expect((await listRowsOf(server.store, ours)).map(({ route }) => route)).toEqual(["agents code"]);
});

test("the page shows a code in three groups with its end, the PC once it is paired, and that its access is revoked", async () => {
  const server = await start();
  const admin = await makeUser(server, "admin", ours);
  const { body } = await admin.call<PairingCode>("POST", "/pairing-code", {});
  expect(body).toEqual({
    code: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){2}$/),
    expires_at: new Date(noon + 15 * 60_000).toISOString(),
    server: null,
  });
  const key = newKey();
  expect(await server.pair(body.code, key)).toBe(200);
  const agents = async () => (await admin.call<DevicesBody>("GET", "/devices")).body.agents;
  const [shown] = await agents();
  expect(shown).toMatchObject({
    key: { name: "Lab PC" },
    is: "never heard",
    paired_at: new Date(noon).toISOString(),
    is_revoked: false,
  });
  const beat = { method: "POST", url: "/agent/v1/heartbeat", headers: { "x-api-key": key }, payload: {} } as const;
  expect((await server.app.inject(beat)).statusCode).toBe(200);
  expect((await agents())[0]?.is).toBe("running");
  for (const role of ["reader", "staff"] as const) {
    const user = await makeUser(server, role, ours);
    expect((await user.call("POST", `/keys/${shown?.key.id}/revoke`, {})).status).toBe(403);
  }
  expect((await admin.call("POST", `/keys/${shown?.key.id}/revoke`, {})).status).toBe(200);
  expect((await server.app.inject(beat)).statusCode).toBe(401);
});

test("a code works whatever the admin's other clinics are, and names the clinic of the page", async () => {
  const server = await start();
  const both = await makeUser(server, "admin", theirs, ours);
  const { body } = await both.call<PairingCode>("POST", `/clinic/v1/clinics/${ours}/pairing-code`, {});
  const payload = { code: body.code, name: "PC" };
  const headers = { "x-api-key": newKey() };
  const response = await server.app.inject({ method: "POST", url: "/agent/v1/pair", headers, payload });
  expect(response.json()).toMatchObject({ data: { clinic: { fp: ours } } });
});
