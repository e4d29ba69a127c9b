import { expect, test } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import { spacedCode } from "../../../../shared/api/agent/pairing.ts";
import { newKey } from "../../../../shared/runtime/api-key.ts";
import { makePairingCode } from "../../../../server/http/auth/pairing.ts";
import { ACTIVE_KEYS_MAX, rollKey } from "../../../../server/http/auth/api-keys.ts";
import { listAgents } from "../../../../server/records/agents/agents.ts";
import { listRowsOf } from "../../../../server/records/audit/audit.ts";
import type { Session } from "../../../../server/database/query.ts";
import { removeMember } from "../../../../server/records/users/members.ts";
import { setDisabled, setRole } from "../../../../server/records/users/users.ts";
import { findClinic, listKeys, revokeKey } from "../../../../server/records/clinics/keys.ts";
import { makeUser } from "../../../dashboard/harness.ts";
import { allStored, clinic, startServer } from "../../harness.ts";

// Method: an admin makes a code as the dashboard does, and requests go through the complete application, on both engines.

const MINUTE = 60_000;
const ours = newFp("clinic");
const theirs = newFp("clinic");

async function startPairing() {
  const server = await startServer(clinic(ours), clinic(theirs));

  /** Makes a code of a clinic by an admin of it. */
  async function makeCode(clinicFp = ours, by?: Awaited<ReturnType<typeof makeUser>>): Promise<string> {
    const admin = by ?? (await makeUser(server, "admin", clinicFp));
    const clinicId = (await findClinic(server.store, clinicFp))?.id ?? 0;
    const actor = { by: admin.name, now: server.clock.now, userId: admin.id, clinicId };
    const made = await makePairingCode(server.store, server.pepper, {
      clinicId,
      clinicFp,
      userId: admin.id,
      actor,
    });
    return made?.code ?? "none";
  }

  async function pair(code: string, key = newKey(), name = "Lab PC", remoteAddress = "192.0.2.1") {
    const response = await server.app.inject({
      method: "POST",
      url: "/agent/v1/pair",
      remoteAddress,
      headers: { "x-api-key": key },
      payload: { code, name },
    });
    const body = response.json<{
      error?: { code: string; message: string };
      data: { agent: string; clinic: { fp: string; name: string } };
    }>();
    return { status: response.statusCode, body, is: body.error?.code ?? "paired" };
  }

  const statusWith = async (key: string, url = "/agent/v1/identifiers") => (await server.get(key, url)).status;
  return { ...server, makeCode, pair, statusWith };
}

/** Returns the code with its last character, which is part of the secret, replaced. */
function wrong(code: string): string {
  return code.slice(0, -1) + (code.endsWith("2") ? "3" : "2");
}

test("a code becomes a key that reads what the agent needs and nothing else, and the database holds neither", async () => {
  const { store, makeCode, pair, statusWith, database } = await startPairing();
  const code = await makeCode();
  const key = newKey();
  const { status, body } = await pair(` ${spacedCode(code).toLowerCase()} `, key, " Lab PC ");
  expect([status, body]).toEqual([
    200,
    {
      success: true,
      data: { agent: expect.stringMatching(/^agent_/), clinic: { fp: ours, name: "A clinic" } },
    },
  ]);
  for (const url of ["/agent/v1/ranges", "/agent/v1/codes", "/api/v1/patients", "/agent/v1/removed"])
    expect([url, await statusWith(key, url)]).toEqual([url, 200]);
  expect(await statusWith(key, "/api/v1/inventory")).toBe(403);
  const [agent] = await listAgents(store);
  expect(agent).toMatchObject({ fp: body.data.agent, clinic_fp: ours, name: "Lab PC", revoked_at: null });
  expect((await listRowsOf(store, body.data.agent)).map(({ route, clinic_fp }) => [route, clinic_fp])).toEqual([
    ["agents pair", ours],
  ]);
  const stored = allStored(database);
  expect([stored.includes(code), stored.includes(key)]).toEqual([false, false]);
});

test("a repeat with the same key gets the same response and makes nothing, another key is refused", async () => {
  const { store, clock, makeCode, pair, statusWith } = await startPairing();
  const code = await makeCode();
  const key = newKey();
  const first = await pair(code, key);
  clock.now += 20 * MINUTE;
  expect(await pair(code, key)).toEqual(first);
  expect((await pair(code)).is).toBe("PAIRING.CODE_ENDED");
  const clinicId = (await findClinic(store, ours))?.id ?? 0;
  expect(await listKeys(store, clinicId)).toHaveLength(1);
  const [{ key: publicId } = { key: "" }] = await listAgents(store);
  await store.transaction((session) => revokeKey(session, publicId, clock.now));
  expect(await statusWith(key)).toBe(401);
  expect((await pair(code, key)).is).toBe("PAIRING.CODE_ENDED");
  expect(await statusWith(key)).toBe(401);
});

test("a code that was made while the clock was ahead has ended when it is right again", async () => {
  const { clock, makeCode, pair } = await startPairing();
  clock.now += 3 * 365 * 24 * 60 * MINUTE;
  const code = await makeCode();
  clock.now -= 3 * 365 * 24 * 60 * MINUTE;
  expect((await pair(code)).is).toBe("PAIRING.CODE_ENDED");
  expect((await pair(await makeCode())).is).toBe("paired");
});

test("of ten PCs that send one code simultaneously exactly one is paired", async () => {
  const { store, makeCode, pair, statusWith } = await startPairing();
  const code = await makeCode();
  const keys = Array.from({ length: 10 }, newKey);
  const outcomes = await Promise.all(keys.map((key) => pair(code, key)));
  expect(outcomes.map(({ is }) => is).toSorted()).toEqual([
    ...Array.from({ length: 9 }, () => "PAIRING.CODE_ENDED"),
    "paired",
  ]);
  const works = await Promise.all(keys.map((key) => statusWith(key)));
  expect(works.filter((status) => status === 200)).toHaveLength(1);
  expect(await listAgents(store)).toHaveLength(1);
});

test("ten simultaneous requests of one PC pair it once", async () => {
  const { store, makeCode, pair } = await startPairing();
  const code = await makeCode();
  const key = newKey();
  const outcomes = await Promise.all(Array.from({ length: 10 }, () => pair(code, key)));
  expect(new Set(outcomes.map(({ status, body }) => `${status} ${body.data.agent}`)).size).toBe(1);
  expect(await listAgents(store)).toHaveLength(1);
});

test("a code ends after 15 minutes, and with the clinic's next code", async () => {
  const { clock, makeCode, pair } = await startPairing();
  const late = await makeCode();
  clock.now += 15 * MINUTE;
  expect((await pair(late)).is).toBe("PAIRING.CODE_ENDED");
  const [older, other] = [await makeCode(), await makeCode(theirs)];
  const newer = await makeCode();
  expect((await pair(older)).is).toBe("PAIRING.WRONG_CODE");
  expect((await pair(newer)).is).toBe("paired");
  expect((await pair(other)).body.data.clinic.fp).toBe(theirs);
});

test("an address has 20 tries in 15 minutes, and tries of others, also aimed at the code, shut nobody out", async () => {
  const { makeCode, pair } = await startPairing();
  const code = await makeCode();
  const isFrom = async (address: string, typed: string) => (await pair(typed, newKey(), "PC", address)).is;
  for (let tries = 0; tries < 20; tries += 1)
    expect(await isFrom("198.51.100.1", wrong(code))).toBe("PAIRING.WRONG_CODE");
  expect(await isFrom("198.51.100.1", code)).toBe("PAIRING.TOO_MANY_ATTEMPTS");
  expect(await isFrom("2001:db8::1", wrong(code))).toBe("PAIRING.WRONG_CODE");
  for (let tries = 0; tries < 400; tries += 1)
    await isFrom(`203.0.113.${tries % 250}`, tries % 2 ? wrong(code) : "0".repeat(12));
  expect(await isFrom("198.51.100.9", code)).toBe("paired");
});

test("a clinic with as many keys as it may have pairs nothing, and the code stays", async () => {
  const { store, clock, makeCode, pair, makeFreshKey } = await startPairing();
  for (let count = 0; count < ACTIVE_KEYS_MAX; count += 1) await makeFreshKey(ours, ["clinic.lab.view"]);
  const code = await makeCode();
  const key = newKey();
  expect((await pair(code, key)).body.error?.message).toContain("Revoke one");
  const clinicId = (await findClinic(store, ours))?.id ?? 0;
  const [old] = await listKeys(store, clinicId);
  await store.transaction((session) => revokeKey(session, old?.id ?? "", clock.now));
  expect((await pair(code, key)).is).toBe("paired");
});

test("a forged key of another clinic pairs nothing", async () => {
  const { makeCode, pair, makeFreshKey, statusWith } = await startPairing();
  const foreign = await makeFreshKey(theirs, ["clinic.lab.view"]);
  expect((await pair(await makeCode(), foreign)).is).toBe("PAIRING.CODE_ENDED");
  expect(await statusWith(foreign)).toBe(403);
});

test("a request that is not a pairing is refused before any code is read", async () => {
  const { app, makeCode, pair } = await startPairing();
  const code = await makeCode();
  const post = async (payload: object, headers: Record<string, string> = { "x-api-key": newKey() }) =>
    (await app.inject({ method: "POST", url: "/agent/v1/pair", headers, payload })).statusCode;
  expect(await post({ code, name: "PC" }, {})).toBe(401);
  expect(await post({ code, name: "PC" }, { "x-api-key": "sk_live_typed" })).toBe(401);
  expect(await post({ code, name: " " })).toBe(400);
  expect(await post({ code, name: "a\0b" })).toBe(400);
  expect(await post({ code })).toBe(400);
  expect(await post({ code, name: "PC", clinic: theirs })).toBe(400);
  expect(await post({ code, name: "x".repeat(5000) })).toBe(413);
  expect((await pair(code)).is).toBe("paired");
});

test("an agent keeps its fp when its key is rolled, and an agent with a hand-made key is registered by its heartbeat", async () => {
  const { store, pepper, clock, app, makeCode, pair, makeFreshKey } = await startPairing();
  const { body } = await pair(await makeCode());
  const [paired] = await listAgents(store);
  await rollKey(store, pepper, { publicId: paired?.key ?? "", graceMs: 0, now: clock.now });
  const [rolled] = await listAgents(store);
  expect([rolled?.fp, rolled?.key === paired?.key]).toEqual([body.data.agent, false]);
  const key = await makeFreshKey(theirs, ["clinic.lab.ingest"], { name: "By hand", type: "device" });
  for (let beats = 0; beats < 2; beats += 1)
    await app.inject({ method: "POST", url: "/agent/v1/heartbeat", headers: { "x-api-key": key }, payload: {} });
  const agents = (await listAgents(store)).filter(({ clinic_fp }) => clinic_fp === theirs);
  expect(agents).toMatchObject([{ name: "By hand", paired_at: null, last_heartbeat_at: expect.any(String) }]);
  expect(await listAgents(store, ours)).toHaveLength(1);
});

test("a code ends with the rights of the admin who made it", async () => {
  const server = await startPairing();
  const { store, clock, makeCode, pair } = server;
  const clinicId = (await findClinic(store, ours))?.id ?? 0;
  const codeOf = async (end: (userId: number) => Promise<void>) => {
    const admin = await makeUser(server, "admin", ours);
    const code = await makeCode(ours, admin);
    await end(admin.id);
    return code;
  };
  const inStore = (change: (session: Session) => Promise<void>) => store.transaction(change);
  const ends = [
    (id: number) => inStore((session) => setRole(session, id, clinicId, "staff")),
    (id: number) => inStore((session) => removeMember(session, clinicId, id)),
    (id: number) => inStore((session) => setDisabled(session, id, clock.now)),
  ];
  for (const end of ends) expect((await pair(await codeOf(end))).is).toBe("PAIRING.CODE_ENDED");
  expect((await listAgents(store, ours)).map(({ name }) => name)).toEqual([]);
  expect((await pair(await codeOf(async () => undefined))).is).toBe("paired");
});
