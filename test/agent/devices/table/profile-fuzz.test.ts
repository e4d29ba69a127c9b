import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { printProfile } from "../../../../agent/devices/table/document.ts";
import { readProfileText, shippedForm, shippedProfiles } from "../../../../agent/devices/table/load.ts";
import type { TableProfile } from "../../../../agent/devices/table/read.ts";
import type { AnyProfileForm } from "../../../../agent/devices/table/file.ts";
import { read } from "../../../../agent/study/read.ts";
import { fixturesFolder, recordings } from "../../../support/runner/fixtures.ts";
import { soakCount } from "../../../support/runner/soak.ts";
import { context } from "../../records.ts";
import { patiently } from "../../../support/runner/patience.ts";

// A profile of a stranger: whatever its text, it is a profile or a list of problems, and a profile reads any message without an error.

const RUNS = soakCount(2000);
const forms = [...shippedProfiles().values()].map(({ form }) => form);

/** Bytes of messages, without their frames: HL7 messages, and the texts of the other protocols as they are. */
const messages = recordings
  .filter(({ name }) => /\.(hl7|astm)$/.test(name))
  .map(({ name, bytes }) => ({ name, bytes: bytes[0] === 0x0b ? bytes.subarray(1, -2) : bytes }));

const word = fc.constantFrom(
  ...[
    "OBX-3",
    "R-3.4",
    "PID-5.1",
    "name",
    "none",
    "empty",
    "(",
    "a(?=b)",
    ".*",
    "",
    "^(a+)+$",
    "x".repeat(600),
    "(a{900}){900}",
  ],
  ...["__proto__", "constructor", "{OBX-3}", "final", "*", "&a", "\n", "\ud800"],
);
const leaf = fc.oneof(word, fc.string({ maxLength: 20 }), fc.integer(), fc.boolean(), fc.constant(null), fc.double());
const anything = fc.oneof(
  leaf,
  fc.constant(undefined),
  fc.array(leaf, { maxLength: 3 }),
  fc.dictionary(fc.oneof(word, fc.string({ maxLength: 8 })), leaf, { maxKeys: 3 }),
);

/** Returns the paths of all values of a form. */
function pathsOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, inner]) => pathsOf(inner, [...path, key]))];
}

/** Returns the value with another one at a path. */
function changed(value: unknown, [step, ...rest]: readonly string[], by: unknown): unknown {
  if (step === undefined) return by;
  const inner = changed((value as Record<string, unknown>)[step], rest, by);
  if (Array.isArray(value)) return value.with(Number(step), inner);
  return { ...(value as object), [step]: inner };
}

/** Prints values as YAML; nothing for no value at all. */
function printed(value: unknown): string {
  return stringify(value) ?? "";
}

const anyForm = fc.constantFrom(...forms).chain((form) => {
  const change = fc.record({ path: fc.constantFrom(...pathsOf(form)), by: anything });
  return fc.array(change, { minLength: 1, maxLength: 2 }).map((changes) => ({
    form,
    text: printed(
      changes.reduce<unknown>((all, { path, by }) => {
        return pathsOf(all).some((each) => each.join("/") === path.join("/")) ? changed(all, path, by) : all;
      }, form),
    ),
  }));
});

/** Reads a text, which may be of no profile. @returns null for problems, each of which has its line */
function profileOf(text: string): { readonly form: AnyProfileForm; readonly profile: TableProfile } | null {
  const found = readProfileText(text, "x.yaml");
  if (!("problems" in found)) return found;
  expect(found.problems.length).toBeGreaterThan(0);
  for (const { message, line } of found.problems) expect(message).toMatch(new RegExp(`^x\\.yaml:${line} `));
  return null;
}

test("a text of any characters is a profile or problems with their lines", () => {
  const part = fc.constantFrom(
    ..."{}[]:-?&*!|>'\"#%@,\n \t".split(""),
    "schema: 1\n",
    "extends: generic-hl7@1\n",
    "- ",
    "a: ",
  );
  const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));
  const text = fc.array(fc.oneof(part, unit), { maxLength: 60 });
  let refused = 0;
  fc.assert(
    fc.property(text, (parts) => {
      if (profileOf(parts.join("")) === null) refused += 1;
    }),
    { numRuns: RUNS },
  );
  expect(refused).toBe(RUNS);
});

test("a shipped profile with any changes is a profile that reads any message, or problems", () => {
  let profiles = 0;
  const property = fc.property(anyForm, fc.infiniteStream(fc.constantFrom(...messages)), ({ text }, any) => {
    const found = profileOf(text);
    if (found === null) return;
    profiles += 1;
    expect(profileOf(printProfile(found.form))?.form).toEqual(found.form);
    for (const { bytes } of [...any.take(3)]) read(bytes, found.profile, context);
  });
  fc.assert(property, { numRuns: RUNS });
  // About one in eight is a profile: none in a hundred happens once in a million runs.
  expect(profiles).toBeGreaterThan(0);
});

test("a profile with a sender never reads a message of another sender, whatever else it says", () => {
  const outcomes = new Set<string>();
  const foreign = readFileSync(join(fixturesFolder, "mindray-bc/wrong-sender.hl7")).subarray(1, -2);
  const named = forms.filter((form) => form.protocol === "hl7" && form.recognize?.sender !== undefined);
  const property = fc.property(fc.constantFrom(...named), anything, fc.nat(), (form, by, place) => {
    const paths = pathsOf(form).filter(
      ([key]) => !["recognize", "protocol", "schema", "link", undefined].includes(key),
    );
    const found = profileOf(printed(changed(form, paths[place % paths.length]!, by)));
    if (found !== null) outcomes.add(read(foreign, found.profile, context).is);
  });
  fc.assert(property, { numRuns: RUNS });
  expect([...outcomes]).toEqual(["quarantined"]);
});

test("a profile whose patterns are too slow keeps the message back, and the next one is read", () => {
  const slow = "[ab]*a[ab]{900}[xz]$";
  const rows = Array.from({ length: 4 }, (_, index) => ({
    as: "no-result" as const,
    when: { "OBX-13": `${slow}|${index}x` },
  }));
  const form = { ...shippedForm("generic-hl7")!, profile: "own/slow", rows };
  const found = profileOf(printProfile(form))!;
  /** Letters without an order, which no table of states foresees. */
  const mixed = (seed: number) =>
    Array.from({ length: 4000 }, (_, at) => "ab"[(Math.imul(at + seed, 2_654_435_761) >>> 13) & 1]).join("");
  const rowOf = (index: number) => `OBX|${index}|NM|ALT||5|U/L|||||F||${mixed(index)}`;
  const message = [
    "MSH|^~\\&|A|B|||20261121120000||ORU^R01|1|P|2.3.1",
    "PID|1||4711",
    "OBR|1|7||P",
    ...[1, 2, 3, 4, 5].map(rowOf),
  ];
  const started = performance.now();
  expect(read(Buffer.from(message.join("\r")), found.profile, context)).toEqual({
    is: "quarantined",
    reason: "the profile is too slow: its patterns took more than 50 ms",
  });
  expect(performance.now() - started).toBeLessThan(patiently(5_000));
  const usual = [...message.slice(0, 3), "OBX|1|NM|ALT||5|U/L|||||F"];
  expect(read(Buffer.from(usual.join("\r")), found.profile, context).is).toBe("reports");
});

test("patterns that are too large together are refused before all are compiled", () => {
  const rows = Array.from({ length: 200 }, (_, index) => ({
    as: "no-result",
    when: { "OBX-5": `(a?){1000}${index}x` },
  }));
  const started = performance.now();
  const found = readProfileText(stringify({ ...shippedForm("generic-hl7"), rows }), "x");
  expect(found).toMatchObject({
    problems: [{ message: expect.stringMatching(/rows\[4\]\.when\.OBX-5 makes the patterns too large/) as string }],
  });
  expect(performance.now() - started).toBeLessThan(patiently(2_000));
});
