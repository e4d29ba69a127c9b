import { expect, test } from "vitest";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import {
  findOpenLink,
  listLinks,
  makeLink,
  noteOpened,
  revokeLink,
} from "../../../../server/records/sharing/report-links.ts";
import { readMailServer, writeMailServer } from "../../../../server/operations/mail/stored-mail-server.ts";
import { makeUser } from "../../../dashboard/harness.ts";
import { chemistry, resultsClinic } from "../../../dashboard/results-clinic.ts";
import { keyPermissions, startServer } from "../../harness.ts";

const DAY = 86_400_000;

test("a link opens until its end, counts its openings, and a revoked one stays revoked since the first time", async () => {
  const { ours, theirs, dog, entities } = resultsClinic();
  const { store, push, makeKey, clock, ...server } = await startServer(...entities);
  const filed = chemistry(dog);
  await push(await makeKey(ours, keyPermissions), filed);
  const { id: userId, name } = await makeUser({ ...server, store, clock }, "staff", ours);
  const clinicId = (await findClinic(store, ours))?.id ?? 0;
  const other = (await findClinic(store, theirs))?.id ?? 0;
  const of = { clinicId, studyFp: filed.fp, patientFp: dog.fp };
  const wanted = { ...of, userId, language: "tr", zone: "Europe/Istanbul", days: 7 } as const;
  const made = await store.transaction((session) => makeLink(session, wanted, clock.now));
  const find = (now: number) => findOpenLink(store, made.secret, now);
  expect(await find(clock.now)).toEqual({
    id: expect.any(Number) as number,
    ...{ clinicId, clinicName: "A clinic", studyFp: filed.fp, language: "tr", zone: "Europe/Istanbul" },
    endsAt: clock.now + 7 * DAY,
    isForOwner: true,
  });
  expect(await find(clock.now + 7 * DAY - 1)).toBeDefined();
  expect(await find(clock.now + 7 * DAY)).toBeUndefined();
  const id = (await find(clock.now))?.id ?? 0;
  for (const at of [5, 9]) await store.transaction((session) => noteOpened(session, id, clock.now + at));
  const revoke = (clinic: number, now: number) =>
    store.transaction((session) => revokeLink(session, { clinicId: clinic, studyFp: filed.fp, id: made.id, now }));
  expect(await revoke(other, clock.now)).toBe(false);
  expect(await find(clock.now)).toBeDefined();
  expect([await revoke(clinicId, clock.now), await revoke(clinicId, clock.now + 1)]).toEqual([true, true]);
  expect(await find(clock.now)).toBeUndefined();
  const iso = (after: number) => new Date(clock.now + after).toISOString();
  expect(await listLinks(store, { ...of, now: clock.now })).toEqual([
    {
      ...{ id: made.id, by: name, language: "tr", made_at: iso(0), ends_at: iso(7 * DAY), ended: "revoked" },
      opened: { first_at: iso(5), last_at: iso(9), times: 2 },
    },
  ]);
  expect(await listLinks(store, { ...of, clinicId: other, now: clock.now })).toEqual([]);
});

test("the mail server is one row, which the last setting replaces", async () => {
  const { store, clock } = await startServer();
  expect(await readMailServer(store)).toBeNull();
  const setting = { host: "a.example", port: 587, encryption: "starttls", user: null, from: "a@a.example" } as const;
  for (const host of ["a.example", "b.example"]) {
    const stored = { setting: { ...setting, host }, sealedPassword: host };
    await store.transaction((session) => writeMailServer(session, stored, clock.now));
    expect(await readMailServer(store)).toEqual(stored);
  }
});
