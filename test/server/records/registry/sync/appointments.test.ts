import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { moveEvent } from "../../../../../server/records/calendar/calendar.ts";
import { listRows } from "../../../../../server/records/audit/audit.ts";
import { insertUser, setRole } from "../../../../../server/records/users/users.ts";
import type { CalendarEvent, EventStatus } from "../../../../../shared/api/calendar.ts";
import { noon, onPostgres } from "../../../harness.ts";
import { ours, pamuk, practiceServer, theirs } from "../../../practice-software.ts";

// Practice software sends appointments to /sync/v1/appointments. Method: requests to the API of a server, and what
// /api/v1/calendar/events and the export have afterwards. Runs on both engines.

const DAY_MS = 86_400_000;
const at = (days: number, hours = 9) => new Date(noon + days * DAY_MS + (hours - 12) * 3_600_000).toISOString();
const visit = {
  external_id: "5001",
  title: "Dental check-up",
  type: "CHECKUP",
  start_at: at(1),
  end_at: at(1, 10),
  patient: "00417",
  assigned: "Ece Yıldız",
  updated_at: "2026-11-20T06:00:00Z",
};

type Item = Record<string, unknown>;

async function calendarServer() {
  const practice = await practiceServer();
  const { server, post, send, clinicOf } = practice;
  const reader = await server.makeKey(ours, ["clinic.calendar.view", "clinic.patient.view"]);
  const owned = await send(pamuk);
  const plan = async (body: object, parameters = "") =>
    (await post(`appointments${parameters}`, { source: "pims", mode: "partial", ...body })).body;
  const sendVisits = async (...items: unknown[]) => plan({ items });
  const events = async (): Promise<CalendarEvent[]> => {
    const range = `start_date=${at(-40)}&end_date=${at(40)}`;
    return (await server.get(reader, `/api/v1/calendar/events?${range}`)).body as unknown as CalendarEvent[];
  };
  const move = async (fp: string, ...statuses: EventStatus[]) => {
    for (const to of statuses) {
      const moved = { clinicId: clinicOf(ours), fp, to, now: server.clock.now };
      expect(await server.store.transaction((session) => moveEvent(session, moved))).toBeNull();
    }
  };
  const join = async (name: string) =>
    server.store.transaction(async (session) => {
      const user = await insertUser(session, { name, password: "x", now: noon });
      await setRole(session, user?.id ?? 0, clinicOf(ours), "staff");
    });
  return { ...practice, plan, sendVisits, events, move, join, patientFp: owned.items[0]?.fp ?? "" };
}

type Answer = Awaited<ReturnType<Awaited<ReturnType<typeof calendarServer>>["plan"]>>;

function outcomes({ items }: Answer) {
  return items.map(({ outcome }) => outcome);
}

function faults({ items }: Answer) {
  return items.flatMap(({ errors }) => errors.map(({ field, code }) => `${field} ${code}`));
}

describe("appointments", () => {
  test("one is an event of the calendar with its patient and member, changes, and is cancelled", async () => {
    const { sendVisits, events, join, patientFp } = await calendarServer();
    await join("Ece Yıldız");
    const created = await sendVisits(visit, {
      ...visit,
      external_id: "2",
      patient: null,
      assigned: null,
      type: undefined,
    });
    expect([outcomes(created), faults(created)]).toEqual([["created", "created"], []]);
    const { title, type, start_at, end_at } = visit;
    const shown = {
      fp: created.items[0]?.fp,
      title,
      type,
      start_at,
      end_at,
      status: "SCHEDULED",
      patient_fp: patientFp,
    };
    const first = { ...shown, assigned_user_fp: expect.stringMatching(/^user_/) as string };
    const second = {
      ...shown,
      fp: created.items[1]?.fp,
      type: "APPOINTMENT",
      patient_fp: null,
      assigned_user_fp: null,
    };
    expect(await events()).toEqual(expect.arrayContaining([first, second]));
    expect(outcomes(await sendVisits(visit))).toEqual(["unchanged"]);
    const later = { ...visit, start_at: at(2), end_at: at(2, 10), updated_at: "2026-11-20T07:00:00Z" };
    expect(outcomes(await sendVisits(later))).toEqual(["updated"]);
    expect((await events()).find(({ fp }) => fp === first.fp)).toEqual({
      ...first,
      start_at: at(2),
      end_at: at(2, 10),
    });
    const gone = { external_id: "5001", deleted: true, updated_at: "2026-11-20T08:00:00Z" };
    expect([outcomes(await sendVisits(gone)), outcomes(await sendVisits(gone))]).toEqual([["deleted"], ["unchanged"]]);
    expect((await events()).map(({ status }) => status).toSorted()).toEqual(["CANCELLED", "SCHEDULED"]);
  });

  test("an older item changes nothing and does not bring a cancelled appointment back, a newer one makes a new event", async () => {
    const { sendVisits, events } = await calendarServer();
    const timed = (hour: number, more: Item = {}) => ({ ...visit, updated_at: `2026-11-20T0${hour}:00:00Z`, ...more });
    await sendVisits(timed(5), { external_id: "2", deleted: true, updated_at: "2026-11-20T06:00:00Z" });
    const older = await sendVisits(timed(4, { title: "Old" }), timed(5, { external_id: "2" }));
    expect([outcomes(older), faults(older)]).toEqual([
      ["unchanged", "unchanged"],
      ["updated_at older", "updated_at older"],
    ]);
    await sendVisits(timed(7, { deleted: true }));
    expect(outcomes(await sendVisits(timed(6)))).toEqual(["unchanged"]);
    expect((await events()).map(({ status }) => status)).toEqual(["CANCELLED"]);
    const back = await sendVisits(timed(8), timed(8, { external_id: "2" }));
    expect(outcomes(back)).toEqual(["created", "created"]);
    expect((await events()).map(({ status }) => status).toSorted()).toEqual(["CANCELLED", "SCHEDULED", "SCHEDULED"]);
    expect(outcomes(await sendVisits(timed(8)))).toEqual(["unchanged"]);
  });

  test("the status is the clinic's: a later item keeps it, and a closed event is not cancelled", async () => {
    const { sendVisits, events, move } = await calendarServer();
    const { items } = await sendVisits(visit, { ...visit, external_id: "2" }, { ...visit, external_id: "3" });
    const [first = "", second = "", third = ""] = items.map(({ fp }) => fp ?? "");
    await move(first, "CHECKED_IN");
    await move(second, "CHECKED_IN", "IN_PROGRESS", "PENDING_CHECKOUT", "CLOSED");
    await move(third, "CANCELLED");
    const changed = await sendVisits(
      { ...visit, title: "Teeth" },
      { external_id: "2", deleted: true },
      { ...visit, external_id: "3" },
    );
    expect([outcomes(changed), faults(changed).filter((each) => !each.endsWith("unknown_member"))]).toEqual([
      ["updated", "unchanged", "unchanged"],
      ["deleted closed", " cancelled"],
    ]);
    const shown = new Map((await events()).map(({ fp, title, status }) => [fp, [title, status]]));
    expect([shown.get(first), shown.get(second), shown.get(third)]).toEqual([
      ["Teeth", "CHECKED_IN"],
      ["Dental check-up", "CLOSED"],
      ["Dental check-up", "CANCELLED"],
    ]);
    expect(outcomes(await sendVisits({ ...visit, external_id: "2" }))).toEqual(["unchanged"]);
    expect(shown.size).toBe((await events()).length);
  });

  test("the patient is one of the source, also after a merge, and an unknown member leaves the event unassigned", async () => {
    const { server, send, sendVisits, events, merge, patientFp, post } = await calendarServer();
    await send({ ...pamuk, external_id: "00988", identifiers: [] });
    await merge("00417", "00988");
    const answer = await sendVisits({ ...visit, patient: "00988" }, { ...visit, external_id: "2", patient: "1" });
    expect([outcomes(answer), faults(answer)]).toEqual([
      ["created", "rejected"],
      ["assigned unknown_member", "patient unknown_patient"],
    ]);
    expect(await events()).toMatchObject([{ patient_fp: patientFp, assigned_user_fp: null }]);
    const foreign = await server.makeKey(theirs, ["clinic.sync.write"]);
    const payload = { source: "pims", mode: "partial", items: [visit] };
    const asked = { method: "POST" as const, url: "/sync/v1/appointments", headers: { "x-api-key": foreign }, payload };
    expect((await server.app.inject(asked)).json<Answer>().items).toMatchObject([
      { errors: [{ code: "unknown_patient" }] },
    ]);
    const other = await post("appointments", {
      source: "other",
      mode: "partial",
      items: [{ ...visit, patient: null }],
    });
    expect(outcomes(other.body)).toEqual(["created"]);
  });

  test("a dry run stores nothing, and its token is refused once a user moved the event", async () => {
    const { plan, sendVisits, events, move, exported } = await calendarServer();
    const { items } = await sendVisits(visit);
    const before = await exported();
    const next = {
      items: [
        { ...visit, title: "Teeth" },
        { ...visit, external_id: "2" },
      ],
    };
    const dry = await plan(next, "?dry_run=true");
    expect([outcomes(dry), dry.items[1]?.fp]).toEqual([["updated", "created"], null]);
    expect(await exported()).toBe(before);
    await move(items[0]?.fp ?? "", "CHECKED_IN");
    expect((await plan(next, `?commit_token=${dry.commit_token}`)).error.code).toBe("SYNC.STATE_MOVED");
    const again = await plan(next, "?dry_run=true");
    expect(outcomes(await plan(next, `?commit_token=${again.commit_token}`))).toEqual(["updated", "created"]);
    expect(await events()).toHaveLength(2);
  });

  test("a full list cancels the coming ones that it lacks, at most a tenth without a confirmation, and no past or begun one", async () => {
    const { plan, sendVisits, events, move } = await calendarServer();
    const many = Array.from({ length: 22 }, (_, index) => ({ ...visit, external_id: String(index), assigned: null }));
    const past = { ...visit, external_id: "past", start_at: at(-1), end_at: at(-1, 10), assigned: null };
    const sent = await sendVisits(...many, past);
    await move(sent.items[0]?.fp ?? "", "CHECKED_IN");
    const statuses = async () => (await events()).filter(({ status }) => status === "CANCELLED").length;
    const refused = await plan({ mode: "full", items: many.slice(4) });
    expect(refused.error).toMatchObject({ code: "SYNC.TOO_MANY_REMOVALS", details: { removals: 3, appointments: 21 } });
    const done = await plan({ mode: "full", items: [], all: many.slice(3).map(({ external_id }) => external_id) });
    expect(done).toMatchObject({ counts: { deleted: 2 }, absent: [{ external_id: "1" }, { external_id: "2" }] });
    expect(await statuses()).toBe(2);
    const dry = await plan({ mode: "full", items: [] }, "?dry_run=true");
    await plan({ mode: "full", items: [] }, `?confirm_removals=true&commit_token=${dry.commit_token}`);
    expect([dry.counts.deleted, await statuses()]).toEqual([19, 21]);
    expect((await plan({ mode: "full", items: [] })).counts.deleted).toBe(0);
  });

  test("the audit names each event and the key, and no log, answer or audit has a title", async () => {
    const { server, sendVisits } = await calendarServer();
    const secret = { ...visit, title: "Ada Örnek, +90 555 000 00 00" };
    const answers = [await sendVisits(secret), await sendVisits({ ...secret, title: ["Ada Örnek"] })];
    await sendVisits({ external_id: "5001", deleted: true });
    const rows = [];
    for await (const row of listRows(server.store, { since: 0, until: noon * 2 })) rows.push(row);
    const commands = rows.filter(({ method, route }) => method === "COMMAND" && route?.includes("appointment"));
    expect(commands.map(({ route, fp, key }) => [route, fp, key?.slice(0, 4)])).toEqual([
      ["sync: appointment created", answers[0]?.items[0]?.fp, "key_"],
      ["sync: appointment deleted", answers[0]?.items[0]?.fp, "key_"],
    ]);
    expect(JSON.stringify([answers, rows, server.log])).not.toMatch(/Ada Örnek|555 000/);
  });
});

describe("wrong appointments", () => {
  const wrong: readonly (readonly [change: Item, fault: string])[] = [
    [{ external_id: 5 }, "external_id wrong_type"],
    [{ title: undefined }, "title missing"],
    [{ title: " " }, "title blank"],
    [{ title: "half \ud83d" }, "title bad_text"],
    [{ type: "HAIRCUT" }, "type not_allowed"],
    [{ start_at: "2026-11-24T09:00:00" }, "start_at wrong_form"],
    [{ start_at: "2026-02-30T09:00:00Z" }, "start_at not_a_time"],
    [{ end_at: at(0) }, "end_at before_start"],
    [{ patient: 417 }, "patient wrong_type"],
    [{ assigned: "x".repeat(201) }, "assigned too_long"],
    [{ updated_at: "2027-11-24T09:00:00Z" }, "updated_at in_the_future"],
    [{ status: "CLOSED" }, "status unknown_field"],
    [{ deleted: 1 }, "deleted not_allowed"],
  ];

  test("each is rejected with its field and code, and its neighbour is stored", async () => {
    const { sendVisits, events } = await calendarServer();
    for (const [index, [change, expected]] of wrong.entries()) {
      const good = { ...visit, external_id: `good ${index}`, assigned: null };
      const answer = await sendVisits({ ...visit, ...change }, good);
      expect([change, outcomes(answer), faults(answer)]).toEqual([change, ["rejected", "created"], [expected]]);
      for (const { message } of answer.items[0]?.errors ?? []) expect(message).toMatch(/ is .+, expected /);
    }
    expect(await events()).toHaveLength(wrong.length);
    const twice = await sendVisits(visit, { ...visit, title: "Other" });
    expect(faults(twice)).toEqual(["external_id duplicate", "external_id duplicate"]);
  });
});

describe("properties of appointments", () => {
  const item = fc.record(
    {
      external_id: fc.constantFrom("1", "2", "3"),
      title: fc.constantFrom("A", "B"),
      start_at: fc.constantFrom(at(1), at(2)),
      end_at: fc.constant(at(3)),
      patient: fc.option(fc.constant("00417")),
      assigned: fc.option(fc.constantFrom("Ece Yıldız", "Nobody")),
      deleted: fc.constant(true),
    },
    { requiredKeys: ["external_id", "title", "start_at", "end_at"] },
  );
  const items = fc.uniqueArray(item, { selector: ({ external_id }) => external_id, minLength: 1 });
  const bounds = { numRuns: onPostgres() ? 2 : 4, endOnFailure: true };

  test("batches with different updated_at, some twice, leave the same appointments in any order", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(items, { minLength: 2, maxLength: 4 }),
        fc.infiniteStream(fc.nat()),
        async (list, order) => {
          const batches = list.map((each, hour) =>
            each.map((one) => ({ ...one, updated_at: `2026-11-20T0${hour}:00:00Z` })),
          );
          const mixed = [...batches, ...batches.slice(0, 1)]
            .map((one) => ({ one, rank: order.next().value }))
            .toSorted((a, b) => a.rank - b.rank)
            .map(({ one }) => one);
          const results = [];
          for (const sequence of [batches, mixed, batches.toReversed()]) {
            const { sendVisits, events } = await calendarServer();
            for (const sent of sequence) await sendVisits(...sent);
            const open = (await events()).filter(({ status }) => status === "SCHEDULED");
            results.push(
              open
                .map(({ title, start_at, patient_fp }) => JSON.stringify([title, start_at, patient_fp !== null]))
                .toSorted(),
            );
          }
          expect(results[1]).toEqual(results[0]);
          expect(results[2]).toEqual(results[0]);
        },
      ),
      bounds,
    );
  });

  test("undoing every batch, the last one first, restores the export after each", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(items, { minLength: 1, maxLength: 4 }), async (requests) => {
        const { sendVisits, join, undo, last, listed, exported } = await calendarServer();
        await join("Ece Yıldız");
        const states: { state: string; batch: string }[] = [];
        for (const sent of requests) {
          const [state, count] = [await exported(), (await listed()).length];
          await sendVisits(...sent);
          if ((await listed()).length > count) states.push({ state, batch: await last() });
        }
        for (const { state, batch } of states.toReversed()) {
          expect(await undo(batch)).toMatchObject({ undone: true });
          expect(await exported()).toBe(state);
        }
      }),
      bounds,
    );
  });
});
