import { AS_SENT } from "../../../../shared/clinical/units/unit-choice.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { markSeen } from "../../../../server/records/results/seen-studies.ts";
import { countForMenu, readToday } from "../../../../server/records/alerts/today.ts";
import { changeMark } from "../../../../server/records/changes/changes.ts";
import { insertUser } from "../../../../server/records/users/users.ts";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import type { PushedStudy } from "../../../../shared/api/study.ts";
import {
  clinic,
  connection,
  connectTo,
  importEntities,
  keyPermissions,
  patient,
  startServer,
  study,
} from "../../harness.ts";

const ours = newFp("clinic");
const theirs = newFp("clinic");
const HOUR_MS = 3_600_000;

const critical: PushedStudy["results"] = [
  { analyte: "GLU", value: 1.1, unit: "mmol/L", reference_range: "3.3-6.1", flag: "critical" },
  { analyte: "ALT", value: 50, unit: "U/L", reference_range: "10-100", flag: "normal" },
];

/** A server with two clinics that share a dog. The pushes keep their own flags, because they carry the animal. */
async function clinics() {
  const dog = patient();
  const server = await startServer(clinic(ours), clinic(theirs), dog, connection(dog.fp, ours));
  const [clinicId = 0, otherId = 0] = await Promise.all(
    [ours, theirs].map(async (fp) => (await findClinic(server.store, fp))?.id ?? 0),
  );
  const user = await server.store.transaction((session) =>
    insertUser(session, { name: "Ada", password: "none", now: server.clock.now }),
  );
  const key = await server.makeKey(ours, keyPermissions);
  const animal = { species: dog.species, breed: dog.breed, sex: dog.sex, date_of_birth: dog.date_of_birth };
  const rows = critical.map(({ analyte }) => ({
    ...{ analyte, code: analyte, interval_id: "x", reason: null, text: "1" },
    ...{ device_range: null, device_species: null, device_flag: null },
  }));
  const snapshot = { catalogue: "1", ranges: null, animal, instrument: null, rows, notes: [] };
  const ofDog = (changes: Partial<PushedStudy> = {}) =>
    study({ patient_fp: dog.fp, results: critical, snapshot, ...changes });
  const today = (id = clinicId) =>
    readToday(server.store, {
      clinicId: id,
      userId: 0,
      timeZone: null,
      isAdmin: true,
      units: AS_SENT,
      now: server.clock.now,
    });
  const see = (fp: string, id = clinicId, revision = Number.MAX_SAFE_INTEGER) =>
    markSeen(server.store, {
      fp,
      revision,
      clinicId: id,
      userId: user?.id ?? 0,
      now: server.clock.now,
    });
  const send = (...studies: PushedStudy[]) => server.push(key, ...studies);
  return {
    database: server.database,
    store: server.store,
    clock: server.clock,
    clinicId,
    otherId,
    dog,
    send,
    ofDog,
    today,
    see,
  };
}

describe("critical values", () => {
  test("a critical study is listed until a user of the clinic saw it, and again with its next revision", async () => {
    const { send, ofDog, today, see, clock, dog } = await clinics();
    const sent = ofDog();
    await send(sent);
    expect((await today()).critical).toMatchObject([
      {
        fp: sent.fp,
        patient: { fp: dog.fp, name: "Karabaş" },
        worst_flag: "critical",
        values: [{ analyte: "GLU", value: "1.1", unit: "mmol/L", reference_range: "3.3-6.1" }],
      },
    ]);
    expect(await see(sent.fp)).toBe(true);
    expect((await today()).critical).toEqual([]);
    clock.now += HOUR_MS;
    await send(ofDog({ ...sent, revision: 2, results: [{ ...critical[0]!, value: 1.2 }, critical[1]!] }));
    expect((await today()).critical).toMatchObject([{ fp: sent.fp, revision: 2 }]);
  });

  test("a look at an older revision leaves the newer one unseen", async () => {
    const { send, ofDog, today, see, clinicId } = await clinics();
    const sent = ofDog();
    await send(sent);
    await send(ofDog({ ...sent, revision: 2, results: [{ ...critical[0]!, value: 1.2 }, critical[1]!] }));
    expect(await see(sent.fp, clinicId, 1)).toBe(true);
    expect((await today()).critical).toMatchObject([{ fp: sent.fp, revision: 2 }]);
    expect(await see(sent.fp, clinicId, 2)).toBe(true);
    expect((await today()).critical).toEqual([]);
  });

  test("a look in one clinic leaves the study unseen in another one", async () => {
    const { send, ofDog, today, see, store, dog, otherId } = await clinics();
    const sent = ofDog();
    await send(sent);
    expect(await see(sent.fp, otherId)).toBe(false);
    expect((await today(otherId)).critical).toEqual([]);
    await importEntities(store, connection(dog.fp, theirs));
    expect(await see(sent.fp)).toBe(true);
    expect((await today(otherId)).critical).toMatchObject([{ fp: sent.fp }]);
  });

  test("a critical study leaves the list after 48 hours, and an imported one by the time of its sample", async () => {
    const { send, ofDog, today, clock, store, dog } = await clinics();
    const late = ofDog({ acquired_at: "2026-11-01T10:00:00.000Z" });
    await send(late);
    const { fp, modality, device_name, status } = study();
    const content = { modality, device_name, status, patient_fp: dog.fp, results: critical };
    await importEntities(
      store,
      { type: "study", fp, ...content, acquired_at: "2026-11-01T10:00:00.000Z" },
      { type: "study", fp: newFp("cds"), ...content, acquired_at: "2026-11-21T10:00:00.000Z" },
    );
    const found = (await today()).critical.map((listed) => listed.fp);
    expect([found.includes(late.fp), found.includes(fp), found.length]).toEqual([true, false, 2]);
    clock.now += 48 * HOUR_MS + 1;
    expect((await today()).critical).toEqual([]);
  });

  test("words of a device that look like a flag make no study critical", async () => {
    const { send, dog, today } = await clinics();
    const value_text = '"flag":"critical"';
    const result = { analyte: "ALT", value: null, value_text, unit: null, reference_range: null, flag: null };
    await send(study({ patient_fp: dog.fp, results: [result] }));
    expect((await today()).newest).toHaveLength(1);
    expect((await today()).critical).toEqual([]);
  });
});

test("unmatched studies and the codes that nobody mapped are counted, rejected ones are not", async () => {
  const { send, today, otherId, clock } = await clinics();
  const result = { analyte: "XYZ", value: 1, unit: null, reference_range: null, flag: null };
  const own = study({ results: [{ ...result, code_source: "device" as const }] });
  await send(own);
  clock.now += HOUR_MS;
  await send(study());
  const { unmatched, unknown_codes, newest } = await today();
  expect([unmatched, unknown_codes]).toEqual([{ count: 2, oldest_at: "2026-11-21T12:00:00.000Z" }, 1]);
  expect(newest).toMatchObject([
    { patient: null, said: "10021" },
    { fp: own.fp, worst_flag: null },
  ]);
  expect(await today(otherId)).toMatchObject({
    unmatched: { count: 0, oldest_at: null },
    unknown_codes: 0,
    newest: [],
  });
});

test("the menu counts what waits for a person of its clinic", async () => {
  const { send, clinicId, otherId, store, clock } = await clinics();
  await send(study());
  const counts = (id: number) => countForMenu(store, { clinicId: id, timeZone: null, now: clock.now });
  expect(await counts(clinicId)).toEqual({ to_place: 1, not_run: 0, devices: 0 });
  expect(await counts(otherId)).toEqual({ to_place: 0, not_run: 0, devices: 0 });
});

test("a conflict is listed until a user saw its study after it came", async () => {
  const { send, ofDog, today, see, clock } = await clinics();
  const sent = ofDog();
  await send(sent);
  await see(sent.fp);
  clock.now += HOUR_MS;
  await send({ ...sent, device_name: "Another device" });
  expect((await today()).conflicts).toMatchObject([
    { fp: sent.fp, study: { fp: sent.fp }, at: "2026-11-21T13:00:00.000Z" },
  ]);
  await see(sent.fp);
  expect((await today()).conflicts).toEqual([]);
});

test("a damaged study leaves its conflict on Today without its values, and all else as it is", async () => {
  const { send, ofDog, today, database, clock } = await clinics();
  const [damaged, other] = [ofDog(), ofDog()];
  await send(damaged, other);
  clock.now += HOUR_MS;
  await send({ ...damaged, device_name: "Another device" });
  const disk = await connectTo(database);
  onTestFinished(() => disk.close());
  await disk.run(`update study set results = replace(results, '1.1', '9.1') where fp = '${damaged.fp}'`);
  const { conflicts, critical: listed } = await today();
  expect(conflicts).toMatchObject([{ fp: damaged.fp, study: null }]);
  expect(listed.map(({ fp }) => fp)).toEqual([other.fp]);
});

test("the newest 20 results come first by their receipt", async () => {
  const { send, ofDog, today, clock } = await clinics();
  const fps: string[] = [];
  for (let index = 0; index < 22; index += 1) {
    const sent = ofDog();
    fps.unshift(sent.fp);
    await send(sent);
    clock.now += 1000;
  }
  expect((await today()).newest.map(({ fp }) => fp)).toEqual(fps.slice(0, 20));
});

test("a conflict and a look are news for the pages of the clinic", async () => {
  const { send, ofDog, see, store, clinicId } = await clinics();
  const sent = ofDog();
  await send(sent);
  const marks = [await changeMark(store, clinicId)];
  await send({ ...sent, device_name: "Another device" });
  marks.push(await changeMark(store, clinicId));
  await see(sent.fp);
  marks.push(await changeMark(store, clinicId));
  await see(sent.fp);
  marks.push(await changeMark(store, clinicId));
  expect([new Set(marks).size, marks[3]]).toEqual([3, marks[2]]);
});
