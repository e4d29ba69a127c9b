import { beforeEach, expect, test } from "vitest";
import { QualityPush } from "../../../agent/push/quality-push.ts";
import { watchServer } from "../../../agent/push/server-watch.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import type { QualityOutcome, QualityRecord } from "../../../shared/api/quality.ts";
import { until } from "../../support/machine/processes.ts";
import { controlRun, deviceEvent } from "../../support/clinic/quality-records.ts";
import { useDelivery } from "../../support/clinic/delivery.ts";
import { scriptedServer, type Step } from "../../support/peers/scripted-server.ts";
import { settlement } from "../../support/spool-operations.ts";
import { useSpool } from "../../support/spool.ts";

// Control runs and device events reach the server once, and none is lost. Method: a scripted HTTP server, a real spool, a test clock.

const used = useSpool();
const delivery = useDelivery();
let states: string[];
let requests: string[][];

beforeEach(() => {
  [states, requests] = [[], []];
});

/** Stores runs with these numbers, each in a message of its own. */
async function runs(...numbers: readonly number[]): Promise<void> {
  for (const number of numbers) {
    const outcome = { state: "not-for-patients" as const, reason: "quality control", controls: [controlRun(number)] };
    await used.spool.call("settle", settlement(`M${number}`, outcome));
  }
}

type Records = readonly QualityRecord[];

const nameOf = ({ dedupe_key }: Pick<QualityRecord, "dedupe_key">) => dedupe_key.replace(/^chem-1:/, "");

const outcomes = (records: Records, of: (record: QualityRecord) => Partial<QualityOutcome> = () => ({})): Step => ({
  status: 200,
  body: {
    outcomes: records.map((record) => ({ fp: record.fp, outcome: "stored", reason: null, ...of(record) })),
  },
});

/** Creates a push, which the end of the test stops, to a server that plays the steps, then stores every record. */
async function pushTo(...steps: readonly (Step | ((records: Records) => Step))[]): Promise<QualityPush> {
  const left = [...steps];
  const server = await scriptedServer(({ url, body }) => {
    const { records } = body as { records: Records };
    expect(url).toBe("/agent/v1/quality");
    requests.push(records.map(nameOf));
    const step = left.shift() ?? outcomes;
    return typeof step === "function" ? step(records) : step;
  });
  return delivery.start(server, (client, events, timing) => {
    const watched = watchServer(client, ({ is }) => states.push(is));
    const rejected = (device: string, code: string | null) => void delivery.events.push(`${device} rejected ${code}`);
    return new QualityPush(used.spool, watched, { ...events, rejected }, { ...timing, now: () => 5000 });
  });
}

const stored = () =>
  readSpool(used.folder, (db) =>
    db.prepare("SELECT dedupe_key, state, reason, settled_at FROM quality_record ORDER BY rowid").raw().all(),
  );

const waiting = async () => (await used.spool.call("waitingQuality")).depth;

test("runs and events leave in one request as they were read, and are settled", async () => {
  const both = { state: "not-for-patients" as const, controls: [controlRun(1)], events: [deviceEvent(2)] };
  await used.spool.call("settle", settlement("M1", both));
  let sent: Records = [];
  const push = await pushTo((records) => {
    sent = records;
    return outcomes(records);
  });
  push.scheduleSend();
  delivery.clock.advance(200);
  await until("all are sent", async () => (await waiting()) === 0);
  expect(sent).toEqual([controlRun(1), deviceEvent(2)]);
  expect(stored()).toEqual([
    ["chem-1:QC:1", "stored", null, 5000],
    ["chem-1:event:2", "stored", null, 5000],
  ]);
  expect(delivery.events).toEqual([]);
});

test("a record whose response was lost is sent again with its fp, and the server's unchanged settles it", async () => {
  await runs(1);
  const fps: string[] = [];
  const note = (records: Records) => fps.push(...records.map(({ fp }) => fp));
  const push = await pushTo(
    (records) => {
      note(records);
      return "cut";
    },
    (records) => {
      note(records);
      return outcomes(records, () => ({ outcome: "unchanged" }));
    },
  );
  push.serverResponded();
  await until("the first request failed", () => delivery.events.length === 1);
  push.serverResponded();
  await until("all are sent", async () => (await waiting()) === 0);
  expect(fps).toEqual([controlRun(1).fp, controlRun(1).fp]);
  await until("the recovery is reported", () => delivery.events.length === 2);
  expect(delivery.events).toEqual(["uncertain", "recovered"]);
});

test("a rejected record is settled with its code, and stops no other", async () => {
  await runs(1, 2);
  const reason = { code: "QUALITY.UNKNOWN_DEVICE", values: ["chem-1"] };
  const push = await pushTo((records) =>
    outcomes(records, (record) => (nameOf(record) === "QC:1" ? { outcome: "rejected", reason } : {})),
  );
  push.serverResponded();
  await until("all are settled", async () => (await waiting()) === 0);
  expect(stored()).toEqual([
    ["chem-1:QC:1", "rejected", JSON.stringify(reason), 5000],
    ["chem-1:QC:2", "stored", null, 5000],
  ]);
  await until("the refusal is reported", () => delivery.events.length > 0);
  expect(delivery.events).toEqual(["chem-1 rejected QUALITY.UNKNOWN_DEVICE"]);
});

test("a server of an older version gets no second request soon, raises no alarm, and loses nothing", async () => {
  await runs(1);
  const push = await pushTo({ status: 404 });
  push.serverResponded();
  await until("the server was asked", () => requests.length === 1);
  for (let round = 0; round < 5; round++) {
    push.serverResponded();
    push.scheduleSend();
    delivery.clock.advance(60_000);
    await used.spool.call("waitingQuality");
  }
  await push.stop();
  expect(requests).toEqual([["QC:1"]]);
  expect([delivery.events, states, await waiting()]).toEqual([[], [], 1]);
});

test("a record that breaks the server is isolated by halves, waits after the others, and stops none", async () => {
  await runs(1, 2, 3, 4, 5);
  const isBad = (records: Records) => records.some((record) => nameOf(record) === "QC:3");
  const respond = (records: Records): Step => (isBad(records) ? { status: 500 } : outcomes(records));
  const push = await pushTo(...Array.from({ length: 100 }, () => respond));
  push.serverResponded();
  await until("the others are sent", async () => {
    delivery.clock.advance(300_000);
    return (await waiting()) === 1;
  });
  const asked = requests.map((names) => names.map((name) => name.slice(-1)).join(""));
  expect(asked.slice(0, 9)).toEqual(["12345", "123", "12", "345", "34", "3", "4", "53", "5"]);
  expect((stored() as unknown[][]).filter(([, state]) => state === "queued")).toEqual([
    ["chem-1:QC:3", "queued", null, null],
  ]);
});

test("a long queue leaves in requests some seconds apart, so that studies find room in the limit of the key", async () => {
  await runs(...Array.from({ length: 150 }, (_, index) => index + 1));
  const push = await pushTo();
  push.serverResponded();
  await until("the first request is settled", async () => (await waiting()) === 50);
  await until("the next one is scheduled", () => delivery.clock.pending.length === 1);
  expect([requests.length, delivery.clock.pending]).toEqual([1, [2000]]);
  delivery.clock.advance(2000);
  await until("all are sent", async () => (await waiting()) === 0);
  expect(requests.map(({ length }) => length)).toEqual([100, 50]);
});

test("a response without an outcome for each record settles none", async () => {
  await runs(1, 2);
  const push = await pushTo((records) => outcomes(records.toReversed()));
  push.serverResponded();
  await until("the request failed", () => delivery.events.length === 1);
  expect(await waiting()).toBe(2);
});
