import { expect, test } from "vitest";
import { ACTIVE_KEYS_MAX, permissions } from "../../../server/http/auth/api-keys.ts";
import { listRowsOf } from "../../../server/store/audit.ts";
import { type KeyList, keyPermissions, type MadeKey, type NewKeyBody } from "../../../shared/dashboard/keys.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { clinic, noon, startServer } from "../../server/harness.ts";
import { makeUser } from "../harness.ts";

const DAY_MS = 86_400_000;
const ours = newFp("clinic");
const theirs = newFp("clinic");

const wanted: NewKeyBody = {
  name: "=cmd|<script>alert(1)</script>",
  type: "integration",
  permissions: ["clinic.patient.view"],
  expires_in_days: 365,
};

test("the page offers the permissions that the server knows", () => {
  expect(keyPermissions.toSorted()).toEqual([...permissions].toSorted());
});

test("a made key works at once, and the list names it without showing it", async () => {
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

test("a key of another clinic answers like a missing one and stays as it is", async () => {
  const server = await startServer(clinic(ours), clinic(theirs));
  const admin = await makeUser(server, "admin", ours);
  const other = await makeUser(server, "admin", theirs);
  const { key } = (await other.call<MadeKey>("POST", "/keys", wanted)).body;
  const id = (await other.call<KeyList>("GET", "/keys")).body.keys[0]?.id ?? "";
  expect((await admin.call<KeyList>("GET", "/keys")).body.keys).toEqual([]);
  for (const publicId of [id, "key_01KAJ0000000000000000000ZZ"]) {
    const rolled = await admin.call("POST", `/keys/${publicId}/roll`, { grace_hours: 0, expires_in_days: null });
    const revoked = await admin.call("POST", `/keys/${publicId}/revoke`, {});
    for (const { status, body } of [rolled, revoked]) {
      expect(status).toBe(404);
      expect(body).toMatchObject({ error: { code: "RECORD.NOT_FOUND", message: "This key does not exist." } });
    }
  }
  expect((await server.get(key, "/api/v1/patients")).status).toBe(200);
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

test.each(["reader", "staff"] as const)("a %s neither sees nor makes keys", async (role) => {
  const server = await startServer(clinic(ours));
  const user = await makeUser(server, role, ours);
  const answers = [
    await user.call("GET", "/keys"),
    await user.call("POST", "/keys", wanted),
    await user.call("POST", "/keys/key_x/roll", { grace_hours: 0, expires_in_days: null }),
    await user.call("POST", "/keys/key_x/revoke", {}),
  ];
  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
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
