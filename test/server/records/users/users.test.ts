import { expect, test } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import { setClinicSettings } from "../../../../server/records/clinics/clinics.ts";
import {
  adminsOf,
  clinicsOfMembers,
  findMember,
  listMembers,
  removeMember,
} from "../../../../server/records/users/members.ts";
import {
  findSession,
  insertSession,
  listSessionsOf,
  removeSessionOf,
  removeSessionsOf,
  touchSession,
} from "../../../../server/records/users/sessions.ts";
import {
  clinicsOfUser,
  describeUsers,
  findUser,
  findUserByName,
  insertUser,
  resetUser,
  setDisabled,
  setRole,
} from "../../../../server/records/users/users.ts";
import {
  endFactorTries,
  setRecoveryCodes,
  setSecondFactor,
  takeStep,
} from "../../../../server/records/users/second-factors.ts";
import { openStore } from "../../../../server/database/open.ts";
import type { Store } from "../../../../server/database/store.ts";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import { clinic, noon, startServer } from "../../harness.ts";

const [ours, theirs] = [newFp("clinic"), newFp("clinic")];

async function start() {
  const { store, database } = await startServer(clinic(ours), clinic(theirs));
  const here = (await findClinic(store, ours))?.id ?? 0;
  const there = (await findClinic(store, theirs))?.id ?? 0;
  return { store, database, here, there };
}

async function makeUser(store: Store, name: string): Promise<{ id: number; public_id: string }> {
  const made = await store.transaction((session) => insertUser(session, { name, password: "none", now: noon }));
  if (made === undefined) throw new Error(`${name} is taken`);
  return made;
}

async function makeSession(store: Store, userId: number, digest: string, now: number, expiresAt: number) {
  return store.transaction((session) =>
    insertSession(session, { digest, userId, now, expiresAt, address: "192.0.2.1", browser: null }),
  );
}

test("a name is found in every letter case, Turkish ones too, and is taken once", async () => {
  const { store } = await start();
  const { id } = await makeUser(store, " İpek  Işık ");
  for (const typed of ["İpek Işık", "ipek ışık", "IPEK IŞIK", "ipek  işik", "İPEK IŞIK".normalize("NFD")]) {
    expect((await findUserByName(store, typed))?.id, `typed ${typed}`).toBe(id);
  }
  await expect(makeUser(store, "ipek isik")).resolves.toBeDefined();
  await expect(makeUser(store, "ipek ışık")).rejects.toThrow("is taken");
});

test("a step is taken once, and no earlier one after it, even from two servers simultaneously", async () => {
  const { store, database } = await start();
  const { id } = await makeUser(store, "Ayşe");
  await store.transaction((session) => setSecondFactor(session, id, { secret: "A".repeat(32), step: 100 }));
  const take = (at: Store, step: number) => at.transaction((session) => takeStep(session, id, step));
  expect(await take(store, 100)).toBe(false);
  const other = await openStore(database, 5000);
  const both = await Promise.all([take(store, 101), take(other, 101)]);
  await other.close();
  expect(both.toSorted()).toEqual([false, true]);
  expect(await take(store, 100)).toBe(false);
  await store.transaction((session) => setSecondFactor(session, id, null));
  expect(await findUser(store, id)).toMatchObject({ totp_secret: null, totp_last_step: null });
});

test("sessions are listed by last use, end one by one or all but one, and ended ones are gone", async () => {
  const { store } = await start();
  const [ayse, can] = [await makeUser(store, "Ayşe"), await makeUser(store, "Can")];
  const first = await makeSession(store, ayse.id, "a", noon, noon + 1000);
  const second = await makeSession(store, ayse.id, "b", noon, noon + 5000);
  await makeSession(store, can.id, "c", noon, noon + 5000);
  await store.transaction((session) => touchSession(session, first, noon + 500, noon + 2000));
  const listed = await listSessionsOf(store, ayse.id, noon + 600);
  expect(listed.map(({ id, last_used_at }) => [id, last_used_at])).toEqual([
    [first, noon + 500],
    [second, noon],
  ]);
  expect(await findSession(store, "a", noon + 1999)).toMatchObject({ user_name: "Ayşe", created_at: noon });
  expect(await findSession(store, "a", noon + 2000)).toBeUndefined();

  const publicId = listed[1]?.public_id ?? "";
  await store.transaction(async (session) => {
    expect(await removeSessionOf(session, can.id, publicId)).toBeUndefined();
    expect(await removeSessionOf(session, ayse.id, publicId)).toBe(second);
    await removeSessionsOf(session, ayse.id, first);
    expect(await findSession(session, "a", noon)).toBeDefined();
    await removeSessionsOf(session, ayse.id);
  });
  expect(await findSession(store, "a", noon)).toBeUndefined();
  expect(await findSession(store, "c", noon)).toBeDefined();
  await makeSession(store, ayse.id, "d", noon + 9000, noon + 10_000);
  expect(await listSessionsOf(store, can.id, 0), "an ended session is removed at the next sign-in").toEqual([]);
});

test("members, their sessions and admins are those of one clinic", async () => {
  const { store, here, there } = await start();
  const [ayse, can, deniz] = [
    await makeUser(store, "ayşe"),
    await makeUser(store, "Can"),
    await makeUser(store, "Deniz"),
  ];
  await store.transaction(async (session) => {
    await setRole(session, ayse.id, here, "admin");
    await setRole(session, ayse.id, there, "reader");
    await setRole(session, can.id, here, "reader");
    await setRole(session, can.id, here, "admin");
    await setRole(session, deniz.id, there, "admin");
    await setDisabled(session, can.id, noon);
  });
  await makeSession(store, ayse.id, "a", noon, noon + 1000);
  await makeSession(store, ayse.id, "b", noon + 10, noon + 1000);

  expect(await listMembers(store, here, noon + 20)).toMatchObject([
    { name: "ayşe", role: "admin", sessions: 2, last_used_at: noon + 10, disabled_at: null },
    { name: "Can", role: "admin", sessions: 0, last_used_at: null, disabled_at: noon },
  ]);
  expect(await adminsOf(store, here)).toEqual([ayse.id]);
  expect(await findMember(store, here, deniz.public_id)).toBeUndefined();
  expect((await clinicsOfMembers(store, there)).filter(({ user_id }) => user_id === ayse.id)).toHaveLength(2);

  await store.transaction((session) => removeMember(session, here, ayse.id));
  expect(await findMember(store, here, ayse.public_id)).toBeUndefined();
  expect(await findMember(store, there, ayse.public_id)).toMatchObject({ role: "reader" });
});

test("a reset changes the password, ends the sessions and recovery codes, and switches the second factor off", async () => {
  const { store } = await start();
  const { id } = await makeUser(store, "Ayşe");
  await makeSession(store, id, "a", noon, noon + 1000);
  await store.transaction((session) => setSecondFactor(session, id, { secret: "A".repeat(32), step: 100 }));
  await store.transaction((session) => setRecoveryCodes(session, id, ["x", "y"]));
  await store.transaction((session) => endFactorTries(session, id, noon));
  expect(await describeUsers(store)).toMatchObject([
    {
      name: "Ayşe",
      clinics: [],
      second_factor: true,
      recovery_codes: 2,
      password_known_at: new Date(noon).toISOString(),
    },
  ]);
  await store.transaction((session) => resetUser(session, id, "another"));
  expect(await describeUsers(store)).toMatchObject([
    { second_factor: false, recovery_codes: 0, password_known_at: null },
  ]);
  expect(await findUser(store, id)).toMatchObject({ password: "another", totp_secret: null });
  expect(await findSession(store, "a", noon)).toBeUndefined();
});

test("settings of a clinic are stored and changed", async () => {
  const { store, here } = await start();
  const { id } = await makeUser(store, "Ayşe");
  await store.transaction((session) => setRole(session, id, here, "reader"));
  const shown = async () => (await clinicsOfUser(store, id))[0];
  expect(await shown()).toMatchObject({ language: null, time_zone: null });
  for (const settings of [
    { language: "tr" as const, time_zone: "Europe/Istanbul" },
    { language: null, time_zone: "Europe/Berlin" },
  ]) {
    await store.transaction((session) => setClinicSettings(session, here, settings));
    expect(await shown()).toMatchObject(settings);
  }
});
