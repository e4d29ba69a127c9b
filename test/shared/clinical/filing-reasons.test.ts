import { expect, test } from "vitest";
import { translator } from "../../../shared/clinical/device-words/translator.ts";
import { filingReasonText, filingSentences } from "../../../shared/clinical/filing-reasons.ts";

test("a reason of the agent has words in both languages", () => {
  const reason = { code: "MATCH.UNKNOWN_SAMPLE", values: ["4711", "S-7"] };
  expect(filingReasonText(reason)).toBe('no patient has the sample number "4711" or "S-7"');
  expect(filingReasonText(reason, "tr")).toBe('örnek numarası "4711" veya "S-7" olan hasta yok');
});

test("a moved number names the animals that have it now, or none", () => {
  const moved = (now: string) => filingReasonText({ code: "MATCH.IDENTIFIER_MOVED", values: ["fp-a", now, "4711"] });
  expect(moved("fp-b fp-c")).toBe('the number "4711" names fp-b and fp-c now, the agent took it for fp-a');
  expect(moved("")).toBe('the number "4711" names no patient now, the agent took it for fp-a');
});

test("a refusal without Turkish words is in English, and a code of another version is shown as it is", () => {
  expect(filingReasonText({ code: "CLINIC.FULL", values: [] }, "tr")).toMatch(/^the clinic stores as many/);
  expect(filingReasonText({ code: "NEW.CODE", values: ["a"] }, "tr")).toBe("NEW.CODE a");
});

test.each([
  ["MATCH.UNKNOWN_SAMPLE", "4711"],
  ["MATCH.UNKNOWN_SAMPLE", "4711", "S-7", "a b"],
  ["MATCH.IDENTIFIER_MOVED", "fp-a", "fp-b", "4711"],
  ["MATCH.IDENTIFIER_MOVED", "fp-a", "", "4711", "S-7"],
  ["MATCH.IDENTIFIER_EARLIER", "fp-a", "fp-b", "4711", "S-7"],
  ["MATCH.DECEASED", "fp-a", "2026-11-01", "2026-11-20"],
  ["MATCH.NAME_MOVED", "fp-a", "2"],
  ["MATCH.NAME_MOVED", "fp-a", ""],
  ["MATCH.ORDER_MOVED", "fp-a", "ORD-1", ""],
  ["MATCH.SPECIES", "cat", "dog"],
  ["MATCH.OTHER_SPECIES", "cat", "dog"],
  ["PERSON.TOOK_BACK", "fp-a", "the wrong tube"],
])("the stored sentence of %s %s has the Turkish words of its code", (code, ...values) => {
  const reason = { code, values };
  const translate = translator(filingSentences);
  expect(translate(filingReasonText(reason), "tr")).toBe(filingReasonText(reason, "tr"));
});
