import { expect, test } from "vitest";
import { readSpool, searchSpool } from "../../../../agent/spool/access.ts";
import { listMessages } from "../../../../agent/spool/queries/messages/message-summaries.ts";
import type { FilingDevice } from "../../../../agent/study/assess.ts";
import { explain } from "../../../../agent/tools/offline/explain.ts";
import { messageDetail } from "../../../../agent/tools/offline/message-detail.ts";
import { reassess, store } from "../../../../agent/tools/offline/reprocess.ts";
import { astmDevice } from "../../../support/clinic/profiles.ts";
import { settlement } from "../../../support/spool-operations.ts";
import { useSpool } from "../../../support/spool.ts";

// The controls of a clinic's past: messages that an agent of an older version kept as not for patients.

const used = useSpool();
const device: FilingDevice = { profile: astmDevice("abaxis-vetscan-vs2"), timeZone: "UTC", model: null };
const deviceById = () => device;

/** The message that an agent of the version before stored, without a record of its control. */
async function stored(id: string, ordinal: number): Promise<void> {
  const records = [
    "H|\\^&|||ABAXIS, INC.^VetScan VS2^3.1.35^TEST0001|||||||P|E 1394-97|20260101120000",
    "P|1",
    "O|1|||^^^* QUALITY CONTROL REPORT *: 9999A||20260101090000||||1||||||1|||||||||F",
    "R|1|^^^LEVEL 1: IQC 1|98||90 to 110|",
    "L|1|N",
  ];
  const message = {
    id,
    session: 1,
    ordinal,
    device: "chem-1",
    profile: "abaxis-vetscan-vs2",
    receivedAt: Date.UTC(2026, 0, 2) + ordinal,
  };
  const bytes = Buffer.from(`${records.join("\r")}\r`);
  await used.spool.call("addMessage", { ...message, bytes, incomplete: null });
  const reason = "order 1 is quality control: not for a patient";
  await used.spool.call("settle", settlement(id, { state: "not-for-patients", reason }));
}

const devices = { analyzers: new Map([["chem-1", device]]), imaging: new Map() };
const again = () => reassess(used.folder, { states: ["not-for-patients"], since: 0 }, devices, false, () => undefined);
const detail = (id: string) => searchSpool(used.folder, (db) => messageDetail(db, id, deviceById));
const told = async (id: string) => {
  const lines = await searchSpool(used.folder, (db) => explain(db, id, deviceById));
  return lines.map((line) => line.replace(/^\S+ {2}/, "").replaceAll(/control_\w+/g, "FP")).slice(3);
};

const CONTROL =
  "control of 2026-01-01T09:00:00.000Z, level 1, material QUALITY CONTROL REPORT, lot 9999A: LEVEL 1: IQC 1 98";

test("the messages of the past are reprocessed to their controls, each once, and stay not for patients", async () => {
  await stored("M1", 0);
  await stored("M2", 1);
  const done = await again();
  expect(done.map(({ message, diff }) => [message.id, diff])).toEqual([
    ["M1", [`+ ${CONTROL}`]],
    ["M2", [`+ ${CONTROL}`]],
  ]);
  expect(store(used.folder, done)).toEqual({ stored: 2, overtaken: 0 });
  expect(await used.spool.call("waitingQuality")).toMatchObject({ depth: 1 });
  expect(readSpool(used.folder, listMessages).map(({ state }) => state)).toEqual([
    "not-for-patients",
    "not-for-patients",
  ]);
  expect((await again()).flatMap(({ diff }) => diff)).toEqual([]);
});

test("a control and its resend show what is sent, and whether the server has it", async () => {
  await stored("M1", 0);
  expect((await detail("M1"))?.quality).toEqual([]);
  store(used.folder, await again());
  await stored("M2", 1);
  expect(await told("M2")).toEqual([
    `Report    ${CONTROL}`,
    `record    FP ${CONTROL}`,
    "push      FP waits for the server",
  ]);
  const { batch } = await used.spool.call("queuedQuality", 10, 1e6);
  const reason = { code: "QUALITY.AFTER_CLOCK", values: [] };
  await used.spool.call("settleQuality", [{ fp: batch[0]!.fp, outcome: "rejected", reason }], Date.now());
  for (const id of ["M1", "M2"]) {
    expect((await detail(id))?.quality).toEqual([{ record: batch[0], state: "rejected", reason }]);
    expect((await told(id)).slice(-1)).toEqual(["server    FP is rejected: QUALITY.AFTER_CLOCK"]);
  }
});
