import { expect, test } from "vitest";
import { ACTIVE_KEYS_MAX, rollKey } from "../../../../server/http/auth/api-keys.ts";
import { listKeys, revokeKey, revokeKeyLine } from "../../../../server/records/clinics/keys.ts";
import { query } from "../../../../server/database/query.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { CHARS_SHOWN, longestSecretPart } from "../../../support/runner/secrets.ts";
import { clinic, noon, startServer } from "../../harness.ts";

const HOUR_MS = 3_600_000;

const ours = newFp("clinic");
const theirs = newFp("clinic");

test("a rolled key works until its grace period ends, and its successor from the start", async () => {
  const server = await startServer(clinic(ours));
  const old = await server.makeFreshKey(ours, ["clinic.patient.view"], { type: "device", name: "the bench PC" });
  const publicId = (await listKeys(server.store, 1))[0]?.id ?? "";
  const { key } = await rollKey(server.store, server.pepper, { publicId, graceMs: 24 * HOUR_MS, now: noon });
  const statuses = async () =>
    Promise.all([old, key].map(async (each) => (await server.get(each, "/api/v1/patients")).status));
  expect(await statuses()).toEqual([200, 200]);
  server.clock.now += 24 * HOUR_MS - 1;
  expect(await statuses()).toEqual([200, 200]);
  server.clock.now += 1;
  expect(await statuses()).toEqual([401, 200]);

  const [first, second] = await listKeys(server.store, 1);
  expect([first?.expires_at, second?.expires_at]).toEqual(["2026-11-22T12:00:00.000Z", null]);
  expect(second).toMatchObject({ name: "the bench PC", type: "device", permissions: ["clinic.patient.view"] });
  expect((await server.get(key, `/api/v1/lab/diagnostics/${newFp("cds")}`)).status).toBe(404);
  expect((await server.get(key, "/agent/v1/identifiers")).status).toBe(403);
});

test("a successor keeps the expiry of its key, and an expired key has no successor", async () => {
  const server = await startServer(clinic(ours));
  await server.makeFreshKey(ours, ["clinic.patient.view"], { expiresAt: noon + HOUR_MS });
  const publicId = (await listKeys(server.store, 1))[0]?.id ?? "";
  const roll = async (expiresAt?: number) =>
    rollKey(server.store, server.pepper, {
      publicId,
      graceMs: 24 * HOUR_MS,
      now: server.clock.now,
      ...(expiresAt !== undefined && { expiresAt }),
    });
  expect(await roll()).toMatchObject({ oldExpiresAt: noon + HOUR_MS, expiresAt: noon + HOUR_MS });
  expect(await roll(noon + 2 * HOUR_MS)).toMatchObject({ expiresAt: noon + 2 * HOUR_MS });
  server.clock.now += HOUR_MS;
  await expect(roll()).rejects.toThrow(`key ${publicId} is revoked or expired, make a new one with keys create`);
  const unknown = { publicId: "key_x", graceMs: 1, now: noon };
  await expect(rollKey(server.store, server.pepper, unknown)).rejects.toThrow(
    "key key_x does not exist, expected an id that keys list shows",
  );
});

test("the revocation of an agent immediately ends every key of its line, and no key of another PC with its name", async () => {
  const server = await startServer(clinic(ours));
  const make = () => server.makeFreshKey(ours, ["clinic.patient.view"], { type: "device", name: "Lab PC" });
  const first = await make();
  const ids = async () => (await listKeys(server.store, 1)).map(({ id }) => id);
  const roll = async (publicId = "") =>
    (await rollKey(server.store, server.pepper, { publicId, graceMs: 24 * HOUR_MS, now: noon })).key;
  const second = await roll((await ids())[0]);
  const third = await roll((await ids())[1]);
  const branch = await roll((await ids())[0]);
  const other = await make();
  const statuses = async () => {
    const keys = [first, second, third, branch, other];
    return Promise.all(keys.map(async (key) => (await server.get(key, "/api/v1/patients")).status));
  };
  expect(await statuses()).toEqual([200, 200, 200, 200, 200]);
  const current = (await ids())[2] ?? "";
  await server.store.transaction((session) => revokeKeyLine(session, current, server.clock.now));
  expect(await statuses()).toEqual([401, 401, 401, 401, 200]);
});

test("a clinic has at most 25 active keys, without its revoked and expired ones", async () => {
  const server = await startServer(clinic(ours), clinic(theirs));
  const make = async (fp = ours) => server.makeFreshKey(fp, ["clinic.patient.view"], { expiresAt: null });
  await server.makeFreshKey(ours, ["clinic.patient.view"], { expiresAt: noon + 1000 });
  for (let count = 1; count < ACTIVE_KEYS_MAX; count += 1) await make();
  const full = "the clinic has 25 active keys, at most 25: revoke one first";
  await expect(make()).rejects.toThrow(full);
  await make(theirs);

  const [first, second] = await listKeys(server.store, 1);
  server.clock.now += 1000; // the first one expires
  await make();
  await expect(make()).rejects.toThrow(full);
  const publicId = second?.id ?? "";
  await expect(rollKey(server.store, server.pepper, { publicId, graceMs: 1, now: server.clock.now })).rejects.toThrow(
    full,
  );
  expect(await server.store.transaction((session) => revokeKey(session, publicId, server.clock.now))).toBe(true);
  await make();
  expect(first?.expires_at).toBe("2026-11-21T12:00:01.000Z");
});

test("the store holds the first and last four characters of a key's secret, and no others", async () => {
  const server = await startServer(clinic(ours));
  const key = await server.makeFreshKey(ours, ["clinic.patient.view"]);
  const [listed] = await listKeys(server.store, 1);
  expect(listed?.key).toBe(`${key.slice(0, "sk_live_".length + CHARS_SHOWN)}...${key.slice(-CHARS_SHOWN)}`);
  const { key: _shown, ...others } = listed ?? {};
  expect(longestSecretPart(key, JSON.stringify(others))).toBeLessThanOrEqual(CHARS_SHOWN);

  const [row] = await server.store.all(allKeys, {});
  const { prefix, last_four, ...columns } = row ?? {};
  expect([prefix, last_four]).toEqual([key.slice(0, "sk_live_".length + CHARS_SHOWN), key.slice(-CHARS_SHOWN)]);
  for (const [name, value] of Object.entries(columns)) {
    expect([name, longestSecretPart(key, String(value)) > CHARS_SHOWN]).toEqual([name, false]);
  }
});

const allKeys = query((db) => db.selectFrom("api_key").selectAll());
