import { expect, test } from "vitest";
import type { Operations } from "../../../../../agent/spool/queries/operations.ts";
import { addMessage, openOperations, settlement } from "../../../../support/spool-operations.ts";

const ids = (messages: readonly { id: string }[]) => messages.map(({ id }) => id);

function addImage(spool: Operations): void {
  const uids = { study: "1.2.3", sopClass: "1.2.840.10008.5.1.4.1.1.1", sopInstance: "1.2.3.1" };
  const file = { transferSyntax: "1.2.840.10008.1.2.1", sha256: "00", fileBytes: 1, headerBytes: 1 };
  const received = { message: "I1", device: "chem-1", callingAe: "DX1", receivedAt: 1, quietMs: 1 };
  spool.addInstance({ ...received, ...uids, ...file, head: new Uint8Array(0) });
}

test("the backlog of a device is read in the order of storage, without images and messages that were filed since", () => {
  const { spool } = openOperations();
  addMessage(spool, "M2", 0);
  addImage(spool);
  addMessage(spool, "M1", 1);
  const backlog = spool.backlog();
  expect(backlog).toEqual(new Map([["chem-1", [1, 2, 3]]]));
  const rows = backlog.get("chem-1")!;
  addMessage(spool, "M0", 2);
  expect(ids(spool.unprocessedMessages("chem-1", rows))).toEqual(["M2", "M1"]);
  expect(ids(spool.unprocessedMessages("chem-1", rows.slice(0, 2)))).toEqual(["M2"]);
  expect(spool.unprocessedMessages("chem-2", rows)).toEqual([]);
  spool.settle(settlement("M2", { state: "quarantined" }));
  expect(ids(spool.unprocessedMessages("chem-1", rows))).toEqual(["M1"]);
});

test("a complete message is compared with the latest 20 incomplete ones of its device", () => {
  const { spool } = openOperations();
  expect(spool.devicesWithIncompleteMessages()).toEqual([]);
  for (let ordinal = 0; ordinal < 22; ordinal++) addMessage(spool, `M${ordinal}`, ordinal, "the line was cut");
  const latest = Array.from({ length: 20 }, (_, index) => `M${21 - index}`);
  expect(ids(spool.incompleteMessages("chem-1", "whole", 100))).toEqual(latest);
  expect(spool.incompleteMessages("chem-2", "whole", 100)).toEqual([]);
  expect(spool.devicesWithIncompleteMessages()).toEqual(["chem-1"]);
});

test("an incomplete message is compared only with the message that completed it", () => {
  const { spool } = openOperations();
  addMessage(spool, "part", 0, "the line was cut");
  addMessage(spool, "whole", 1);
  spool.settle(settlement("whole", { completes: ["part"] }));
  expect(ids(spool.incompleteMessages("chem-1", "whole", 100))).toEqual(["part"]);
  expect(spool.incompleteMessages("chem-1", "other", 100)).toEqual([]);
});

test("a message stays joined with the one it completed, after any later cut", () => {
  const { spool } = openOperations();
  addMessage(spool, "part", 0, "the line was cut");
  addMessage(spool, "whole", 1);
  spool.settle(settlement("whole", { completes: ["part"] }));
  for (let ordinal = 2; ordinal < 24; ordinal++) addMessage(spool, `M${ordinal}`, ordinal, "the line was cut");
  expect(ids(spool.incompleteMessages("chem-1", "whole", 100)).at(-1)).toBe("part");
});

test("a message is compared with few more bytes of incomplete ones than it has", () => {
  const { spool } = openOperations();
  const addCut = (id: string, ordinal: number, mib: number) =>
    addMessage(spool, id, ordinal, "the line was cut", Buffer.alloc(mib * 1024 * 1024));
  addCut("small", 0, 0.5);
  addCut("same", 1, 4);
  addCut("large", 2, 5.5);
  const comparedBy = (mib: number) => ids(spool.incompleteMessages("chem-1", "whole", mib * 1024 * 1024));
  expect(comparedBy(0)).toEqual(["small"]);
  expect(comparedBy(4)).toEqual(["same", "small"]);
  expect(comparedBy(9)).toEqual(["large", "same", "small"]);
});
