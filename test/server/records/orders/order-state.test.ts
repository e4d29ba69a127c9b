import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  awaitsResults,
  notRunMs,
  type OrderedRun,
  type OrderFacts,
  orderState,
  type Run,
} from "../../../../server/records/orders/order-state.ts";
import { missingTests, unknownTests } from "../../../../server/records/orders/order-tests.ts";

const T = Date.parse("2026-11-21T09:00:00.000Z");
const MINUTE = 60_000;
const NOT_RUN_MS = notRunMs(2);

const order = (changes: Partial<OrderFacts> = {}): OrderFacts => {
  return { orderedAt: T, offeredAt: null, cancelledAt: null, tests: ["ALT", "CREA"], ...changes };
};
const run = (...analytes: string[]): Run => ({ analytes: new Set(analytes), at: T + 10 * MINUTE });
const offered = order({ offeredAt: T + MINUTE });
const cancelled = order({ cancelledAt: T + MINUTE });

describe("the state of an order", () => {
  test.each([
    ["is ordered until a device gets it", { order: order(), run: null }, 0, "ordered"],
    ["is offered once a device got it", { order: offered, run: null }, 0, "offered"],
    ["is in progress with a part of its results", { order: offered, run: run("ALT") }, 11 * MINUTE, "in progress"],
    [
      "is resulted with all of its results",
      { order: offered, run: run("ALT", "CREA", "BUN") },
      11 * MINUTE,
      "resulted",
    ],
    ["is resulted hours after a part came", { order: offered, run: run("ALT") }, NOT_RUN_MS + 10 * MINUTE, "resulted"],
    [
      "is resulted by words of a device that the catalogue lacks",
      { order: order({ tests: ["CBC+DIFF"] }), run: run("WBC") },
      0,
      "resulted",
    ],
    ["is cancelled without results", { order: cancelled, run: null }, 0, "cancelled"],
    ["is cancelled also hours later", { order: cancelled, run: null }, NOT_RUN_MS, "cancelled"],
    [
      "keeps the results of a sample that was run before its cancellation",
      { order: cancelled, run: run("ALT") },
      11 * MINUTE,
      "resulted",
    ],
    ["is not run after hours without results", { order: order(), run: null }, NOT_RUN_MS, "not run"],
    ["is not run after hours at a device", { order: offered, run: null }, NOT_RUN_MS, "not run"],
    ["is ordered a moment before those hours end", { order: order(), run: null }, NOT_RUN_MS - 1, "ordered"],
    ["is that of results without an order", { order: null, run: run("ALT") }, 0, "without order"],
  ] satisfies [string, OrderedRun, number, string][])("%s", (_title, facts, later, expected) => {
    expect(orderState(facts, T + later, NOT_RUN_MS)).toBe(expected);
  });

  test("counts as not run after the hours that the clinic chose", () => {
    const waiting = { order: order(), run: null };
    expect(orderState(waiting, T + notRunMs(4) - 1, notRunMs(4))).toBe("ordered");
    expect(orderState(waiting, T + notRunMs(4), notRunMs(4))).toBe("not run");
  });

  const time = fc.integer({ min: T, max: T + 2 * NOT_RUN_MS });
  const codes = fc.uniqueArray(fc.constantFrom("ALT", "CREA", "BUN", "GLU"), { minLength: 1 });
  const facts = fc.record({
    order: fc.record({
      orderedAt: time,
      offeredAt: fc.option(time),
      cancelledAt: fc.option(time),
      tests: codes,
    }),
    run: fc.option(fc.record({ analytes: codes.map((each) => new Set(each)), at: time })),
  });

  test("results are never hidden by another state, and time alone makes no results", () => {
    fc.assert(
      fc.property(facts, time, (given, now) => {
        const state = orderState(given, now, NOT_RUN_MS);
        expect(["in progress", "resulted"].includes(state)).toBe(given.run !== null);
        const isFinal = ["cancelled", "resulted"].includes(state);
        expect(given.order.cancelledAt === null || isFinal).toBe(true);
      }),
    );
  });

  test("no device gets an order that is cancelled or has all its results, and it stays so", () => {
    fc.assert(
      fc.property(facts, time, (given, now) => {
        const state = orderState(given, now, NOT_RUN_MS);
        const isOpen = awaitsResults(given);
        // After hours a part counts as all results, but a device that still has the sample may get the order.
        expect(state === "resulted" || isOpen === (state !== "cancelled")).toBe(true);
        const more = given.run ?? { analytes: new Set<string>(), at: now };
        const later = { ...given, run: { ...more, analytes: new Set([...more.analytes, ...given.order.tests]) } };
        expect(awaitsResults(later)).toBe(false);
      }),
    );
  });
});

describe("the tests of an order", () => {
  test("a test is missing until one of the codes of its name has a result, by code, name, synonym or LOINC", () => {
    expect(missingTests(["ALT", "1742-6", "sgpt", "CBC+DIFF"], new Set())).toEqual(["ALT", "1742-6", "sgpt"]);
    expect(missingTests(["ALT", "1742-6", "sgpt", "CBC+DIFF"], new Set(["ALT"]))).toEqual([]);
  });

  test("a word that the catalogue lacks is unknown, with near names", () => {
    expect(unknownTests(["alt", "CREAA", "CBC+DIFF"])).toEqual([
      { test: "CREAA", near: expect.arrayContaining(["CREA"]) as string[] },
      { test: "CBC+DIFF", near: expect.any(Array) as string[] },
    ]);
  });
});
