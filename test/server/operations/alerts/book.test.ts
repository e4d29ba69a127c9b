import { Moment } from "../../../../server/operations/alerts/moment.ts";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type AlertBook,
  type AlertMessage,
  ATTEMPT_MS,
  type Channel,
  claim,
  EMPTY_BOOK,
  settle,
  stepBook,
} from "../../../../server/operations/alerts/book.ts";
import type { AlertKind, Condition } from "../../../../server/operations/alerts/kinds.ts";
import { isQuiet, type QuietHours } from "../../../../server/operations/alerts/quiet.ts";

const MINUTE = 60_000;
const start = Date.parse("2026-11-23T12:00:00Z");
const email: Channel = { id: "a", type: "email" };
const webhook: Channel = { id: "b", type: "webhook" };
const why = { code: "HOOK.BROKEN", values: [] };
const zone = "UTC";

const condition = (kind: AlertKind, more: Partial<Condition> = {}): Condition => ({
  ...{ key: kind, kind, subject: "chem-1", since: start },
  ...more,
});

/** Steps and delivers everything that is due; every attempt succeeds. */
function run(book: AlertBook, conditions: readonly Condition[], now: number, more: Partial<Run> = {}) {
  const { channels = [email, webhook], quiet = null } = more;
  let next = stepBook(book, conditions, { channels, moment: new Moment(now) });
  const sent: AlertMessage[][] = [];
  for (let taken = claim(next, { channels, quiet, timeZone: zone, now }); taken !== null; ) {
    sent.push([...taken.batch.messages]);
    next = settle(taken.book, taken.batch, { ok: true, said: "", why }, now);
    taken = claim(next, { channels, quiet, timeZone: zone, now });
  }
  return {
    book: next,
    sent: sent.map((batch) => batch.map(({ channel, event, alert }) => `${channel} ${event} ${alert.kind}`)),
  };
}

interface Run {
  readonly channels: readonly Channel[];
  readonly quiet: QuietHours | null;
}

describe("the book of alerts", () => {
  test("an alert is notified once when it opens and once when it closes, by e-mail at the end of its minute", () => {
    const disk = condition("disk-full");
    const opened = run(EMPTY_BOOK, [disk], start);
    expect(opened.sent).toEqual([["b opened disk-full"]]);
    const later = run(opened.book, [disk], start + MINUTE);
    expect(later.sent).toEqual([["a opened disk-full"]]);
    expect(run(later.book, [disk], start + 2 * MINUTE).sent).toEqual([]);
    const closed = run(later.book, [], start + 3 * MINUTE);
    expect(closed.sent).toEqual([["b closed disk-full"]]);
    expect(run(closed.book, [], start + 4 * MINUTE)).toEqual({
      book: expect.objectContaining({ open: [], messages: [] }) as AlertBook,
      sent: [["a closed disk-full"]],
    });
  });

  test("a clock that jumps holds no message, and gives none up", () => {
    const disk = condition("disk-full");
    const years = 3 * 365 * 24 * 60 * MINUTE;
    const channels = [webhook];
    const failed = (book: AlertBook, now: number) => {
      const taken = claim(book, { channels, quiet: null, timeZone: zone, now });
      return settle(taken!.book, taken!.batch, { ok: false, reason: "no", isUncertain: false, why }, now);
    };
    const opened = stepBook(EMPTY_BOOK, [disk], { channels, moment: new Moment(start) });
    const ahead = failed(failed(opened, start), start + years);
    expect(ahead.messages).toHaveLength(1);
    expect(claim(ahead, { channels, quiet: null, timeZone: zone, now: start + MINUTE })?.batch.messages).toHaveLength(
      1,
    );
    const taken = claim(ahead, { channels, quiet: null, timeZone: zone, now: start + 2 * years })!.book;
    expect(claim(taken, { channels, quiet: null, timeZone: zone, now: start + MINUTE })).not.toBeNull();
  });

  test("alerts that open in one minute share an e-mail, and a webhook gets one message for each", () => {
    const conditions = [condition("disk-full"), condition("key-ends")];
    const first = run(EMPTY_BOOK, conditions.slice(0, 1), start + 1_000);
    const second = run(first.book, conditions, start + 50_000);
    expect(run(second.book, conditions, start + MINUTE).sent).toEqual([["a opened disk-full", "a opened key-ends"]]);
    expect([...first.sent, ...second.sent]).toEqual([["b opened disk-full"], ["b opened key-ends"]]);
  });

  test("a condition opens its alert only when it lasts, and a gap shorter than its limit does not close it", () => {
    const down = (since: number) => [condition("device-down", { since })];
    let { book } = run(EMPTY_BOOK, down(start), start + 9 * MINUTE);
    expect(book.open).toEqual([]);
    // The reason changed, and with it the start of the state. The cause lasts.
    ({ book } = run(book, down(start + 9 * MINUTE), start + 10 * MINUTE));
    expect(book.open).toMatchObject([{ since: start, openedAt: start + 10 * MINUTE }]);
    ({ book } = run(book, [], start + 11 * MINUTE));
    ({ book } = run(book, down(start + 12 * MINUTE), start + 12 * MINUTE));
    ({ book } = run(book, [], start + 13 * MINUTE));
    expect(book.open).toHaveLength(1);
    ({ book } = run(book, [], start + 15 * MINUTE));
    expect(book.open).toEqual([]);
  });

  test("a value between its limits keeps an alert open and opens none", () => {
    const between = condition("disk-full", { holds: true });
    expect(run(EMPTY_BOOK, [between], start).book.open).toEqual([]);
    const { book } = run(EMPTY_BOOK, [condition("disk-full")], start);
    expect(run(book, [between], start + MINUTE).book.open).toHaveLength(1);
  });

  test("a receiver that names a time for the repeat gets none before it, and waits for an hour at most", () => {
    const channels = [webhook];
    const next = (retryAfterMs: number) => {
      const opened = stepBook(EMPTY_BOOK, [condition("disk-full")], { channels, moment: new Moment(start) });
      const taken = claim(opened, { channels, quiet: null, timeZone: zone, now: start });
      const outcome = { ok: false, reason: "busy", isUncertain: false, why, retryAfterMs } as const;
      return settle(taken!.book, taken!.batch, outcome, start).messages.map(({ notBefore }) => notBefore - start);
    };
    expect([next(1_000), next(10 * MINUTE), next(1_000 * MINUTE)]).toEqual([
      [MINUTE / 2],
      [10 * MINUTE],
      [60 * MINUTE],
    ]);
  });

  test("a failed attempt is repeated later and later, shows on its channel, and is given up after a day", () => {
    let book = stepBook(EMPTY_BOOK, [condition("disk-full")], { channels: [webhook], moment: new Moment(start) });
    const times: number[] = [];
    for (let now = start; now < start + 30 * 60 * MINUTE; now += 15_000) {
      const taken = claim(book, { channels: [webhook], quiet: null, timeZone: zone, now });
      if (taken === null) continue;
      times.push((now - start) / MINUTE);
      book = settle(taken.book, taken.batch, { ok: false, reason: "down", isUncertain: false, why }, now);
    }
    expect(times.slice(0, 5)).toEqual([0, 0.5, 1.5, 3.5, 7.5]);
    expect(times.length).toBeLessThan(40);
    expect(book.messages).toEqual([]);
    expect(book.health["b"]?.fault?.reason).toBe("down");
    const healthy = settle(book, { channel: webhook, messages: [] }, { ok: true, said: "", why }, start);
    expect(healthy.health["b"]).toEqual({ sentAt: start, fault: null });
  });

  test("an attempt without an outcome is repeated after its time, and notes that it may be a repeat", () => {
    const book = stepBook(EMPTY_BOOK, [condition("disk-full")], { channels: [webhook], moment: new Moment(start) });
    const asked = { channels: [webhook], quiet: null, timeZone: zone };
    const first = claim(book, { ...asked, now: start });
    expect(first?.batch.messages).toMatchObject([{ isRepeat: false }]);
    const stored = JSON.parse(JSON.stringify(first?.book)) as AlertBook;
    expect(claim(stored, { ...asked, now: start + ATTEMPT_MS - 1 })).toBeNull();
    const second = claim(stored, { ...asked, now: start + ATTEMPT_MS });
    expect(second?.batch.messages).toMatchObject([{ isRepeat: true, id: first?.batch.messages[0]?.id }]);
  });
});

describe("quiet hours", () => {
  const quiet: QuietHours = { from: "22:00", until: "07:00", exemptCritical: true };
  const night = Date.parse("2026-11-23T23:00:00Z");
  const morning = Date.parse("2026-11-24T07:00:00Z");

  test("an alert that is still open is notified at their end, one that closed before never", () => {
    const both = run(EMPTY_BOOK, [condition("disk-full"), condition("key-ends")], night, { quiet });
    const one = run(both.book, [condition("disk-full")], night + MINUTE, { quiet });
    expect(run(one.book, [condition("disk-full")], morning - 1, { quiet }).sent).toEqual([]);
    const end = run(one.book, [condition("disk-full")], morning, { quiet });
    expect([both.sent, one.sent, end.sent]).toEqual([[], [], [["a opened disk-full"], ["b opened disk-full"]]]);
  });

  test("critical values are notified immediately if the clinic chose so", () => {
    const critical = [condition("critical-unseen")];
    expect(run(EMPTY_BOOK, critical, night, { quiet }).sent).toEqual([["b opened critical-unseen"]]);
    expect(run(EMPTY_BOOK, critical, night, { quiet: { ...quiet, exemptCritical: false } }).sent).toEqual([]);
  });

  test("the clinic's clocks decide, also on the days on which summer time starts and ends", () => {
    const berlin = (utc: string) => isQuiet(quiet, "disk-full", Date.parse(utc), "Europe/Berlin");
    // 29 March 2026: 02:00 becomes 03:00; 25 October 2026: 03:00 becomes 02:00.
    expect(["2026-03-28T20:59Z", "2026-03-28T21:00Z", "2026-03-29T04:59Z", "2026-03-29T05:00Z"].map(berlin)).toEqual([
      ...[false, true, true, false],
    ]);
    expect(["2026-10-24T19:59Z", "2026-10-24T20:00Z", "2026-10-25T05:59Z", "2026-10-25T06:00Z"].map(berlin)).toEqual([
      ...[false, true, true, false],
    ]);
    const skipped: QuietHours = { from: "22:00", until: "02:30", exemptCritical: false };
    const at = (utc: string) => isQuiet(skipped, "disk-full", Date.parse(utc), "Europe/Berlin");
    expect(["2026-03-29T00:59Z", "2026-03-29T01:00Z"].map(at)).toEqual([true, false]);
    expect(isQuiet({ ...quiet, from: "12:00", until: "13:00" }, "disk-full", start, "UTC")).toBe(true);
    expect(isQuiet({ ...quiet, from: "12:00", until: "12:00" }, "disk-full", start, "UTC")).toBe(false);
  });
});

// Method: facts, restarts, crashes during an attempt and failures come in any order. A model counts what receivers get.
describe("for any sequence of facts and restarts", () => {
  const keys = ["disk-full", "device-down", "critical-unseen", "outbox-old"] as const;
  const fact = fc.record({ holds: fc.boolean(), age: fc.nat(40) });
  const event = fc.record({
    minutes: fc.integer({ min: 0, max: 30 }),
    facts: fc.tuple(...keys.map(() => fc.option(fact, { nil: null, freq: 2 }))),
    attempt: fc.constantFrom("works", "works", "fails", "uncertain", "dies"),
    isQuiet: fc.boolean(),
  });

  test("each alert is notified once when it opens and once when it closes, and a repeat is marked", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        let [book, now, crashes] = [EMPTY_BOOK, start, 0];
        const got = new Map<string, { certain: number; repeats: number }>();
        const order: string[] = [];
        const begun = new Set<string>();
        for (const { minutes, facts, attempt, isQuiet: isNight } of events) {
          // The watch computes the facts at most once in a millisecond, which tells an alert from the next one of its key.
          now += minutes * MINUTE + 1;
          const conditions = facts.flatMap((of, index) =>
            of === null
              ? []
              : [
                  condition(keys[index]!, {
                    since: now - of.age * MINUTE,
                    ...(of.holds && { holds: true as const }),
                  }),
                ],
          );
          const quiet = isNight ? { from: "00:00", until: "23:59", exemptCritical: true } : null;
          const channels = [email, webhook];
          book = JSON.parse(
            JSON.stringify(stepBook(book, conditions, { channels, moment: new Moment(now) })),
          ) as AlertBook;
          expect(new Set(book.open.map(({ key }) => key)).size).toBe(book.open.length);
          // A restart computes the same facts again, and nothing happens.
          expect(stepBook(book, conditions, { channels, moment: new Moment(now) })).toEqual(book);
          const taken = claim(book, { channels, quiet, timeZone: zone, now });
          if (taken === null) continue;
          for (const { id } of taken.batch.messages) begun.add(id);
          const reaches = attempt !== "fails";
          for (const { id, event: news, alert, channel, isRepeat } of reaches ? taken.batch.messages : []) {
            const count = got.get(id) ?? { certain: 0, repeats: 0 };
            got.set(id, isRepeat ? { ...count, repeats: count.repeats + 1 } : { ...count, certain: count.certain + 1 });
            order.push(`${channel} ${alert.kind} ${alert.openedAt} ${news}`);
          }
          if (attempt === "dies" || attempt === "uncertain") crashes += 1;
          book = attempt === "dies" ? taken.book : settle(taken.book, taken.batch, outcomes[attempt], now);
        }
        // From now on nothing is wrong and every attempt works: all started messages arrive, and the book is empty.
        const channels = [email, webhook];
        for (const end = now + 3 * 60 * MINUTE; now < end; now += MINUTE) {
          book = stepBook(book, [], { channels, moment: new Moment(now) });
          const taken = claim(book, { channels, quiet: null, timeZone: zone, now });
          if (taken === null) continue;
          for (const { id } of taken.batch.messages) got.set(id, got.get(id) ?? { certain: 1, repeats: 0 });
          book = settle(taken.book, taken.batch, outcomes.works, now);
        }
        expect([book.open, book.messages]).toEqual([[], []]);
        expect(Array.from(begun).filter((id) => !got.has(id))).toEqual([]);
        for (const { certain, repeats } of got.values()) {
          expect(certain).toBeLessThanOrEqual(1);
          expect(repeats).toBeLessThanOrEqual(crashes);
        }
        for (const [index, line] of order.entries()) {
          const begin = line.replace("closed", "opened");
          expect(order.slice(0, index + 1)).toContain(begin);
        }
      }),
      { numRuns: 500 },
    );
  });

  const outcomes = {
    works: { ok: true, said: "", why },
    fails: { ok: false, reason: "down", isUncertain: false, why },
    uncertain: { ok: false, reason: "broken", isUncertain: true, why },
  } as const;
});
