import { expect, test } from "vitest";
import { readProfileText } from "../../../../agent/devices/table/load.ts";
import type { Hl7Profile } from "../../../../agent/protocols/hl7/profile.ts";
import { Segment, STANDARD_DELIMITERS } from "../../../../agent/protocols/hl7/message/segment.ts";
import { patiently } from "../../../support/runner/patience.ts";

/** Reads a profile whose file has these lines after the usual head. */
function read(lines: string, protocol = "hl7", link = "mllp") {
  const head = `schema: 1\nprofile: acme\nrevision: 1\nprotocol: ${protocol}\nlink: { kind: ${link} }\ndevice: {}\n`;
  const found = readProfileText(head + lines, `${protocol}/acme.yaml`);
  if ("problems" in found) throw new Error(found.problems.map(({ message }) => message).join("; "));
  return found.profile as Hl7Profile;
}

const obx = (text: string) => new Segment(text, STANDARD_DELIMITERS);

test.each([
  ["results: { name: [OBX-3] }", "hl7/acme.yaml:7 results.name is an unknown key, did you mean names?"],
  ["results: { names: [R-3.4] }", "results.names[0] is R-3.4, a place of ASTM, expected one such as OBX-3.1"],
  ["recognize: { sender: 'a(?=b)' }", "recognize.sender uses (?=, expected unless or notSender"],
  ["recognize: { sender: 'a(' }", "missing closing"],
  ["recognize: { sender: /a/g }", "recognize.sender has the flag g, expected i, m or s"],
  ["rows: [{ as: hidden, when: { OBX-3: a } }]", "hidden"],
  ["rows: [{ as: remark, when: { OBX-5: a } }]", "OBX-5, expected OBX-3"],
  ["controls: { order: { when: { OBR-3: a } } }", "OBR-3, expected OBR-4"],
])("%s is refused", (lines, problem) => {
  expect(() => read(lines)).toThrow(problem);
});

test("a link of another protocol, an unknown capability and a second name are refused", () => {
  expect(() => read("", "hl7", "lis01")).toThrow("link.kind is lis01");
  expect(() => read("", "astm", "mllp")).toThrow("link.kind is mllp");
  expect(() => read("capabilities: [x]", "astm", "lis01")).toThrow(
    "capabilities has x, expected drop-extra-field, shift-missing-unit",
  );
  expect(() => read("rows: [{ as: note, when: { R-3: a } }]", "astm", "lis01")).toThrow(
    "rows[0].as is note, expected remark in a profile of ASTM",
  );
  expect(() => read("flags: { A: H }", "astm", "lis01")).toThrow("flags is a key of HL7 and text");
  expect(() => read("profile: other")).toThrow("Map keys must be unique");
});

test("a pattern that takes exponential time in other engines is decided at once", () => {
  const { sender } = read("recognize: { sender: '^(a+)+$' }");
  const started = performance.now();
  expect(sender?.test(`${"a".repeat(5_000)}!`)).toBe(false);
  expect(performance.now() - started).toBeLessThan(patiently(2_000));
});

test("names: all of a list in order, or the first list with any; blanks and parts outside the pattern go", () => {
  const row = obx("OBX|1|NM| 7^ Urea ||5");
  expect(read("results: { names: [OBX-3.2, OBX-3.1] }").code?.(row)).toEqual(["Urea", "7"]);
  const lists = "results: { names: [[{ at: OBX-4, match: '\\D+' }], [OBX-3.2]] }";
  expect(read(lists).code?.(row)).toEqual(["Urea"]);
  expect(read(lists).code?.(obx("OBX|1|NM|7^Urea|CREA|5"))).toEqual(["CREA"]);
  expect(read("results: { names: [OBX-3.1, OBX-3.2], namesMatch: '[a-z]' }").code?.(row)).toEqual(["Urea"]);
});

test("a source: the first of a list with a text, with map, drop, replace and conditions", () => {
  const { patient } = read(
    "patient:\n" +
      "  name: [{ at: PID-5.1, drop: '^-$' }, PID-6.1]\n" +
      "  species: { at: PID-10, map: { K9: dog } }\n" +
      "  owner: { at: PID-7.1, replace: { '_': ' ' }, unless: { PID-7.1: '^\\d' } }\n",
  );
  const of = (pid: string) => patient?.({ PID: obx(pid), PV1: obx("PV1"), OBR: obx("OBR") });
  expect(of("PID|||||-|Boncuk|Ada_Kaya|||K9")).toEqual({ name: "Boncuk", species: "dog", owner: "Ada Kaya" });
  expect(of("PID|||||Max|x|5_5|||?")).toEqual({ name: "Max", species: "", owner: "" });
});

test("rows that are no results say why, with the text of a place", () => {
  const { withheld, results } = read(
    "rows:\n" +
      "  - { as: data, when: { OBX-5: '^[0-9A-F]{8}$' } }\n" +
      "  - { as: no-result, when: [{ OBX-13: '^E$', OBX-5: empty }, { OBX-13: '^F$' }], reason: 'check {OBX-13}' }\n",
  );
  expect(withheld?.(obx(`OBX|1|NM|A${"|".repeat(10)}E`))).toBe("check E");
  expect(withheld?.(obx(`OBX|1|NM|A||5${"|".repeat(8)}E`))).toBe("");
  expect(withheld?.(obx(`OBX|1|NM|A||5${"|".repeat(8)}F`))).toBe("check F");
  expect(results?.({} as never, obx("OBX|1|NM|A||0123ABCD"), { notes: [], rows: [] })).toEqual([]);
});

test("a capability that needs a column says so, and an unknown one of HL7 is named", () => {
  expect(() => read("capabilities: [method-in-brackets]")).toThrow("method-in-brackets needs results.names");
  expect(() => read("capabilities: [toString]")).toThrow("capabilities has toString, expected answers-in-value");
});

test("a note holds value and unit", () => {
  const { noteValue } = read("results: { note: { value: 'Value=(.+)$', unit: '^([^,]+),' } }");
  expect(noteValue?.("Index,Value=0.57")).toEqual({ value: "0.57", unit: "Index" });
  expect(noteValue?.("another note")).toBeNull();
});
