import { expect, test } from "vitest";
import { readSpool } from "../../../../../agent/spool/access.ts";
import { listMessages } from "../../../../../agent/spool/queries/messages/message-summaries.ts";
import { addMessage, openOperations, serverOutcome, settlement } from "../../../../support/spool-operations.ts";
import { studyDraft } from "../../../../support/study.ts";

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
  expect(spool.outbox()).toEqual({ depth: 1, oldestAt: 2000, reason: null });
  spool.settleStudies([serverOutcome(fp!, "filed")], 3000);
  expect(readSpool(folder, listMessages)[0]).toMatchObject({ state: "filed", study_fps: [fp] });
  expect(spool.outbox()).toEqual({ depth: 0, oldestAt: null, reason: null });
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
