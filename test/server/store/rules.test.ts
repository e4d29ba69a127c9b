import { describe, expect, test } from "vitest";
import * as calendar from "../../../server/domain/calendar-events.ts";
import * as soap from "../../../server/domain/soap.ts";
import { allocationOrder, type Batch, consume } from "../../../server/domain/inventory-stock.ts";
import { type EventStatus, eventStatuses } from "../../../shared/api/calendar.ts";
import type { SoapStatus } from "../../../shared/api/soap.ts";

// The rules of SOAP records, calendar events and stock, as tables.

describe("a SOAP record", () => {
  const statuses = ["DRAFT", "IN_PROGRESS", "SIGNED", "LOCKED"] as const;

  test("moves one step forward, skips none and never returns", () => {
    const allowed = statuses.flatMap((from) =>
      statuses.filter((to) => soap.whyNotMove(from, to) === null).map((to) => `${from} ${to}`),
    );
    expect(allowed).toEqual(["DRAFT IN_PROGRESS", "IN_PROGRESS SIGNED", "SIGNED LOCKED"]);
    expect(soap.whyNotMove("DRAFT", "SIGNED")).toBe("status is SIGNED, expected IN_PROGRESS after DRAFT");
    expect(soap.whyNotMove("LOCKED", "DRAFT")).toBe("status is DRAFT, expected no other status, LOCKED is final");
  });

  test("that is signed keeps its content; the move to LOCKED alone is none", () => {
    const table: [SoapStatus, SoapStatus, string[], boolean][] = [
      ["DRAFT", "DRAFT", ["plan"], true],
      ["DRAFT", "IN_PROGRESS", ["plan"], true],
      ["IN_PROGRESS", "SIGNED", ["plan", "signed_at"], true],
      ["SIGNED", "SIGNED", [], true],
      ["SIGNED", "SIGNED", ["plan"], false],
      ["SIGNED", "LOCKED", [], true],
      ["SIGNED", "LOCKED", ["plan"], false],
      ["LOCKED", "LOCKED", [], true],
      ["LOCKED", "LOCKED", ["plan"], false],
      ["LOCKED", "SIGNED", [], false],
      ["SIGNED", "IN_PROGRESS", ["signed_at"], false],
    ];
    for (const [from, to, differing, allowed] of table) {
      expect([from, to, differing, soap.whyNotChange(from, to, differing) === null]).toEqual([
        from,
        to,
        differing,
        allowed,
      ]);
    }
    expect(soap.whyNotChange("SIGNED", "SIGNED", ["plan", "objective"])).toBe(
      "the stored record is SIGNED and plan, objective would change, expected an amendment as a new record",
    );
  });

  test("has a time of signing from SIGNED on and none before", () => {
    for (const status of statuses) {
      const signed = status === "SIGNED" || status === "LOCKED";
      expect(soap.whyNotSignedAt({ status, signed_at: "2026-11-01T09:00:00.000Z" }) === null).toBe(signed);
      expect(soap.whyNotSignedAt({ status, signed_at: null }) === null).toBe(!signed);
    }
  });

  test("amends only a signed record of the same patient, and not itself", () => {
    const amendment = { fp: "a", patientId: 1 };
    for (const status of statuses) {
      const allowed = soap.whyNotAmend(amendment, { fp: "b", patientId: 1, status }) === null;
      expect([status, allowed]).toEqual([status, status === "SIGNED" || status === "LOCKED"]);
    }
    expect(soap.whyNotAmend(amendment, { fp: "b", patientId: 2, status: "SIGNED" })).toMatch("another patient");
    expect(soap.whyNotAmend(amendment, { fp: "a", patientId: 1, status: "SIGNED" })).toMatch("the record itself");
  });
});

describe("a calendar event", () => {
  test("moves one step forward, and is cancelled from every status but the two last", () => {
    const allowed = (from: EventStatus) => eventStatuses.filter((to) => calendar.whyNotMove(from, to) === null);
    expect(Object.fromEntries(eventStatuses.map((from) => [from, allowed(from)]))).toEqual({
      SCHEDULED: ["CHECKED_IN", "CANCELLED"],
      CHECKED_IN: ["IN_PROGRESS", "CANCELLED"],
      IN_PROGRESS: ["PENDING_CHECKOUT", "CANCELLED"],
      PENDING_CHECKOUT: ["CLOSED", "CANCELLED"],
      CLOSED: [],
      CANCELLED: [],
    });
    expect(calendar.whyNotMove("SCHEDULED", "CLOSED")).toBe(
      "status is CLOSED, expected CHECKED_IN or CANCELLED after SCHEDULED",
    );
  });

  test("is selected by a range of at most 90 days, today and 30 days when none is given", () => {
    const now = Date.parse("2026-11-21T12:34:56.789Z");
    const instant = (text: string | null) => (text === null ? null : Date.parse(text));
    const table: [string | null, string | null, string][] = [
      [null, null, "2026-11-21T00:00:00.000Z 2026-12-21T00:00:00.000Z"],
      ["2026-11-01", "2027-01-30", "2026-11-01T00:00:00.000Z 2027-01-30T00:00:00.000Z"],
      ["2026-11-01", "2027-01-30T00:00:00.001Z", "too long"],
      ["2026-11-01", "2026-11-01", "2026-11-01T00:00:00.000Z 2026-11-01T00:00:00.000Z"],
      ["2026-11-01T00:00:00.001Z", "2026-11-01", "reversed"],
      [null, "2026-11-22", "2026-11-21T00:00:00.000Z 2026-11-22T00:00:00.000Z"],
      [null, "2026-11-20", "reversed"],
      ["2026-12-20", null, "2026-12-20T00:00:00.000Z 2026-12-21T00:00:00.000Z"],
      ["2026-12-21", null, "2026-12-21T00:00:00.000Z 2027-01-20T00:00:00.000Z"],
      ["2030-01-01", null, "2030-01-01T00:00:00.000Z 2030-01-31T00:00:00.000Z"],
      ["2026-09-22", null, "2026-09-22T00:00:00.000Z 2026-12-21T00:00:00.000Z"],
      ["2026-09-21", null, "too long"],
    ];
    for (const [start, end, expected] of table) {
      const range = calendar.selectRange(instant(start), instant(end), now);
      const shown =
        typeof range === "string" ? range : [range.start, range.end].map((at) => new Date(at).toISOString()).join(" ");
      expect([start, end, shown]).toEqual([start, end, expected]);
    }
  });
});

describe("stock", () => {
  const batches: Batch[] = [
    { id: 1, quantity: 3, received_at: 10, expiry_date: null },
    { id: 2, quantity: 3, received_at: 20, expiry_date: "2027-06-30" },
    { id: 3, quantity: 3, received_at: 40, expiry_date: "2026-12-31" },
    { id: 4, quantity: 3, received_at: 30, expiry_date: "2027-06-30" },
    { id: 5, quantity: 0, received_at: 5, expiry_date: "2026-11-30" },
    { id: 6, quantity: 3, received_at: 4, expiry_date: "2027-06-30" },
  ];
  const item = (changes: object) => ({ category: "MEDICATION", is_virtual: false, quantity_on_hand: 15, ...changes });

  test("of medications and vaccines goes by the nearest expiry, the rest by age", () => {
    const order = (category: string) => {
      const ordered = allocationOrder(category, batches).map(({ id }) => id);
      expect(allocationOrder(category, batches.toReversed()).map(({ id }) => id)).toEqual(ordered);
      return ordered;
    };
    expect(order("MEDICATION")).toEqual([5, 3, 6, 2, 4, 1]);
    expect(order("VACCINE")).toEqual([5, 3, 6, 2, 4, 1]);
    expect(order("CONSUMABLE")).toEqual([6, 5, 1, 2, 4, 3]);
    expect(order("FOOD")).toEqual([6, 5, 1, 2, 4, 3]);
  });

  test("is taken from as many batches as it needs, and never below zero", () => {
    const took = (...taken: [number, number][]) => taken.map(([id, quantity]) => ({ id, quantity }));
    const table: [object, number, ReturnType<typeof consume>][] = [
      [{}, 2, { outcome: "consumed", taken: took([3, 2]), quantityOnHand: 13 }],
      [{}, 7, { outcome: "consumed", taken: took([3, 3], [6, 3], [2, 1]), quantityOnHand: 8 }],
      [{ category: "FOOD" }, 4, { outcome: "consumed", taken: took([6, 3], [1, 1]), quantityOnHand: 11 }],
      [{}, 15, { outcome: "consumed", taken: took([3, 3], [6, 3], [2, 3], [4, 3], [1, 3]), quantityOnHand: 0 }],
      [{}, 16, { outcome: "refused", reason: "quantity is 16, at most 15 on hand" }],
      [{}, 0, { outcome: "refused", reason: "quantity is 0, expected a whole number, at least 1" }],
      [{}, -1, { outcome: "refused", reason: "quantity is -1, expected a whole number, at least 1" }],
      [{}, 1.5, { outcome: "refused", reason: "quantity is 1.5, expected a whole number, at least 1" }],
      [{ quantity_on_hand: 2 }, 3, { outcome: "refused", reason: "quantity is 3, at most 2 on hand" }],
      // More on hand than the batches tell of: they come first.
      [
        { quantity_on_hand: 20 },
        17,
        { outcome: "consumed", taken: took([3, 3], [6, 3], [2, 3], [4, 3], [1, 3]), quantityOnHand: 3 },
      ],
    ];
    for (const [changes, quantity, expected] of table) {
      expect(consume(item(changes), batches, quantity)).toEqual(expected);
    }
  });

  test("of a virtual item is not touched, whatever is asked", () => {
    for (const quantity of [1, 1000, 0, -1]) {
      expect(consume(item({ is_virtual: true, quantity_on_hand: 0 }), [], quantity)).toEqual({ outcome: "nothing" });
    }
  });
});
