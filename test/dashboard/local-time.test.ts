import { expect, test } from "vitest";
import { instantOf, localText } from "../../server/web/screens/manual-study/local-time.ts";

test("a time of the clinic's zone is read back as it was typed", () => {
  expect(instantOf("2026-11-21T12:30", "Europe/Istanbul")).toBe("2026-11-21T09:30:00.000Z");
  expect(localText(Date.parse("2026-11-21T09:30:59.000Z"), "Europe/Istanbul")).toBe("2026-11-21T12:30");
  expect(instantOf("2026-11-21T00:10", "Pacific/Auckland")).toBe("2026-11-20T11:10:00.000Z");
});

test("a time around a change of the clock is one that exists", () => {
  // Berlin skips 02:00-03:00 on 2026-03-29, and repeats 02:00-03:00 on 2026-10-25.
  expect(instantOf("2026-03-29T01:59", "Europe/Berlin")).toBe("2026-03-29T00:59:00.000Z");
  expect(instantOf("2026-03-29T03:00", "Europe/Berlin")).toBe("2026-03-29T01:00:00.000Z");
  expect(["2026-03-29T00:30:00.000Z", "2026-03-29T01:30:00.000Z"]).toContain(
    instantOf("2026-03-29T02:30", "Europe/Berlin"),
  );
  expect(["2026-10-25T00:30:00.000Z", "2026-10-25T01:30:00.000Z"]).toContain(
    instantOf("2026-10-25T02:30", "Europe/Berlin"),
  );
});

test("no time gives no instant", () => {
  expect([instantOf("", "Europe/Berlin"), instantOf("2026-13-01T00:00", undefined)]).toEqual(["", ""]);
});
