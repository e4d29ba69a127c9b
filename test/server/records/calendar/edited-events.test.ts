import { expect, test } from "vitest";
import { query } from "../../../../server/database/query.ts";
import type {
  EventCheck,
  EventList,
  ListedEvent,
  NewEvent,
  SeenEvent,
} from "../../../../server/dashboard/types/calendar.ts";
import type { CalendarEvent } from "../../../../shared/api/calendar.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { ours as softwareClinic, pamuk, practiceServer } from "../../practice-software.ts";
import { clinic, connection, importEntities, patient, startServer } from "../../harness.ts";
import { event } from "../../records.ts";
import { makeUser } from "../../../dashboard/harness.ts";

// Events that staff edit, reschedule and take back a step. Method: requests to the dashboard's API of a server, and what the read
// API has afterwards.

const ours = newFp("clinic");
const theirs = newFp("clinic");
const day = "?start=2026-11-25T00:00:00.000Z&end=2026-11-27T00:00:00.000Z";

interface Refused {
  error: { code: string; message: string; details: { code: string; values: string[] } };
}

async function oneEvent() {
  const [dog, cat, foreign] = [patient(), patient({ name: "Pamuk", species: "cat" }), patient()];
  const vet = (name: string) => ({ type: "user" as const, fp: newFp("user"), name, clinic_fp: ours });
  const [ayse, ece] = [vet("Ayşe Demir"), vet("Ece Yıldız")];
  const connections = [connection(dog.fp, ours), connection(cat.fp, ours), connection(foreign.fp, theirs)];
  const server = await startServer(clinic(ours), clinic(theirs), ayse, ece, dog, cat, foreign, connections);
  const staff = await makeUser(server, "staff", ours);
  const key = await server.makeKey(ours, ["clinic.calendar.view"]);
  const published = async () =>
    (await server.get(key, `/api/v1/calendar/events${day.replace("start", "start_date").replace("end", "end_date")}`))
      .body as unknown as CalendarEvent[];
  const body: NewEvent = {
    ...{ title: "Vaccination", type: "VACCINATION", patient_fp: dog.fp, assigned_user_fp: ayse.fp },
    ...{ start_at: "2026-11-25T08:00:00.000Z", end_at: "2026-11-25T08:30:00.000Z" },
  };
  const { fp } = (await staff.call<{ fp: string }>("POST", "/calendar", body)).body;
  const listed = async () => (await staff.call<EventList>("GET", `/calendar${day}`)).body.events;
  const one = async () => (await listed()).find((each) => each.fp === fp) as ListedEvent;
  const seen: SeenEvent = { ...body, status: "SCHEDULED" };
  const edit = async (changes: Partial<NewEvent>, saw: Partial<SeenEvent> = {}) =>
    staff.call<Refused>("PUT", `/calendar/${fp}`, { ...body, ...changes, seen: { ...seen, ...saw } });
  const step = async (name: "move" | "undo", to: string) =>
    staff.call<Refused>("POST", `/calendar/${fp}/${name}`, name === "move" ? { to } : { from: to });
  return { server, staff, dog, cat, foreign, ayse, ece, fp, body, published, listed, one, edit, step };
}

test("an edit changes every fact of an event, and the read API has it immediately", async () => {
  const { cat, ece, fp, published, edit, one } = await oneEvent();
  const changed: NewEvent = {
    ...{ title: "Dental", type: "SURGERY", patient_fp: cat.fp, assigned_user_fp: ece.fp },
    ...{ start_at: "2026-11-26T10:00:00.000Z", end_at: "2026-11-26T11:30:00.000Z" },
  };
  expect((await edit({ ...changed, title: " Dental " })).status).toBe(200);
  expect(await published()).toEqual([{ ...changed, fp, status: "SCHEDULED" }]);
  expect(await one()).toMatchObject({ assigned_user: "Ece Yıldız", assigned_user_fp: ece.fp, source: null });
});

test("an edit names what another user changed meanwhile, and overwrites nothing", async () => {
  const { fp, published, edit, step } = await oneEvent();
  expect((await edit({ title: "Check-up", start_at: "2026-11-25T08:10:00.000Z" })).status).toBe(200);
  await step("move", "CHECKED_IN");
  const before = await published();
  const refused = await edit({ title: "Dental" });
  expect([refused.status, refused.body.error]).toEqual([
    409,
    expect.objectContaining({
      code: "RECORD.REFUSED",
      message: "Somebody changed the title, the state, the start meanwhile, so nothing was overwritten.",
      details: { code: "EVENT.CHANGED", values: ["title", "status", "start_at"] },
    }),
  ]);
  expect(await published()).toEqual(before);
  const saw = { title: "Check-up", start_at: "2026-11-25T08:10:00.000Z", status: "CHECKED_IN" } as const;
  expect((await edit({ title: "Dental" }, saw)).status).toBe(200);
  expect((await published())[0]).toMatchObject({ fp, title: "Dental", status: "CHECKED_IN" });
});

test("an edit needs what a new event needs, and an event of the clinic", async () => {
  const { server, foreign, edit, published, fp, body } = await oneEvent();
  const before = await published();
  const faults: [Partial<Record<keyof NewEvent, unknown>>, number][] = [
    [{ title: " " }, 400],
    [{ end_at: body.start_at }, 400],
    [{ start_at: "2026-02-30T08:00:00.000Z" }, 400],
    [{ patient_fp: foreign.fp }, 404],
    [{ assigned_user_fp: newFp("user") }, 404],
    [{ assigned_user_fp: null, assigned_member: "Nobody" }, 404],
  ];
  for (const [changes, expected] of faults) {
    expect([changes, (await edit(changes as Partial<NewEvent>)).status]).toEqual([changes, expected]);
  }
  const stranger = await makeUser(server, "staff", theirs);
  const path = `/calendar/${fp}`;
  const seen = { ...body, status: "SCHEDULED" };
  expect((await stranger.call("PUT", path, { ...body, patient_fp: null, seen })).status).toBe(404);
  expect((await stranger.call("POST", `${path}/undo`, { from: "SCHEDULED" })).status).toBe(404);
  const reader = await makeUser(server, "reader", ours);
  expect((await reader.call("PUT", path, { ...body, seen })).status).toBe(403);
  expect(await published()).toEqual(before);
});

test("a patient that the clinic does not see any more stays with an edited event", async () => {
  const { server, staff, foreign } = await oneEvent();
  const unseen = event(ours, {
    patient_fp: foreign.fp,
    start_at: "2026-11-26T09:00:00.000Z",
    end_at: "2026-11-26T09:30:00.000Z",
  });
  await importEntities(server.store, unseen);
  const { fp, title, event_type: type, start_at, end_at } = unseen;
  const body = { title, type, start_at, end_at, patient_fp: null, assigned_user_fp: null };
  const answer = await staff.call("PUT", `/calendar/${fp}`, {
    ...body,
    title: "Later",
    seen: { ...body, status: "SCHEDULED" },
  });
  expect(answer.status).toBe(200);
  expect(await server.store.first(patientOf, { fp })).toEqual({ title: "Later", fp: foreign.fp });
});

test("each step of an event is undone, and a cancelled one gets the state that it had", async () => {
  const { published, one, step } = await oneEvent();
  const state = async () => (await published())[0]?.status;
  const way = ["SCHEDULED", "CHECKED_IN", "IN_PROGRESS", "PENDING_CHECKOUT", "CLOSED"] as const;
  expect((await one()).previous_status).toBeNull();
  for (const to of way.slice(1)) await step("move", to);
  for (const [index, from] of [...way.entries()].slice(1).toReversed()) {
    expect((await one()).previous_status).toBe(way[index - 1]);
    expect((await step("undo", from)).status).toBe(200);
    expect(await state()).toBe(way[index - 1]);
  }
  const first = await step("undo", "SCHEDULED");
  expect([first.status, first.body.error.details.code]).toEqual([409, "EVENT.NO_STEP_BACK"]);
  for (const to of ["CHECKED_IN", "IN_PROGRESS", "CANCELLED"]) await step("move", to);
  expect((await one()).previous_status).toBe("IN_PROGRESS");
  // A second click, or another user's, finds another state.
  const stale = await step("undo", "IN_PROGRESS");
  expect([stale.status, stale.body.error.details]).toEqual([409, { code: "EVENT.CHANGED", values: ["status"] }]);
  expect((await step("undo", "CANCELLED")).status).toBe(200);
  expect(await state()).toBe("IN_PROGRESS");
});

test("an event that an import cancelled goes back to the first state", async () => {
  const { server, staff } = await oneEvent();
  const cancelled = event(ours, { status: "CANCELLED" });
  await importEntities(server.store, cancelled);
  const { body } = await staff.call("POST", `/calendar/${cancelled.fp}/undo`, { from: "CANCELLED" });
  expect(body).toEqual({ status: "SCHEDULED" });
});

test("an event that a file cancels keeps the state that it had", async () => {
  const { server, staff } = await oneEvent();
  const visit = event(ours, { status: "IN_PROGRESS" });
  await importEntities(server.store, visit);
  await importEntities(server.store, { ...visit, status: "CANCELLED" });
  const { body } = await staff.call("POST", `/calendar/${visit.fp}/undo`, { from: "CANCELLED" });
  expect(body).toEqual({ status: "IN_PROGRESS" });
});

test("the audit has each edit and undo with its user", async () => {
  const { server, staff, dog, cat, fp, edit, step } = await oneEvent();
  await edit({ patient_fp: cat.fp });
  await step("move", "CANCELLED");
  await step("undo", "CANCELLED");
  await step("undo", "CANCELLED");
  expect((await server.store.all(commands, {})).slice(2)).toEqual([
    { route: "event edit", fp, user_id: staff.id },
    { route: "event edit", fp: dog.fp, user_id: staff.id },
    { route: "event edit", fp: cat.fp, user_id: staff.id },
    { route: "event move CANCELLED", fp, user_id: staff.id },
    { route: "event undo CANCELLED", fp, user_id: staff.id },
  ]);
});

test("a check names the events of the same time that get in the way, and nothing refuses them", async () => {
  const { server, staff, dog, cat, ayse, ece, fp, body } = await oneEvent();
  const [over, next] = [
    event(ours, { status: "CANCELLED", start_at: "2026-11-25T08:00:00.000Z", end_at: "2026-11-25T09:00:00.000Z" }),
    event(ours, { start_at: "2026-11-25T08:30:00.000Z", end_at: "2026-11-25T09:00:00.000Z" }),
  ];
  const stay = event(ours, {
    ...{ title: "Stay", assigned_user_fp: ece.fp, patient_fp: cat.fp },
    ...{ start_at: "2026-11-20T08:00:00.000Z", end_at: "2026-11-28T08:00:00.000Z" },
  });
  await importEntities(server.store, over, next, stay, event(theirs));
  const check = async (changes: object) => {
    const { start_at, end_at } = body;
    const planned = { start_at, end_at, patient_fp: null, assigned: null, edited: null, ...changes };
    const { body: found } = await staff.call<EventCheck>("POST", "/calendar/check", planned);
    return found.overlaps.map((each) => each.title);
  };
  const late = { start_at: "2026-11-25T08:29:00.000Z", end_at: "2026-11-25T09:00:00.000Z" };
  const table: [object, string[]][] = [
    [{}, ["Stay", "Vaccination"]],
    [{ edited: fp }, ["Stay"]],
    [{ assigned: ayse.fp }, ["Vaccination"]],
    [{ assigned: ayse.fp, edited: fp }, []],
    [{ assigned: ayse.fp, patient_fp: cat.fp }, ["Stay", "Vaccination"]],
    [{ assigned: "Somebody new" }, []],
    [{ assigned: "Somebody new", patient_fp: dog.fp }, ["Vaccination"]],
    [{ ...late, assigned: ayse.fp }, ["Vaccination", "Check-up"]],
    [{ ...late, start_at: "2026-11-25T08:30:00.000Z", assigned: ayse.fp }, ["Check-up"]],
  ];
  for (const [changes, expected] of table) expect([changes, await check(changes)]).toEqual([changes, expected]);
  expect((await staff.call("POST", "/calendar", body)).status).toBe(200);
});

test("an appointment of practice software keeps its facts, its state is the clinic's, and the next message changes it", async () => {
  const { server, send, post } = await practiceServer();
  const staff = await makeUser(server, "staff", softwareClinic);
  await send(pamuk);
  const visit = { external_id: "7", title: "Dental", type: "CHECKUP", patient: "00417", assigned: null };
  const times = { start_at: "2026-11-25T08:00:00.000Z", end_at: "2026-11-25T08:30:00.000Z" };
  const plan = async (item: object) => post("appointments", { source: "pims", mode: "partial", items: [item] });
  await plan({ ...visit, ...times });
  const one = async () => (await staff.call<EventList>("GET", `/calendar${day}`)).body.events[0] as ListedEvent;
  const { fp, patient: shown, status, title, type } = await one();
  const body = { title, type, ...times, patient_fp: shown?.fp ?? null, assigned_user_fp: null };
  const refused = await staff.call<Refused>("PUT", `/calendar/${fp}`, {
    ...body,
    title: "Mine",
    seen: { ...body, status },
  });
  expect([refused.status, refused.body.error.message]).toEqual([409, "pims keeps this appointment: change it there."]);
  await staff.call("POST", `/calendar/${fp}/move`, { to: "CHECKED_IN" });
  await staff.call("POST", `/calendar/${fp}/undo`, { from: "CHECKED_IN" });
  await plan({ ...visit, ...times, end_at: "2026-11-25T09:00:00.000Z" });
  expect(await one()).toMatchObject({ source: "pims", status: "SCHEDULED", end_at: "2026-11-25T09:00:00.000Z" });
  // The clinic cancels it by mistake and takes that back: the software goes on with the same event.
  await staff.call("POST", `/calendar/${fp}/move`, { to: "CANCELLED" });
  expect((await staff.call("POST", `/calendar/${fp}/undo`, { from: "CANCELLED" })).status).toBe(200);
  await plan({ external_id: "7", deleted: true });
  expect(await one()).toMatchObject({ fp, status: "CANCELLED", previous_status: null });
  const over = await staff.call<Refused>("POST", `/calendar/${fp}/undo`, { from: "CANCELLED" });
  expect([over.status, over.body.error.details.code]).toEqual([409, "EVENT.CANCELLED_BY_SOFTWARE"]);
});

const commands = query((db) =>
  db.selectFrom("audit").select(["route", "fp", "user_id"]).where("method", "=", "COMMAND").orderBy("id"),
);

const patientOf = query((db, p: { fp: string }) =>
  db
    .selectFrom("calendar_event as event")
    .innerJoin("patient", "patient.id", "event.patient_id")
    .select(["event.title", "patient.fp"])
    .where("event.fp", "=", p.fp),
);
