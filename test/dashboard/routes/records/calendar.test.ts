import { expect, test } from "vitest";
import { query } from "../../../../server/database/query.ts";
import type { CalendarEvent } from "../../../../shared/api/calendar.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import type { EventList, NewEvent } from "../../../../server/dashboard/types/calendar.ts";
import { clinic, connection, importEntities, patient, startServer } from "../../../server/harness.ts";
import { event } from "../../../server/records.ts";
import { makeUser } from "../../harness.ts";

const ours = newFp("clinic");
const theirs = newFp("clinic");
const day = "?start=2026-11-25T00:00:00.000Z&end=2026-11-26T00:00:00.000Z";
const nextDay = "?start=2026-11-26T00:00:00.000Z&end=2026-11-27T00:00:00.000Z";

interface Refusal {
  error: { code: string; message: string };
}

async function twoClinics() {
  const [dog, foreign] = [patient(), patient()];
  const vet = { type: "user" as const, fp: newFp("user"), name: "Ayşe Demir", clinic_fp: ours };
  const stranger = { type: "user" as const, fp: newFp("user"), name: "Other", clinic_fp: theirs };
  const connections = [connection(dog.fp, ours), connection(foreign.fp, theirs)];
  const server = await startServer(clinic(ours), clinic(theirs), vet, stranger, dog, foreign, connections);
  const staff = await makeUser(server, "staff", ours);
  const key = await server.makeKey(ours, ["clinic.calendar.view"]);
  const shown = async (range = day) =>
    (await server.get(key, `/api/v1/calendar/events${range.replace("start", "start_date").replace("end", "end_date")}`))
      .body as unknown as CalendarEvent[];
  const body: NewEvent = {
    ...{ title: "Vaccination", type: "VACCINATION", patient_fp: dog.fp, assigned_user_fp: vet.fp },
    ...{ start_at: "2026-11-25T08:00:00.000Z", end_at: "2026-11-25T08:30:00.000Z" },
  };
  return { server, dog, foreign, vet, stranger, staff, shown, body };
}

test("a new event is checked in, treated, checked out and closed, and the read API shows each step immediately", async () => {
  const { dog, staff, shown, body } = await twoClinics();
  const { fp } = (await staff.call<{ fp: string }>("POST", "/calendar", { ...body, title: " Vaccination " })).body;
  expect(await shown()).toEqual([{ ...body, fp, status: "SCHEDULED" }]);
  const { events } = (await staff.call<EventList>("GET", `/calendar${day}`)).body;
  const { patient_fp: _patient, ...rest } = body;
  expect(events).toEqual([
    {
      ...{ ...rest, fp, status: "SCHEDULED", assigned_user: "Ayşe Demir" },
      ...{ patient: { fp: dog.fp, name: "Karabaş", species: "dog" }, next_statuses: ["CHECKED_IN", "CANCELLED"] },
      ...{ previous_status: null, source: null },
    },
  ]);
  for (const to of ["CHECKED_IN", "IN_PROGRESS", "PENDING_CHECKOUT", "CLOSED"]) {
    expect((await staff.call("POST", `/calendar/${fp}/move`, { to })).status).toBe(200);
    expect((await shown())[0]?.status).toBe(to);
  }
  const { status, body: refused } = await staff.call<Refusal>("POST", `/calendar/${fp}/move`, { to: "CANCELLED" });
  expect([status, refused.error]).toEqual([
    409,
    expect.objectContaining({
      code: "RECORD.REFUSED",
      message: "Status is CANCELLED, expected no other status, CLOSED is final.",
    }),
  ]);
});

test("a user of the dashboard joins the staff with the first event, and only one of the clinic", async () => {
  const { server, staff, shown, body } = await twoClinics();
  const stranger = await makeUser(server, "staff", theirs);
  const read = async () => (await staff.call<EventList>("GET", `/calendar${day}`)).body;
  expect((await read()).members).toEqual([staff.name]);
  const add = async (assigned_member: string) =>
    (await staff.call("POST", "/calendar", { ...body, assigned_user_fp: null, assigned_member })).status;
  expect([await add(stranger.name), await add("Nobody")]).toEqual([404, 404]);
  expect([await add(staff.name), await add(staff.name)]).toEqual([200, 200]);
  const { events, users, members } = await read();
  expect(events.map(({ assigned_user }) => assigned_user)).toEqual([staff.name, staff.name]);
  expect(members).toEqual([]);
  const joined = users.find(({ name }) => name === staff.name);
  expect((await shown()).map(({ assigned_user_fp }) => assigned_user_fp)).toEqual([joined?.fp, joined?.fp]);
});

test("an event skips no step, and is cancelled before its end only", async () => {
  const { staff, shown, body } = await twoClinics();
  const { fp } = (await staff.call<{ fp: string }>("POST", "/calendar", body)).body;
  const skipped = await staff.call<Refusal>("POST", `/calendar/${fp}/move`, { to: "CLOSED" });
  expect([skipped.status, skipped.body.error.message]).toEqual([
    409,
    "Status is CLOSED, expected CHECKED_IN or CANCELLED after SCHEDULED.",
  ]);
  expect((await staff.call("POST", `/calendar/${fp}/move`, { to: "CANCELLED" })).status).toBe(200);
  expect((await shown())[0]?.status).toBe("CANCELLED");
  expect((await staff.call("POST", `/calendar/${fp}/move`, { to: "CHECKED_IN" })).status).toBe(409);
});

test("the calendar has the events that start in the range, with patients that the clinic sees alone", async () => {
  const { server, foreign, staff } = await twoClinics();
  const early = event(ours, { start_at: "2026-11-25T00:00:00.000Z" });
  const unseen = event(ours, { title: "<img src=x>", patient_fp: foreign.fp });
  const late = event(ours, { start_at: "2026-11-26T00:00:00.000Z", end_at: "2026-11-26T00:30:00.000Z" });
  await importEntities(server.store, unseen, early, late, event(theirs));
  const { body } = await staff.call<EventList>("GET", `/calendar${day}`);
  expect(body.events.map(({ fp, title, patient: shown }) => ({ fp, title, shown }))).toEqual([
    { fp: early.fp, title: "Check-up", shown: null },
    { fp: unseen.fp, title: "<img src=x>", shown: null },
  ]);
  expect(body.users.map(({ name }) => name)).toEqual(["Ayşe Demir"]);
  const far = await staff.call<Refusal>("GET", "/calendar?start=2026-01-01&end=2027-01-01");
  expect([far.status, far.body.error.code]).toEqual([400, "REQUEST.INVALID_PARAMETER"]);
  const reversed = await staff.call<Refusal>("GET", "/calendar?start=2026-11-26&end=2026-11-25");
  expect([reversed.status, reversed.body.error.code]).toEqual([400, "REQUEST.INVALID_PARAMETER"]);
  expect((await staff.call<EventList>("GET", `/calendar${nextDay}`)).body.events).toHaveLength(1);
});

test("a stay is in the calendar of each of its days, and not in that of the day after its end", async () => {
  const { server, staff } = await twoClinics();
  const stay = event(ours, { start_at: "2026-11-23T09:00:00.000Z", end_at: "2026-11-26T00:00:00.000Z" });
  await importEntities(server.store, stay);
  const fps = async (range: string) =>
    (await staff.call<EventList>("GET", `/calendar${range}`)).body.events.map(({ fp }) => fp);
  expect([await fps(day), await fps(nextDay)]).toEqual([[stay.fp], []]);
});

test("an event needs times that exist, an end after its start, and a patient and a user of the clinic", async () => {
  const { staff, shown, foreign, stranger, body } = await twoClinics();
  const faults: [Partial<Record<keyof NewEvent, unknown>>, number][] = [
    [{ title: "  " }, 400],
    [{ type: "PARTY" }, 400],
    [{ start_at: "2026-02-30T08:00:00.000Z" }, 400],
    [{ start_at: "2026-11-25 08:00" }, 400],
    [{ end_at: body.start_at }, 400],
    [{ patient_fp: foreign.fp }, 404],
    [{ assigned_user_fp: stranger.fp }, 404],
  ];
  for (const [changes, expected] of faults) {
    const { status } = await staff.call("POST", "/calendar", { ...body, ...changes });
    expect([changes, status]).toEqual([changes, expected]);
  }
  expect(await shown()).toEqual([]);
  const bare = await staff.call("POST", "/calendar", { ...body, patient_fp: null, assigned_user_fp: null });
  expect(bare.status).toBe(200);
});

test("the audit has each command with its user", async () => {
  const { server, dog, staff, body } = await twoClinics();
  const { fp } = (await staff.call<{ fp: string }>("POST", "/calendar", body)).body;
  await staff.call("POST", `/calendar/${fp}/move`, { to: "CHECKED_IN" });
  await staff.call("POST", `/calendar/${fp}/move`, { to: "CLOSED" });
  const rows = await server.store.all(commands, {});
  expect(rows).toEqual([
    { route: "event add", fp, user_id: staff.id },
    { route: "event add", fp: dog.fp, user_id: staff.id },
    { route: "event move CHECKED_IN", fp, user_id: staff.id },
  ]);
});

const commands = query((db) =>
  db.selectFrom("audit").select(["route", "fp", "user_id"]).where("method", "=", "COMMAND").orderBy("id"),
);
