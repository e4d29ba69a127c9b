import { expect, test } from "vitest";
import { filingReasonText } from "../../../shared/clinical/filing-reasons.ts";

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
