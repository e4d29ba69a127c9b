import { expect, test } from "vitest";
import { backlog } from "../../../../agent/doctor/connections/backlog.ts";
import type { Facts } from "../../../../agent/doctor/check/check.ts";
import { controlRun } from "../../../support/clinic/quality-records.ts";
import { openOperations, settlement } from "../../../support/spool-operations.ts";

// What waits at the agent, as the doctor reports it.

const HOUR_MS = 3_600_000;

/** Reports a spool with changes of practice software that came so many hours ago. */
async function findings(hours: number, count: number) {
  const { folder, spool } = openOperations();
  const received = { device: "pims", profile: "practice-system", receivedAt: Date.now() - hours * HOUR_MS - 1000 };
  spool.addMessage({ id: "M1", session: 1, ordinal: 0, ...received, bytes: Buffer.from("MSH"), incomplete: null });
  const change = { source: "PIMS", kind: "patient", body: "{}" };
  spool.settle({ ...settlement("M1"), changes: Array.from({ length: count }, () => change) });
  const facts = { config: { data: folder } } as unknown as Facts;
  return (await backlog.run(facts)).map(({ id, status, sentence }) => [id, status, sentence]);
}

test("changes of practice software that wait for the server for an hour are reported, and a day is a problem", async () => {
  expect(await findings(0, 1)).toEqual([["backlog.none", "ok", "nothing waits"]]);
  expect(await findings(3, 1)).toEqual([
    ["backlog.changes", "warning", "1 change waits for the server, the oldest for 3 hours"],
  ]);
  expect(await findings(72, 2)).toEqual([
    ["backlog.changes", "problem", "2 changes wait for the server, the oldest for 3 days"],
  ]);
});

test("controls that a server does not take are reported after a day, and are not a fault", async () => {
  const { folder, spool } = openOperations();
  const facts = { config: { data: folder } } as unknown as Facts;
  const findingsAt = async (hours: number, number: number) => {
    const at = Date.now() - hours * HOUR_MS - 1000;
    spool.settle(settlement(`M${number}`, { state: "not-for-patients", controls: [controlRun(number)], at }));
    return (await backlog.run(facts)).map(({ id, status, sentence }) => [id, status, sentence]);
  };
  expect(await findingsAt(3, 1)).toEqual([["backlog.none", "ok", "nothing waits"]]);
  const [[id, status, sentence] = []] = await findingsAt(24, 2);
  expect([id, status]).toEqual(["backlog.quality", "ok"]);
  expect(sentence).toBe("2 records of controls and devices not sent yet: the server may be of an older version");
});

test("the file for the support has neither the words of a receiver nor the id of a destination", async () => {
  const { folder, spool } = openOperations();
  spool.configureResultDestinations(["dr-kaya"]);
  const outcome = { outcome: "failed", code: "AE", text: 'no animal "Pamuk" of "Yılmaz" here' } as const;
  spool.settleDelivery("dr-kaya", { delivery: 1, attempt: 1, sha256: "", at: 0, ...outcome });
  const state = {
    kind: "hl7",
    to: "127.0.0.1:1",
    is: "failed",
    code: "AE",
    text: null,
    waiting: 1,
    parked: 1,
  } as const;
  spool.setDestinationState("dr-kaya", state);
  const found = await backlog.run({ config: { data: folder } } as unknown as Facts);
  expect(found.map(({ sentence, forSupport }) => [sentence, forSupport])).toEqual([
    [
      'dr-kaya did not take the last result: the receiver cannot store it now (AE), "no animal "Pamuk" of "Yılmaz" here"',
      '"dr-kaya" did not take the last result: the receiver cannot store it now (AE)',
    ],
    ["dr-kaya refused 1 result", '"dr-kaya" refused 1 result'],
  ]);
});
