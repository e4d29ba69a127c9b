import { expect, test } from "vitest";
import { readProfileText } from "../../../../agent/devices/table/load.ts";

// The sentences of the checks: the first line after the head is line 7.

const LINKS = { astm: "lis01", hl7: "mllp", text: "one-way, end: ETX" };
const LAYOUT = "text: [{ lines: [{ pattern: '^(?<name>.)(?<value>.)$', as: result }], otherwise: 'no {text}' }]\n";

/** Returns the sentences about a profile with these lines, without the file's name. */
function problemsOf(lines: string, protocol: keyof typeof LINKS = "hl7", captures?: number): string[] {
  const head = `schema: 1\nprofile: own/acme\nrevision: 1\nprotocol: ${protocol}\nlink: { kind: ${LINKS[protocol]} }\ndevice: {}\n`;
  const read = readProfileText(head + lines, "x", captures);
  return "problems" in read ? read.problems.map(({ message }) => message) : [];
}

test("an unknown key is named with the nearest one, also in a list", () => {
  expect(problemsOf("results:\n  name: [OBX-3.1]\nrecognise: {}\nrows: [{ as: data, wen: {} }]")).toEqual([
    "x:8 results.name is an unknown key, did you mean names?",
    "x:9 recognise is an unknown key, did you mean recognize?",
    "x:10 rows[0].wen is an unknown key, did you mean when?",
  ]);
});

test("a place of the other protocol, of another record or without a field is named with one that is right", () => {
  expect(
    problemsOf(
      "patient: { name: R-3.4, owner: OBX-3 }\nrows: [{ as: no-result, when: { PID-5: a }, reason: 'as {R-3}' }]",
    ),
  ).toEqual([
    "x:7 patient.owner is OBX-3, expected one such as PID-5.2 or PV1-2 or OBR-3.1",
    "x:7 patient.name is R-3.4, a place of ASTM, expected one such as PID-5.2 or PV1-2 or OBR-3.1",
    "x:8 rows[0].when is PID-5, expected one such as OBX-3.1",
    "x:8 rows[0].reason is R-3, a place of ASTM, expected one such as OBX-3.1",
  ]);
  expect(problemsOf("patient: { species: PID-10.1 }\nresults: { names: [name] }", "astm")).toEqual([
    "x:7 patient.species is PID-10.1, a place of HL7, expected one such as P-6.1",
    "x:8 results.names[0] is name, expected one such as R-3.4",
  ]);
  expect(problemsOf("sample: { time: OBX-14, number: { at: OBR-3 } }")).toContain(
    "x:7 sample.number is no field, expected one such as OBR-22",
  );
});

test("a column that no pattern of the layout has is named with the nearest", () => {
  expect(problemsOf(`${LAYOUT}results: { value: valu }`, "text")).toEqual([
    "x:8 results.value is valu, no column of the text, did you mean value?",
  ]);
  expect(problemsOf(`${LAYOUT}sample: { number: PID-3 }`, "text")).toEqual([
    "x:8 sample.number is PID-3, no column of the text, expected one of name, value",
  ]);
  expect(problemsOf("", "text")).toEqual(["x:1 text is missing"]);
});

test("keys, links, rows and statuses of another protocol are refused", () => {
  expect(problemsOf("patient: { identifier: P-3 }\ncharset: cp850\nanalytes: { A: ALT }", "astm")).toContain(
    "x:7 patient.identifier is a key of HL7 and text",
  );
  expect(problemsOf("statuses: { W: { doubt: unsure }, P: final }")).toEqual([
    "x:7 statuses.W is no final status, expected final in a profile of HL7",
  ]);
  expect(problemsOf("orders: { species: { dog: D } }\ncontrols: { order: { when: { O-5: QC } } }", "astm")).toEqual([
    "x:7 orders.species is a map, expected a field's number",
    "x:8 controls.order is a condition, expected a pattern in a profile of ASTM",
  ]);
});

test("every pattern is tried, with the place of a wrong one", () => {
  expect(
    problemsOf(
      "recognize: { sender: 'a(?!b)' }\nrows:\n  - { as: data, when: [{ OBX-5: a, OBX-3: '(' }] }\n  - { as: data, when: { OBX-2: /a/x } }",
    ),
  ).toEqual([
    "x:7 recognize.sender uses (?!, expected unless or notSender",
    "x:9 rows[0].when[0].OBX-3 is no pattern: missing closing ): `(`",
    "x:10 rows[1].when.OBX-2 has the flag x, expected i, m or s",
  ]);
});

test("a row after one that takes all, or the same, is never reached", () => {
  const rows = (first: string) => `rows:\n  - { as: data${first} }\n  - { as: remark, when: { OBX-3: ^a$ } }\n`;
  const all = "x:9 rows[1] is never reached: rows[0] takes all";
  expect(problemsOf(rows(""))).toEqual([all]);
  expect(problemsOf(rows(", when: [{ OBX-5: ^1$ }, { OBX-3: '.*' }]"))).toEqual([all]);
  expect(problemsOf(rows(", when: { OBX-3: ^a$ }"))).toEqual(["x:9 rows[1] is never reached: rows[0] takes the same"]);
  expect(problemsOf(rows(", when: { OBX-5: empty }"))).toEqual([]);
  expect(problemsOf(rows(", unless: { OBX-3: ^a$ }"))).toEqual([]);
});

test("two facts of a patient are not read from one place, unless their conditions or parts are apart", () => {
  expect(problemsOf("patient:\n  name: [PID-5.2, PID-5.1]\n  species: PID-5.1")).toEqual([
    "x:9 patient.name and patient.species both read PID-5.1",
  ]);
  const apart =
    "patient: { name: { at: PID-5, when: { PID-5: '\\d' } }, owner: { at: PID-5, unless: { PID-5: '\\d' } } }";
  expect(problemsOf(apart)).toEqual([]);
  expect(
    problemsOf("patient: { name: { at: PID-5, match: '/(.*)$' }, owner: { at: PID-5, match: '^(.*)/' } }"),
  ).toEqual([]);
});

test("a mark has one meaning", () => {
  expect(problemsOf("flags: { H: H }\ndoubts:\n  flags: { A H: unsure, A: doubtful }")).toEqual([
    "x:9 doubts.flags: H is also in flags",
    "x:9 doubts.flags has A twice",
  ]);
});

test("an analyte and a unit that the catalogue lacks are named with the nearest", () => {
  expect(
    problemsOf(
      "analytes: { X: CREAT }\nresults: { unit: [OBX-6, { is: mmol/dL1 }, { at: OBX-6, map: { a: g/L, b: qqqqqq/z } }] }",
    ),
  ).toEqual([
    "x:7 analytes.X is CREAT, no analyte of the catalogue, did you mean CREA or CK or CKMB?",
    "x:8 mmol/dL1 is no unit of the catalogue, did you mean mmol/L?",
    "x:8 qqqqqq/z is no unit of the catalogue, expected one such as mmol/L or 10*9/L",
  ]);
});

test.each(["''", ".*", "^", "ACME|"])("the sender %s takes any sender", (pattern) => {
  const [said] = problemsOf(`recognize: { sender: ${pattern} }`);
  expect(said).toMatch(pattern === "''" ? "x:7 recognize.sender is" : "x:7 recognize.sender takes any sender");
});

test("a capability has a name, and needs what it works on", () => {
  expect(problemsOf("capabilities: [x]")[0]).toMatch("x:7 capabilities has x, expected answers-in-value");
  expect(problemsOf("capabilities: [method-in-brackets]")).toEqual(["x:7 method-in-brackets needs results.names"]);
});

test("a proof by a capture needs one beside the profile", () => {
  const evidence = "evidence: { state: capture, read: 25 of 25, unverified: [controls] }";
  expect(problemsOf(evidence, "hl7", 0)).toEqual(["x:7 evidence.state is capture, but no capture is there"]);
  expect(problemsOf(evidence, "hl7", 1)).toEqual([]);
  expect(problemsOf(evidence)).toEqual([]);
  expect(problemsOf("evidence: { state: document }", "hl7", 0)).toEqual([]);
});
