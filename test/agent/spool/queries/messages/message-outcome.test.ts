import { expect, test } from "vitest";
import { reasonIn } from "../../../../../agent/page/types/message-codes.ts";
import { readSpool } from "../../../../../agent/spool/access.ts";
import { listMessages } from "../../../../../agent/spool/queries/messages/message-summaries.ts";
import { addMessage, openOperations, serverOutcome, settlement } from "../../../../support/spool-operations.ts";
import { studyDraft } from "../../../../support/clinic/study.ts";

test("a message is pending until the server has filed its study", () => {
  const { folder, spool } = openOperations();
  addMessage(spool, "M1");
  const [fp] = spool.settle(settlement("M1", { studies: [studyDraft()] }));
  expect(readSpool(folder, listMessages)).toEqual([
    {
      id: "M1",
      device: "chem-1",
      received_at: new Date(1000).toISOString(),
      state: "pending",
      reason: null,
      study_fps: [fp],
    },
  ]);
  expect(spool.outbox()).toEqual({ depth: 1, oldestAt: 2000, reason: null, code: null });
  spool.settleStudies([serverOutcome(fp!, "filed")], 3000);
  expect(readSpool(folder, listMessages)[0]).toMatchObject({ state: "filed", study_fps: [fp] });
  expect(spool.outbox()).toEqual({ depth: 0, oldestAt: null, reason: null, code: null });
});

test.each([
  ["filed", "filed", null],
  ["unchanged", "filed", null],
  ["unmatched", "unmatched", "no connection"],
  ["conflict", "quarantined", "the server returned conflict: no connection"],
  ["rejected", "quarantined", "the server returned rejected: no connection"],
] as const)("the server's outcome %s makes the message %s", (outcome, state, reason) => {
  const { folder, spool } = openOperations();
  addMessage(spool, "M1");
  const [fp] = spool.settle(settlement("M1", { studies: [studyDraft()] }));
  spool.settleStudies([serverOutcome(fp!, outcome, reason === null ? null : "no connection")], 3000);
  expect(readSpool(folder, listMessages)[0]).toMatchObject({ state, reason });
});

test("a study without a patient stays unmatched when the server reports it as unchanged", () => {
  const { folder, spool } = openOperations();
  addMessage(spool, "M1");
  const unmatched = settlement("M1", { reason: "no patient has it", studies: [studyDraft({ patient_fp: null })] });
  const [fp] = spool.settle(unmatched);
  spool.settleStudies([{ ...serverOutcome(fp!, "unchanged"), matched: false }], 3000);
  expect(readSpool(folder, listMessages)[0]).toMatchObject({ state: "unmatched", reason: "no patient has it" });
});

test("a message of two studies takes the worse outcome once both are settled", () => {
  const { folder, spool } = openOperations();
  addMessage(spool, "M1");
  const fps = spool.settle(settlement("M1", { studies: [studyDraft(), studyDraft({ dedupe_key: "chem-1:def" })] }));
  spool.settleStudies([serverOutcome(fps[0]!, "filed")], 3000);
  expect(readSpool(folder, listMessages)[0]!.state).toBe("pending");
  spool.settleStudies([serverOutcome(fps[1]!, "unmatched", "nobody")], 3000);
  expect(readSpool(folder, listMessages)[0]!.state).toBe("unmatched");
});

test("an incomplete message takes the state of the message that completed it", () => {
  const { folder, spool } = openOperations();
  addMessage(spool, "M1", 0, "cut");
  addMessage(spool, "M2", 1);
  spool.settle(settlement("M1", { state: "quarantined", reason: "incomplete: cut" }));
  expect(readSpool(folder, listMessages)[0]).toMatchObject({ state: "quarantined", reason: "incomplete: cut" });
  const [fp] = spool.settle(settlement("M2", { studies: [studyDraft()], completes: ["M1"] }));
  spool.settleStudies([serverOutcome(fp!, "filed")], 3000);
  expect(readSpool(folder, listMessages)[0]).toMatchObject({
    state: "filed",
    reason: "incomplete, completed by M2",
    study_fps: [fp],
  });
});

test("a message that was set aside has a code and no stored words, and one of an older agent keeps its words", () => {
  const { folder, spool } = openOperations();
  addMessage(spool, "M1", 0);
  addMessage(spool, "M2", 1);
  spool.settle(settlement("M1", { state: "quarantined", reason: null, code: "MESSAGE.SET_ASIDE" }));
  spool.settle(settlement("M2", { state: "quarantined", reason: "set aside by an older agent" }));
  const stored = (id: string) =>
    readSpool(folder, (db) => db.prepare("SELECT reason, code FROM message WHERE id = ?").get(id));
  expect([stored("M1"), stored("M2")]).toEqual([
    { reason: null, code: "MESSAGE.SET_ASIDE" },
    { reason: "set aside by an older agent", code: null },
  ]);
  const words = "the agent ended each time it worked on this, so it was set aside";
  const [first, second] = readSpool(folder, listMessages);
  expect(first).toMatchObject({ reason: words, code: "MESSAGE.SET_ASIDE" });
  expect([second?.reason, second?.code]).toEqual(["set aside by an older agent", undefined]);
  expect(reasonIn("tr", { code: "MESSAGE.SET_ASIDE", reason: null })).toMatchObject({ lang: "tr" });
  expect(reasonIn("tr", { reason: "no patient" })).toEqual({ lang: "en", words: "no patient" });
});

test("a message has the code of its study that is refused or unmatched, and none once it is filed", () => {
  const { folder, spool } = openOperations();
  const codeOf = () => readSpool(folder, listMessages)[0]?.code;
  addMessage(spool, "M1");
  const [fp] = spool.settle(
    settlement("M1", {
      reason: 'no patient has the identifier "1"',
      code: "MATCH.UNKNOWN_IDENTIFIER",
      studies: [studyDraft()],
    }),
  );
  spool.settleStudies([{ ...serverOutcome(fp!, "unmatched"), code: "PATIENT.NONE" }], 3000);
  expect(codeOf()).toBe("MATCH.UNKNOWN_IDENTIFIER");
  spool.notePlacements([{ fp: fp!, place: "patient", updated_at: "2026-11-21T12:00:00.000Z" }]);
  expect(codeOf()).toBe(undefined);
  addMessage(spool, "M2", 1);
  const [other] = spool.settle(settlement("M2", { studies: [studyDraft({ dedupe_key: "chem-1:def" })] }));
  spool.settleStudies([{ ...serverOutcome(other!, "conflict"), code: "STUDY.OTHER_BODY" }], 4000);
  expect(readSpool(folder, listMessages)[1]).toMatchObject({ state: "quarantined", code: "STUDY.OTHER_BODY" });
});
