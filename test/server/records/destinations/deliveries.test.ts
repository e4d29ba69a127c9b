import { expect, test } from "vitest";
import type { StudyPage } from "../../../../server/dashboard/types/results/results.ts";
import { query } from "../../../../server/database/query.ts";
import { pruneDestinations } from "../../../../server/records/destinations/queue.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { markText } from "../../../../shared/clinical/control/study-quality.ts";
import { makeUser } from "../../../dashboard/harness.ts";
import { clinic, importEntities, keyPermissions, study } from "../../harness.ts";
import { controlIdOf, fieldOf } from "../../hl7-receiver.ts";
import { control, pushControls } from "../../controls.ts";
import { callerOf, startDestination } from "../../destinations.ts";
import { assignStudy, moveStudy, reopenStudy } from "../../study-commands.ts";
import { addUser } from "../../webhooks.ts";

const DAY_MS = 86_400_000;

const stored = query((db) =>
  db
    .selectFrom("destination_delivery")
    .select(["state", "attempts"])
    .select((select) => select("payload", "is not", null).as("has_bytes"))
    .orderBy("id"),
);
const attempts = query((db) => db.selectFrom("destination_attempt").select(["delivery_id"]));

/** Animal, rows with their status, and the status of the report. */
function summary(segments: readonly string[]): string {
  const rows = segments
    .filter((segment) => segment.startsWith("OBX|"))
    .map((segment) => `${segment.split("|")[3]?.split("^")[3] ?? ""} ${segment.split("|")[11] ?? ""}`);
  return [fieldOf(segments, "PID", 5).split("^")[1], ...rows, fieldOf(segments, "OBR", 25)].join(" ");
}

const glu = (value: number) => ({ analyte: "GLU", value, unit: "mmol/L", reference_range: null, flag: null });

async function world() {
  const started = await startDestination();
  const { push, key, store, clock, pamuk, boncuk } = started;
  const filed = study({ patient_fp: pamuk.fp, results: [glu(5)] });
  const by = { userId: await addUser(store), by: "127.0.0.1" };
  let revision = 1;
  return {
    ...started,
    filed,
    file: () => push(key, filed),
    revise: (value: number) => push(key, { ...filed, revision: ++revision, results: [glu(value)] }),
    move: (to = boncuk) => {
      const actor = { ...by, now: (clock.now += 1000) };
      return store.transaction((session) =>
        moveStudy(session, { ...actor, fp: filed.fp, patientFp: to.fp, reason: "wrong cat" }),
      );
    },
    states: async () => (await store.all(stored, {})).map(({ state }) => state),
    actor: () => ({ ...by, now: (clock.now += 1000) }),
  };
}

test("a filed study waits for the agent of a destination, which gets the same bytes until it acknowledges them", async () => {
  const { push, key, pamuk, receiver } = await startDestination();
  await push(key, study({ patient_fp: pamuk.fp }));
  const first = await receiver.next();
  const again = await receiver.next();
  expect(first.segments.map((segment) => segment.slice(0, 3)).slice(0, 4)).toEqual(["MSH", "PID", "ORC", "OBR"]);
  expect(again.answer).toEqual({ ...first.answer, delivery: { ...first.answer.delivery, attempt: 2 } });
  expect(await receiver.report({})).toBe(200);
  expect((await receiver.next()).answer.delivery).toBeNull();
});

test("an unmatched study is not sent, and is once a person places it", async () => {
  const { push, key, store, receiver, pamuk, actor } = await world();
  const unmatched = study({ results: [glu(5)] });
  await push(key, unmatched);
  expect(await receiver.take()).toEqual([]);
  await store.transaction((session) => assignStudy(session, { ...actor(), fp: unmatched.fp, patientFp: pamuk.fp }));
  expect(summary(await receiver.take())).toBe("Pamuk GLU F F");
  expect(await receiver.take()).toEqual([]);
});

test("a study that is corrected while it waits is sent once, in its newest revision and as final", async () => {
  const { file, revise, receiver } = await world();
  await file();
  await revise(6);
  const segments = await receiver.take();
  expect([summary(segments), fieldOf(segments, "OBX", 5)]).toEqual(["Pamuk GLU F F", "6"]);
  expect(await receiver.take()).toEqual([]);
});

test("a correction after a failed attempt gives way to the newest revision under a new control id, before later studies", async () => {
  const { file, revise, receiver, push, key, pamuk, clock, store } = await world();
  await file();
  await push(key, study({ patient_fp: pamuk.fp }));
  const first = await receiver.next();
  await receiver.report({ outcome: "failed", code: "AE" });
  expect((await receiver.next()).answer).toEqual({ delivery: null, wait_s: 1 });
  await revise(6);
  const second = await receiver.next();
  expect([summary(second.segments), fieldOf(second.segments, "OBX", 5)]).toEqual(["Pamuk GLU F F", "6"]);
  expect(controlIdOf(second.segments.join("\r"))).not.toBe(controlIdOf(first.segments.join("\r")));
  clock.now += 1000;
  expect((await store.all(stored, {})).map(({ state }) => state)).toEqual(["replaced", "new", "sending"]);
});

test("a correction of an acknowledged study is C, and a change that the receiver does not see is not sent", async () => {
  const { file, revise, receiver, push, key, filed } = await world();
  await file();
  await receiver.take();
  await revise(6);
  expect(summary(await receiver.take())).toBe("Pamuk GLU C C");
  const message = { ...filed.source, message_id: "2" };
  await push(key, { ...filed, revision: 3, results: [glu(6)], source: message });
  expect(await receiver.take()).toEqual([]);
});

test.each([false, true])(
  "a failed control is sent once as a comment and no correction, a warning and a release are not sent (PDF: %s)",
  async (pdf) => {
    const { app, push, key, pamuk, receiver, store, own } = await startDestination({ pdf });
    const filed = study({ patient_fp: pamuk.fp, results: [glu(5)], acquired_at: "2026-11-20T10:00:00.000Z" });
    await push(key, filed);
    await receiver.take();
    const controls = (at: string, z: number) => pushControls({ app }, key, control(`2026-11-20T${at}`, { GLU: z }));
    await controls("08:00:00.000Z", 0);
    await controls("09:00:00.000Z", 2.5);
    expect(await receiver.take()).toEqual([]);
    await controls("09:30:00.000Z", 4);
    const segments = await receiver.take();
    expect(summary(segments)).toBe(pdf ? "Pamuk GLU F  C F" : "Pamuk GLU F F");
    expect(segments.filter((segment) => segment.startsWith("NTE"))).toEqual([
      expect.stringContaining("GLU: run after a failed control at"),
    ]);
    const admin = await makeUser({ app, store, clock: { now: Date.parse(filed.acquired_at) } }, "admin", own);
    const page = (await admin.call<StudyPage>("GET", `/results/${filed.fp}`)).body;
    const seen = page.quality?.marks.map(markText) ?? [];
    expect((await admin.call("POST", `/results/${filed.fp}/release`, { reason: "repeated", seen })).status).toBe(200);
    expect(await receiver.take()).toEqual([]);
  },
);

test("a correction that comes during an attempt follows it as C once that is acknowledged", async () => {
  const { file, revise, receiver } = await world();
  await file();
  await receiver.next();
  await revise(6);
  await receiver.report({});
  expect(summary(await receiver.take())).toBe("Pamuk GLU C C");
});

test("a study that moves to another animal is withdrawn for the old one, then reported for the new one", async () => {
  const { file, move, receiver, push, key, pamuk } = await world();
  await file();
  await receiver.take();
  await move();
  await push(key, study({ patient_fp: pamuk.fp, results: [] }));
  const sent = [await receiver.take(), await receiver.take(), await receiver.take(), await receiver.take()];
  expect(sent.slice(0, 3).map(summary)).toEqual(["Pamuk GLU W X", "Boncuk GLU F F", "Pamuk F"]);
  expect(sent[3]).toEqual([]);
});

test("a study whose acknowledgement was lost is withdrawn for its old animal, too", async () => {
  const { file, move, receiver } = await world();
  await file();
  await receiver.next();
  await receiver.report({ outcome: "failed", code: "ACK.TIMED_OUT" });
  await move();
  expect([summary(await receiver.take()), summary(await receiver.take())]).toEqual(["Pamuk GLU W X", "Boncuk GLU F F"]);
});

test("a revision whose acknowledgement was lost is corrected, also back to the one that was acknowledged before", async () => {
  const { file, revise, receiver } = await world();
  await file();
  await receiver.take();
  await revise(6);
  await receiver.next();
  await receiver.report({ outcome: "failed", code: "ACK.TIMED_OUT" });
  await revise(5);
  const segments = await receiver.take();
  expect([summary(segments), fieldOf(segments, "OBX", 5)]).toEqual(["Pamuk GLU C C", "5"]);
  expect(await receiver.take()).toEqual([]);
});

test("a message that never reached the receiver is not taken back", async () => {
  for (const code of ["DIAL.REFUSED", "TLS.UNTRUSTED", "AE"]) {
    const { file, move, receiver } = await world();
    await file();
    await receiver.next();
    await receiver.report({ outcome: "failed", code });
    await move();
    expect([summary(await receiver.take()), await receiver.take()]).toEqual(["Boncuk GLU F F", []]);
  }
});

test("a study that moves twice before the first acknowledgement is taken back from each animal that may have it", async () => {
  const { file, move, receiver, pamuk, boncuk } = await world();
  await file();
  await receiver.next();
  await receiver.report({ outcome: "failed", code: "ACK.CLOSED" });
  await move(boncuk);
  expect(summary((await receiver.next()).segments)).toBe("Pamuk GLU W X");
  await receiver.report({ outcome: "failed", code: "ACK.CLOSED" });
  await move(pamuk);
  await move(boncuk);
  const sent = [await receiver.take()];
  expect(summary((await receiver.next()).segments)).toBe("Boncuk GLU F F");
  await receiver.report({ outcome: "failed", code: "ACK.CLOSED" });
  await move(pamuk);
  for (let segments = await receiver.take(); segments.length > 0; segments = await receiver.take()) sent.push(segments);
  expect(sent.map(summary)).toEqual(["Pamuk GLU W X", "Boncuk GLU W X", "Pamuk GLU F F"]);
});

test("a receiver that refuses a withdrawal gets it once, then the report for the right animal, and the withdrawal stays parked", async () => {
  const { file, move, receiver, states } = await world();
  await file();
  await receiver.take();
  await move();
  expect(summary((await receiver.next()).segments)).toBe("Pamuk GLU W X");
  await receiver.report({ outcome: "refused", code: "AR" });
  expect([summary(await receiver.take()), await receiver.take()]).toEqual(["Boncuk GLU F F", []]);
  expect(await states()).toEqual(["acknowledged", "parked", "acknowledged"]);
});

/** A study that moved, whose withdrawal the receiver refused. */
async function refusedWithdrawal() {
  const started = await world();
  const { file, move, receiver, call } = started;
  await file();
  await receiver.take();
  await move();
  const { answer } = await receiver.next();
  await receiver.report({ outcome: "refused", code: "AR" });
  await receiver.take();
  const again = async () =>
    (await call("POST", "/pims/again", { delivery_ids: [answer.delivery?.id ?? 0] })).json<object>();
  return { ...started, again };
}

test("a refused withdrawal is sent again by a person", async () => {
  const { receiver, states, again } = await refusedWithdrawal();
  expect(await again()).toEqual({ queued: 1 });
  expect([summary(await receiver.take()), await receiver.take()]).toEqual(["Pamuk GLU W X", []]);
  expect(await states()).toEqual(["acknowledged", "refused", "acknowledged", "acknowledged"]);
});

test("a refused withdrawal is settled once its animal has the report again", async () => {
  const { move, receiver, states, pamuk } = await refusedWithdrawal();
  await move(pamuk);
  expect([summary(await receiver.take()), summary(await receiver.take())]).toEqual(["Boncuk GLU W X", "Pamuk GLU F F"]);
  expect(await states()).toEqual(["acknowledged", "refused", "acknowledged", "acknowledged", "acknowledged"]);
});

test("a destination that becomes a folder gets what waits as files, and no withdrawal of messages", async () => {
  const { file, move, receiver, call, push, key, pamuk } = await world();
  await file();
  await receiver.take();
  await push(key, study({ patient_fp: pamuk.fp, results: [] }));
  await receiver.next();
  await call("PUT", "", { destinations: [{ id: "pims", kind: "csv" }] });
  await move();
  const files: (string | null)[] = [];
  for (;;) {
    const { answer } = await receiver.next();
    if (answer.delivery === null) break;
    files.push(answer.delivery.file_name);
    await receiver.report({ code: "FILE.WRITTEN" });
  }
  expect(files).toHaveLength(2);
  expect(files.every((name) => name?.endsWith(".csv") === true && !name.includes("withdrawn"))).toBe(true);
});

test("a study that moves before its turn is reported for the new animal alone", async () => {
  const { file, move, receiver } = await world();
  await file();
  await move();
  expect([summary(await receiver.take()), await receiver.take()]).toEqual(["Boncuk GLU F F", []]);
});

test("a study that is taken back from its animal is withdrawn", async () => {
  const { receiver, store, push, key, pamuk, actor } = await world();
  const typed = study({ results: [glu(5)] });
  await push(key, typed);
  await store.transaction((session) => assignStudy(session, { ...actor(), fp: typed.fp, patientFp: pamuk.fp }));
  await receiver.take();
  await store.transaction((session) => reopenStudy(session, { ...actor(), fp: typed.fp }));
  expect([summary(await receiver.take()), await receiver.take()]).toEqual(["Pamuk GLU W X", []]);
});

test("a refused study is parked, and a later revision that the receiver takes settles it", async () => {
  const { file, revise, receiver, store } = await world();
  await file();
  await receiver.next();
  await receiver.report({ outcome: "refused", code: "AR", text: "unknown patient" });
  expect(await receiver.take()).toEqual([]);
  expect((await store.all(stored, {})).map(({ state }) => state)).toEqual(["parked"]);
  await revise(6);
  expect(summary(await receiver.take())).toBe("Pamuk GLU F F");
  expect((await store.all(stored, {})).map(({ state }) => state)).toEqual(["refused", "acknowledged"]);
});

test("the outcome of an older attempt is kept and changes nothing", async () => {
  const { file, receiver, call, store } = await world();
  await file();
  const { answer } = await receiver.next();
  await receiver.next();
  const old = { delivery_id: answer.delivery?.id ?? 0, attempt: 1, at: "2026-11-21T12:00:00.000Z" };
  const late = { ...old, outcome: "refused", code: "AR", text: null };
  expect((await call("POST", "/pims/outcomes", late)).statusCode).toBe(200);
  expect((await store.all(stored, {}))[0]?.state).toBe("sending");
});

test("a clock that is set back keeps the order, and no message waits until it has caught up", async () => {
  const { file, receiver, push, key, pamuk, clock, filed } = await world();
  await file();
  await receiver.next();
  await receiver.report({ outcome: "failed", code: "ACK.TIMED_OUT" });
  clock.now -= DAY_MS;
  const later = study({ patient_fp: pamuk.fp });
  await push(key, later);
  const fps = [fieldOf(await receiver.take(), "OBR", 3), fieldOf(await receiver.take(), "OBR", 3)];
  expect(fps).toEqual([`${filed.fp}^VETWIRE`, `${later.fp}^VETWIRE`]);
});

test("a destination that the agent no longer names is paused, and goes on where it was", async () => {
  const { file, receiver, call } = await world();
  await file();
  await call("PUT", "", { destinations: [] });
  expect((await receiver.next()).answer.delivery).toBeNull();
  await call("PUT", "", { destinations: [{ id: "pims", kind: "hl7" }] });
  expect(summary(await receiver.take())).toBe("Pamuk GLU F F");
});

test("an agent of another clinic, and another agent of the clinic, get 404 for a destination and its deliveries", async () => {
  const { file, call, receiver, store, makeKey, makeFreshKey, own, app } = await world();
  await file();
  const { answer } = await receiver.next();
  const other = newFp("clinic");
  await importEntities(store, clinic(other));
  const report = { attempt: 1, at: "2026-11-21T12:00:00.000Z", outcome: "acknowledged", code: "AA", text: null };
  for (const key of [await makeKey(other, keyPermissions), await makeFreshKey(own, keyPermissions)]) {
    const foreign = callerOf({ app }, key);
    expect((await foreign("GET", "/pims/next")).statusCode).toBe(404);
    await foreign("PUT", "", { destinations: [{ id: "pims", kind: "hl7" }] });
    const ended = { ...report, delivery_id: answer.delivery?.id ?? 0 };
    expect((await foreign("POST", "/pims/outcomes", ended)).statusCode).toBe(404);
  }
  expect((await call("GET", "/pims/next")).json()).toMatchObject({ delivery: { id: answer.delivery?.id } });
});

test("old bytes go after 30 days and old deliveries after 400, but not what a receiver holds and not what is parked", async () => {
  const { file, revise, receiver, push, key, pamuk, clock, store } = await world();
  await file();
  await receiver.take();
  await revise(6);
  await receiver.take();
  await push(key, study({ patient_fp: pamuk.fp }));
  await receiver.next();
  await receiver.report({ outcome: "refused", code: "AR" });
  const kept = async (days: number) => {
    await store.transaction((session) => pruneDestinations(session, clock.now + days * DAY_MS));
    return (await store.all(stored, {})).map(
      ({ state, has_bytes }) => `${state}${Number(has_bytes) === 1 ? " bytes" : ""}`,
    );
  };
  expect(await kept(29)).toEqual(["acknowledged bytes", "acknowledged bytes", "parked bytes"]);
  expect(await kept(31)).toEqual(["acknowledged", "acknowledged", "parked bytes"]);
  expect(await kept(401)).toEqual(["acknowledged", "parked bytes"]);
  expect((await store.all(attempts, {})).length).toBe(2);
  await revise(7);
  expect(summary(await receiver.take())).toBe("Pamuk GLU C C");
});
