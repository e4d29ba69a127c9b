import { expect, test } from "vitest";
import { rowChanges } from "../../server/records/filing/revision-changes.ts";
import { AS_SENT } from "../../shared/clinical/units/unit-choice.ts";
import { outsideOf } from "../../server/records/results/study-rows.ts";
import { folded, isNameLike, severityOf } from "../../server/records/studies/study-search.ts";
import { arrivedSince, withMore, withNewFirstPage } from "../../server/web/screens/results/shown-list.ts";
import { filtersOf, queryText } from "../../server/web/screens/results/query.ts";
import { place } from "../../server/dashboard/types/results/range-place.ts";
import type { Result } from "../../shared/api/study.ts";
import type { ListedStudy, ResultsPage } from "../../server/dashboard/types/results/results.ts";

// The pure parts of the results' screens.

function listed(fp: string, received_at = "2026-11-20T10:00:00.000Z", revision = 1): ListedStudy {
  return {
    ...{ fp, received_at, revision, acquired_at: received_at, modality: "BIOCHEMISTRY", device_name: "d" },
    ...{ patient: null, hint_name: null, sample_ids: [], results: 0, outside: [], outside_total: 0 },
  };
}

function page(fps: string, next: string | null): ResultsPage {
  return { items: fps.split("").map((fp) => listed(fp)), next, is_search_cut: false, patient: null, left_out: 0 };
}

const fpsOf = ({ items }: { items: readonly ListedStudy[] }) => items.map(({ fp }) => fp).join("");

test("a newer first page is put above the rows that follow it", () => {
  const shown = withMore(page("abc", "c"), page("def", null));
  expect(fpsOf(shown)).toBe("abcdef");
  const newer = withNewFirstPage(shown, page("xab", "b"));
  expect([fpsOf(newer), newer.next]).toEqual(["xabcdef", null]);
});

test("the list starts again if rows may lie between the new first page and the shown ones", () => {
  const shown = withMore(page("abc", "c"), page("def", null));
  const newer = withNewFirstPage(shown, page("xyz", "z"));
  expect([fpsOf(newer), newer.next]).toEqual(["xyz", "z"]);
});

test("a row that left the list leaves the shown ones too", () => {
  expect(fpsOf(withNewFirstPage(page("abc", null), page("ac", null)))).toBe("ac");
});

test("a page after a change repeats no row", () => {
  expect(fpsOf(withMore(page("abc", "c"), page("cd", null)))).toBe("abcd");
});

test("a new study and a corrected one arrive, a study that moved up does not", () => {
  const before = [listed("a"), listed("b")];
  const later = "2026-11-20T10:05:00.000Z";
  const now = [listed("n", later), listed("b", later, 2), listed("a"), listed("old", "2026-11-01T10:00:00.000Z")];
  expect(arrivedSince(before, now)).toEqual(["n", "b"]);
});

test("the address keeps the filters and nothing else", () => {
  expect(filtersOf({ q: "Ka ra", flag: "critical", device: "", other: "1" })).toEqual({ q: "Ka ra", flag: "critical" });
  expect(queryText({ q: "Ka&ra", flag: "" })).toBe("?q=Ka%26ra");
  expect(queryText({})).toBe("");
});

test.each([
  ["in the middle", 15, 10, 20, 50, null],
  ["on the low bound", 10, 10, 20, 25, null],
  ["far above", 900, 10, 20, 98, "high"],
  ["far below", -90, 10, 20, 2, "low"],
  ["under an only high bound", 0, null, 20, 2, "low"],
  ["on an only low bound", 10, 10, null, 25, null],
])("a value %s has its place on the bar", (_, value, low, high, at, end) => {
  expect(place(value, low, high)).toMatchObject({ at, end });
});

test("a search compares names without letter case, accents and the two Turkish i", () => {
  const writings = ["Iğdır", "IĞDIR", "iğdir", "ıgdır"].map(folded);
  expect(new Set(writings)).toEqual(new Set(["igdir"]));
  const names = ["Bay Minnoş", "Minnoş", "Kocaminnoş"];
  expect(names.filter((name) => isNameLike(name, folded("MİNN")))).toEqual(["Bay Minnoş", "Minnoş"]);
});

test("the worst flag of a study decides", () => {
  const of = (...flags: Result["flag"][]) => severityOf(flags.map((flag) => ({ flag })));
  expect([of(), of(null, "normal"), of("normal", "low"), of("high", "critical")]).toEqual([0, 0, 1, 2]);
  expect(severityOf([{ flag: null, abnormal: true }, { flag: "normal" }])).toBe(1);
});

test("values outside their intervals come critical ones first, and a critical one gets the side of its range", () => {
  const row = (analyte: string, value: number, flag: Result["flag"]): Result => ({
    ...{ analyte, value, unit: "mmol/L", reference_range: "3.3-6.1", flag },
  });
  const rows = [row("A", 1, "low"), row("B", 20, "critical"), row("C", 5, "normal"), row("D", 0.5, "critical")];
  const { outside, outside_total } = outsideOf(
    rows.map((result) => ({ modality: "BIOCHEMISTRY", result })),
    AS_SENT,
  );
  expect(outside.map(({ analyte, side }) => [analyte, side])).toEqual([
    ["B", "high"],
    ["D", "low"],
    ["A", "low"],
  ]);
  expect(outside_total).toBe(3);
});

test("an abnormal word is listed after a critical value, without a flag and a side", () => {
  const none = { unit: null, reference_range: null, flag: null };
  const rows: Result[] = [
    { ...none, analyte: "CPV", value: null, value_text: "Positive", abnormal: true },
    { ...none, analyte: "FIV", value: null, value_text: "Negative" },
    { analyte: "K", value: 9, unit: "mmol/L", reference_range: "3.5-5.8", flag: "critical" },
  ];
  const { outside, outside_total } = outsideOf(
    rows.map((result) => ({ modality: "BIOCHEMISTRY", result })),
    AS_SENT,
  );
  expect(outside_total).toBe(2);
  expect(outside[1]).toEqual({ analyte: "CPV", text: "Positive", flag: null, side: null });
});

test("a difference pairs the second row of an analyte with the second one before", () => {
  const row = (value: number): Result => ({
    ...{ analyte: "GLU", value, unit: "mmol/L", reference_range: null, flag: null },
  });
  const shown = (text: string) => ({ text, flag: null, comment: null });
  expect(rowChanges([row(1), row(2)], [row(1), row(3), row(4)])).toEqual([
    { analyte: "GLU", before: shown("2 mmol/L"), after: shown("3 mmol/L") },
    { analyte: "GLU", before: null, after: shown("4 mmol/L") },
  ]);
  expect(rowChanges([row(1)], [{ ...row(1), comment: "hemolysed" }])).toEqual([
    { analyte: "GLU", before: shown("1 mmol/L"), after: { ...shown("1 mmol/L"), comment: "hemolysed" } },
  ]);
});
