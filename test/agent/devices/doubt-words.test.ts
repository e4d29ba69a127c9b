import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { CHEMISTRY_MARKS } from "../../../agent/devices/text/fuji-dri-chem-nx.ts";
import { isKnownDoubt } from "../../../shared/clinical/device-words/device-words.ts";
import { fixturesFolder } from "../../support/runner/fixtures.ts";

// A Turkish page is Turkish: every word of doubt that the shipped profiles and readers have is in both languages.

interface DoubtForms {
  readonly doubts?: {
    readonly flags?: Readonly<Record<string, string>>;
    readonly besideValue?: Readonly<Record<string, string>>;
    readonly when?: readonly { readonly words: string }[];
  };
  readonly statuses?: Readonly<Record<string, string | { readonly doubt?: string }>>;
}

const devices = join(import.meta.dirname, "../../../agent/devices");

function doubtsOf({ doubts = {}, statuses = {} }: DoubtForms): string[] {
  const { flags = {}, besideValue = {}, when = [] } = doubts;
  const ofStatuses = Object.values(statuses).flatMap((status) =>
    typeof status === "string" ? [] : (status.doubt ?? []),
  );
  return [...Object.values(flags), ...Object.values(besideValue), ...when.map(({ words }) => words), ...ofStatuses];
}

const files = globSync("*/*.yaml", { cwd: devices });
const shipped = files.flatMap((file) =>
  doubtsOf(parse(readFileSync(join(devices, file), "utf8"), { schema: "core" }) as DoubtForms).map(
    (words) => [file, words.replaceAll("{mark}", "X")] as const,
  ),
);

test("the profiles have doubts in words", () => {
  expect(new Set(shipped.map(([file]) => file)).size).toBeGreaterThan(6);
});

test.each(shipped)("%s: %s has its words in both languages", (_, words) => {
  expect(isKnownDoubt(words)).toBe(true);
});

test("the marks of the chemistry have their words in both languages", () => {
  const words = Object.values(CHEMISTRY_MARKS).flatMap((place) => Object.values(place));
  expect(words.filter((each) => !isKnownDoubt(each))).toEqual([]);
});

/** The recorded devices' own words, as they wrote them. */
const OF_DEVICES = new Set([
  "111 ? QC",
  "Flag NORM_RANGEH CALC_ERROR",
  "Notes second swab",
  "PLATELET AGGREGATES",
  "controls are invalid",
  "lipemic\nrepeat \\ C:\\temp",
  "repeated",
  "slightly hemolytic & lipemic",
  "Alarm_WBC LMNE- NL",
  "Alarm_WBC LMNE+",
  "377 Calibration Drift 2 out of range",
]);

test("every doubt of the recordings is the device's own text or has its words in both languages", () => {
  const comments = globSync("**/*.json", { cwd: fixturesFolder }).flatMap((file) =>
    [...readFileSync(join(fixturesFolder, file), "utf8").matchAll(/"comment": ("(?:[^"\\]|\\.)*")/g)].flatMap(
      ([, text = '""']) => (JSON.parse(text) as string).split("; "),
    ),
  );
  const unknown = new Set(comments.filter((each) => !isKnownDoubt(each) && !OF_DEVICES.has(each)));
  expect([...unknown].filter((each) => !each.startsWith("a long remark of the operator, "))).toEqual([]);
  expect(comments.length).toBeGreaterThan(30);
});
