import { expect, test } from "vitest";
import { practiceSystem } from "../../../agent/devices/practice-system.ts";
import { duplicateKey } from "../../../agent/protocols/hl7/message/duplicate-key.ts";
import { messageReason, reasonIn } from "../../../agent/page/types/message-codes.ts";
import { assessRegistry, practiceOf } from "../../../agent/study/assess-registry.ts";
import { read } from "../../../agent/study/read.ts";
import { mergeRefusals, renameRefusals } from "../../../server/records/registry/sync/merge.ts";
import { golden, msh, receivedAt, wire } from "../protocols/hl7/registry/messages.ts";

// The outcome of a message of practice software at the agent.

function outcomeOf(...segments: readonly string[]) {
  const practice = practiceOf(practiceSystem);
  if (practice === null) throw new Error("expected practice software");
  return assessRegistry({ device: "pims", receivedAt }, wire(...segments), practice, "Europe/Istanbul");
}

test("a message waits for the server with its changes, in their order", () => {
  const { changes, ...outcome } = outcomeOf(...golden.order);
  expect(outcome).toEqual({ state: "pending", reason: null, code: null });
  expect(changes.map(({ source, kind }) => [source, kind])).toEqual([
    ["PIMS", "patient"],
    ["PIMS", "order"],
  ]);
  expect(JSON.parse(changes[1]?.body ?? "")).toEqual({
    item: { external_id: "10231", patient: "00417", ordered_at: "2026-11-21T06:50:00.000Z", tests: ["CHEM10"] },
  });
});

test("a message without a sender is of its device", () => {
  const [header, ...rest] = golden.merge;
  expect(outcomeOf(header.replace("PIMS", ""), ...rest).changes).toMatchObject([{ source: "pims", kind: "merge" }]);
});

test.each([
  ["REGISTRY.MISSING", [msh("ADT^A08"), "PID|1"]],
  ["REGISTRY.WRONG_FORM", [msh("ADT^A08"), "PID|1||1||||20219999"]],
  ["REGISTRY.UNKNOWN_VALUE", [msh("ORM^O01"), "PID|1||1", "ORC|XO|1", "OBR|1|1||ALT"]],
  ["REGISTRY.NOT_TAKEN", [msh("ORU^R01"), "PID|1||1", "OBX|1|NM|ALT||1"]],
  ["REGISTRY.UNKNOWN_KEY", [msh("ADT^A40"), "PID|1||1^^^A", "MRG|2^^^B"]],
  ["REGISTRY.SAME_KEY", [msh("ADT^A40"), "PID|1||1", "MRG|1"]],
  ["REGISTRY.SAME_KEY", [msh("ORM^O01"), "PID|1||1", "ORC|CA|10", "ORC|NW|10", "OBR|1|10||ALT"]],
  ["REGISTRY.UNREADABLE", ["PID|1||1"]],
  ["REGISTRY.UNREADABLE", [...golden.admission, `NTE|1||${"x".repeat(256 * 1024)}`]],
])("a refused message is quarantined with %s and what is expected", (code, segments) => {
  const outcome = outcomeOf(...segments);
  expect(outcome).toMatchObject({ state: "quarantined", code, changes: [] });
  expect(outcome.reason).toMatch(/expected|not taken|more than/);
});

test("a message about a visit has no effect, in the words of both languages", () => {
  const outcome = outcomeOf(msh("ADT^A03"), "PID|1||1");
  expect(outcome).toEqual({ state: "not-for-patients", reason: null, code: "REGISTRY.NO_EFFECT", changes: [] });
  expect([messageReason(outcome), reasonIn("tr", outcome)?.lang]).toEqual([expect.stringContaining("visit"), "tr"]);
});

test.each(Object.entries({ ...mergeRefusals, ...renameRefusals }))(
  "the server's refusal %s has words of HL7 in both languages",
  (code, reason) => {
    const why = { code: `REGISTRY.${code.toUpperCase()}`, reason };
    const [english, turkish] = [reasonIn("en", why), reasonIn("tr", why)];
    expect([english?.lang, turkish?.lang]).toEqual(["en", "tr"]);
    for (const { words } of [english!, turkish!]) {
      expect(words).toMatch(/PID-3|MRG-1/);
      expect(words).not.toMatch(/survivor|external/);
    }
  },
);

test("no message of practice software is read as a result, and replay shows its changes", () => {
  const context = { device: "pims", timeZone: "UTC", receivedAt };
  const readingOf = (...segments: readonly string[]) => read(wire(...segments), practiceSystem, context);
  const result = ["PID|1||1", "OBR|1|1||ALT", "OBX|1|NM|1742-6^ALT^LN||95|U/L|||||F"];
  expect(readingOf(msh("ORU^R01"), ...result)).toMatchObject({ is: "quarantined" });
  expect(readingOf(msh("ADT^A08"), ...result)).toMatchObject({ is: "not-for-patients" });
  const reason = '{"kind":"merge","survivor":"00417","merged":"00988"}';
  expect(readingOf(...golden.merge)).toEqual({ is: "not-for-patients", reason });
});

test("the same bytes are a resend, if they have an id and a time to the second", () => {
  const keyOf = (bytes: Uint8Array) => duplicateKey({ bytes, incomplete: null }, practiceSystem);
  const [header, ...rest] = golden.admission;
  const key = keyOf(wire(header, ...rest));
  expect(key).toMatch(/^A0001 [0-9a-f]{64}$/);
  expect(keyOf(wire(header, ...rest))).toBe(key);
  expect(keyOf(wire(header.replace("094500", "094501"), ...rest))).not.toBe(key);
  expect(keyOf(wire(header.replace("A0001", ""), ...rest))).toBeNull();
  expect(keyOf(wire(header.replace("20261121094500+0300", "20261121"), ...rest))).toBeNull();
});
