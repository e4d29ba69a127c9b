import { expect, test } from "vitest";
import { ConfigSchema } from "../../../agent/config/values/schema.ts";
import * as lines from "../../../server/import/lines.ts";
import { Heartbeat, PushedStudy } from "../../../shared/api/study.ts";
import { formOf, UNKNOWN_FORM } from "../../../shared/schema/text-form.ts";
import { ClinicRange } from "../../../shared/clinical/clinic-ranges.ts";

/** Returns all patterns inside a schema, which is JSON. */
function patternsIn(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]: [string, unknown]) =>
    key === "pattern" && typeof value === "string" ? [value] : patternsIn(value),
  );
}

test("every pattern of a file or a body that a person writes has words, and no sentence holds a regular expression", () => {
  const patterns = patternsIn([ConfigSchema, Object.values(lines), PushedStudy, Heartbeat, ClinicRange]);
  expect(new Set(patterns).size).toBeGreaterThan(15);
  expect(patterns.filter((pattern) => formOf(pattern) === UNKNOWN_FORM)).toEqual([]);
  expect(patterns.map(formOf).filter((words) => /[\\^$*]|\[.*\]/.test(words))).toEqual([]);
});
