import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { filled } from "../../server/web/filled.ts";

describe("the words of the pages", () => {
  test("a word after a count follows it, and each gap is filled as often as it stands there", () => {
    const text = "{count} {count|patient|patients} of {clinic}, {count} in all, {other}";
    expect(filled(text, { count: 1, clinic: "A" })).toBe("1 patient of A, 1 in all, {other}");
    expect(filled(text, { count: 0, clinic: "A" })).toBe("0 patients of A, 0 in all, {other}");
    expect(filled(text, { count: "21", clinic: "A" })).toBe("21 patients of A, 21 in all, {other}");
  });

  test("an English plural after a count changes with it", () => {
    const files = globSync(["server/web/**/*.{ts,tsx}", "agent/page/web/**/*.{ts,tsx}"]);
    expect(files.length).toBeGreaterThan(200);
    const counted =
      /(?<!at least |=)\{(?:count|total|rows|done|bytes|days|times|hours|minutes|seconds|frames)\} (?:more )?[a-z]+s(?!\p{L}|[=>])/giu;
    const stiff = files
      .flatMap((file) => Array.from(readFileSync(file, "utf8").matchAll(counted), ([words]) => `${file}: ${words}`))
      .toSorted();
    // Their numbers are two or more: totals above the shown number, and values of a line or of forty animals.
    expect(stiff).toEqual([
      "server/web/screens/file-import/texts.ts: {total} lines",
      "server/web/screens/patients/patient.tsx: {total} studies",
      "server/web/screens/patients/trend/trend-curves.tsx: {count} values",
      "server/web/screens/settings/ranges/own/texts.ts: {count} values",
    ]);
  });
});
