import { expect, test } from "vitest";
import { ACTIVE_KEYS_MAX, permissions } from "../../../../server/http/auth/api-keys.ts";
import { listRowsOf } from "../../../../server/records/audit/audit.ts";
import {
  type KeyList,
  keyPermissions,
  type MadeKey,
  type NewKeyBody,
} from "../../../../server/dashboard/types/settings/keys.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { clinic, noon, startServer } from "../../../server/harness.ts";
import { makeUser } from "../../harness.ts";

const DAY_MS = 86_400_000;
const ours = newFp("clinic");
const theirs = newFp("clinic");

const wanted: NewKeyBody = {
  name: "=cmd|<script>alert(1)</script>",
  type: "integration",
  permissions: ["clinic.patient.view"],
  expires_in_days: 365,
};

test("the page offers the permissions of the server", () => {
  expect(keyPermissions.toSorted()).toEqual([...permissions].toSorted());
});

test("a new key works immediately, and the list names it without showing it", async () => {
  const server = await startServer(clinic(ours));
  const admin = await makeUser(server, "admin", ours);
  const { status, body } = await admin.call<MadeKey>("POST", "/keys", wanted);
  expect(status).toBe(200);
  expect((await server.get(body.key, "/api/v1/patients")).status).toBe(200);
  const list = await admin.call<KeyList>("GET", "/keys");
  expect(list.text).not.toContain(body.key);
  const [entry] = list.body.keys;
  expect(entry).toEqual({
    id: expect.stringMatching(/^key_/),
    name: wanted.name,
    type: "integration",
    permissions: ["clinic.patient.view"],
    key: `${body.key.slice(0, 12)}...${body.key.slice(-4)}`,
    created_at: new Date(noon).toISOString(),
    expires_at: new Date(noon + 365 * DAY_MS).toISOString(),
    revoked_at: null,
    last_used_at: new Date(noon).toISOString(),
    state: "active",
  });
  expect([list.body.active, list.body.active_max]).toEqual([1, ACTIVE_KEYS_MAX]);
});

test("a rolled key works until its grace ends, a revoked one not at all, and the audit names who did it", async () => {
  const server = await startServer(clinic(ours));
  const admin = await makeUser(server, "admin", ours);
  const { key: first } = (await admin.call<MadeKey>("POST", "/keys", wanted)).body;
  const statusOf = async (key: string) => (await server.get(key, "/api/v1/patients")).status;
  expect(await statusOf(first)).toBe(200);
  const idOf = async (key: string) =>
    (await admin.call<KeyList>("GET", "/keys")).body.keys.find((entry) => entry.key.endsWith(key.slice(-4)))?.id ?? "";
  const id = await idOf(first);
  const rolled = await admin.call<MadeKey>("POST", `/keys/${id}/roll`, { grace_hours: 1, expires_in_days: null });
  const { key: second } = rolled.body;
  expect([await statusOf(first), await statusOf(second)]).toEqual([200, 200]);
  server.clock.now += 3_600_000;
  expect([await statusOf(first), await statusOf(second)]).toEqual([401, 200]);
  const secondId = await idOf(second);
  expect((await admin.call("POST", `/keys/${secondId}/revoke`, {})).status).toBe(200);
  expect(await statusOf(second)).toBe(401);
  const states = (await admin.call<KeyList>("GET", "/keys")).body.keys.map(({ state }) => state);
  expect(states).toEqual(["revoked", "expired"]);
  expect((await admin.call("POST", `/keys/${secondId}/roll`, { grace_hours: 0, expires_in_days: 1 })).status).toBe(409);
  const commandsOf = async (fp: string) =>
    (await listRowsOf(server.store, fp)).map(({ route, address }) => [route, address]);
  expect(await commandsOf(id)).toEqual([
    ["keys create", admin.name],
    ["keys roll", admin.name],
  ]);
  expect(await commandsOf(secondId)).toEqual([
    ["keys create", admin.name],
    ["keys revoke", admin.name],
  ]);
});

test("a clinic with 25 active keys gets a clear refusal", async () => {
  const server = await startServer(clinic(ours));
  const admin = await makeUser(server, "admin", ours);
  for (let count = 0; count < ACTIVE_KEYS_MAX; count += 1) await admin.call("POST", "/keys", wanted);
  const { status, body } = await admin.call("POST", "/keys", wanted);
  expect(status).toBe(409);
  const message = "The clinic has 25 active keys, at most 25. Revoke one first.";
  expect(body).toMatchObject({ error: { code: "RECORD.REFUSED", message } });
});

test.each([
  { ...wanted, name: " " },
  { ...wanted, type: "admin" },
  { ...wanted, permissions: [] },
  { ...wanted, permissions: ["clinic.everything"] },
  { ...wanted, permissions: ["clinic.lab.view", "clinic.lab.view"] },
  { ...wanted, expires_in_days: 0 },
  { ...wanted, clinic: theirs },
])("the body %j is refused", async (body) => {
  const server = await startServer(clinic(ours));
  const admin = await makeUser(server, "admin", ours);
  expect((await admin.call("POST", "/keys", body)).status).toBe(400);
});
