import { expect, test } from "vitest";
import { readSpool } from "../../../../../agent/spool/access.ts";
import { listMessages } from "../../../../../agent/spool/queries/messages/message-summaries.ts";
import { addMessage, openOperations, settlement } from "../../../../support/spool-operations.ts";
import { studyDraft } from "../../../../support/clinic/study.ts";

test("a message with a known session and ordinal is not stored again", () => {
  const { folder, spool } = openOperations();
  addMessage(spool, "M1");
  addMessage(spool, "M2");
  expect(readSpool(folder, listMessages).map(({ id }) => id)).toEqual(["M1"]);
});

test("a clock that is set back reorders neither queued studies nor incomplete messages", () => {
  const { spool } = openOperations();
  const ids = ["M1", "M2"];
  for (const [ordinal, id] of ids.entries()) {
    const times = { receivedAt: 2000 - ordinal, bytes: Buffer.from(id), incomplete: "cut" };
    spool.addMessage({ id, session: 1, ordinal, device: "chem-1", profile: "generic-astm", ...times });
    spool.settle(settlement(id, { at: 2000 - ordinal, studies: [studyDraft({ dedupe_key: id })] }));
  }
  const { batch } = spool.takeQueued(2, 1_000_000, 7000);
  expect(batch.map(({ body }) => (JSON.parse(body) as { dedupe_key: string }).dedupe_key)).toEqual(ids);
  expect(spool.incompleteMessages("chem-1", "M3", 100).map(({ id }) => id)).toEqual(ids.toReversed());
});
