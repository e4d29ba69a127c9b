import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { AlertWatch } from "../../../../server/operations/alert-watch.ts";
import { type AlertBook, EMPTY_BOOK, stepBook } from "../../../../server/operations/alerts/book.ts";
import { Moment } from "../../../../server/operations/alerts/moment.ts";
import type { Store } from "../../../../server/database/store.ts";
import { workedUntil, workingMs } from "../../../../server/records/agents/device-state.ts";
import { clinicConditions, criticalStudies } from "../../../../server/records/alerts/alert-conditions.ts";
import { readAlertFacts } from "../../../../server/records/alerts/alert-facts.ts";
import { readAlertBook } from "../../../../server/records/alerts/alerts.ts";
import { readMarkedClinics } from "../../../../server/records/alerts/watched-clinics.ts";
import { setClinicSettings } from "../../../../server/records/clinics/clinics.ts";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import { insertDestination } from "../../../../server/records/destinations/destinations.ts";
import { markSeen } from "../../../../server/records/results/seen-studies.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import type { Heartbeat, PushedStudy } from "../../../../shared/api/study.ts";
import { makeUser } from "../../../dashboard/harness.ts";
import { type Dice, diceOf, pick } from "../../../support/dice.ts";
import { clinic, connection, connectTo, keyPermissions, patient, startServer, study } from "../../harness.ts";
import { addWebhook } from "../../webhooks.ts";

// Goal: a pass that reads only clinics with news, or whose time has come, keeps the book of a pass that reads all of them. Method: random
// facts by the ways on which they come, random steps of the clock, and both books after each.

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const ROUNDS = 120;

/** The book after an evaluation of everything. */
async function evaluated(store: Store, clinicId: number, book: AlertBook, now: number): Promise<AlertBook> {
  const moment = new Moment(now);
  const found = (await readMarkedClinics(store, now)).find(({ id }) => id === clinicId);
  if (found === undefined) throw new Error("the clinic is missing");
  const { timeZone, listed } = found;
  const openCritical = criticalStudies(book.open);
  const facts = await readAlertFacts(store, { clinicId, timeZone, listed, moment, openCritical });
  const stepped = stepBook(book, clinicConditions(facts, moment), { channels: [], moment });
  return JSON.parse(JSON.stringify(stepped)) as AlertBook;
}

const steps = [MINUTE / 2, MINUTE / 2, MINUTE, 3 * MINUTE + 1, 10 * MINUTE, 31 * MINUTE, HOUR, 5 * HOUR, DAY, 9 * DAY];

function randomHeartbeat(dice: Dice, now: number): Heartbeat {
  const maybe = <T>(value: T): T | undefined => (dice(2) === 0 ? value : undefined);
  const past = () => new Date(now - pick(dice, steps) * dice(3) + dice(2) * dice(2) * HOUR).toISOString();
  const device = (id: string) => ({
    id,
    name: id,
    connected: true,
    ...(dice(3) > 0 && { last_message_at: past() }),
    ...(dice(6) === 0 && { reason: "cannot open", since: past(), may_be_off: dice(3) === 0 }),
    ...(dice(6) === 0 && { quarantined: { count: 1 + dice(3), last_at: past() } }),
    today: { received: dice(9), filed: 0, unmatched: 0, quarantined: 0 },
  });
  const backup = { at: past(), succeeded_at: null, bytes: null, error: dice(3) === 0 ? "The disk is full." : null };
  return {
    uptime_s: dice(100_000),
    clock_offset_s: pick(dice, [0, 5, -31, 45, 61, 59]),
    disk: { free_bytes: pick(dice, [0.9e9, 1.2e9, 1.4e9, 5e9, 6e9]), problem: null },
    devices: [device("chem-1"), device("hema-1")],
    outbox: maybe({ depth: 1, oldest_at: past() }) ?? { depth: 0 },
    backup: maybe(backup) ?? null,
  };
}

/** A clinic of a server of two, and the ways on which facts come to it. */
async function startWorld(dice: Dice) {
  const ours = newFp("clinic");
  const dog = patient();
  const server = await startServer(clinic(ours), clinic(newFp("clinic")), dog, connection(dog.fp, ours));
  const { store, clock, app, push, makeFreshKey } = server;
  const clinicId = (await findClinic(store, ours))?.id ?? 0;
  const user = await makeUser(server, "staff", ours);
  const database = await connectTo(server.database);
  const keys = [await makeFreshKey(ours, keyPermissions), await makeFreshKey(ours, keyPermissions)];
  const critical: string[] = [];
  const destination = {
    clinicId,
    agentId: null,
    slug: "PIMS",
    kind: "hl7",
    address: "127.0.0.1:1",
    options: "{}",
  } as const;
  await store.transaction((session) => insertDestination(session, { ...destination, now: clock.now }));
  await addWebhook(store, ours);
  const settings = { language: null, confirms_connections: false };
  const ways: (() => Promise<unknown>)[] = [
    async () => {
      const payload = randomHeartbeat(dice, clock.now);
      const headers = { "x-api-key": pick(dice, keys) };
      expect((await app.inject({ method: "POST", url: "/agent/v1/heartbeat", headers, payload })).statusCode).toBe(200);
    },
    async () => {
      const at = clock.now - dice(3) * pick(dice, steps) + dice(2) * dice(2) * 2 * MINUTE;
      const glu = { analyte: "GLU", value: 40, unit: "mmol/L", reference_range: "3.3-6.1", flag: "critical" } as const;
      const sent: PushedStudy = study({
        ...{ acquired_at: new Date(at).toISOString(), patient_fp: dice(3) === 0 ? null : dog.fp },
        ...(dice(4) === 0 && { patient_fp: null, results: [glu] }),
        source: { device_id: pick(dice, ["chem-1", "hema-1"]), message_id: "1" },
      });
      if (sent.results[0]?.flag === "critical") critical.push(sent.fp);
      await push(keys[0] ?? "", sent);
    },
    async () => {
      const fp = critical.shift();
      if (fp !== undefined) await markSeen(store, { fp, clinicId, userId: user.id, revision: 1, now: clock.now });
    },
    async () => makeFreshKey(ours, keyPermissions, { expiresAt: clock.now + pick(dice, steps) * (1 + dice(3)) }),
    async () =>
      database.run(`update study set rejected_reason = 'lost' where patient_id is null and id % 3 = ${dice(3)}`),
    async () =>
      database.run(`update webhook set pause_code = ${pick(dice, ["null", "'gone'"])}, paused_at = ${clock.now}`),
    async () => database.run(`update dashboard_user set factors_ended_at = ${pick(dice, ["null", String(clock.now)])}`),
    async () =>
      database.run(
        `update destination_delivery set state = '${pick(dice, ["parked", "acknowledged"])}', ended_at = ${clock.now} where id % 4 = ${dice(4)}`,
      ),
    async () =>
      store.transaction((session) =>
        setClinicSettings(session, clinicId, {
          ...settings,
          time_zone: pick(dice, ["Europe/Istanbul", "America/Lima"]),
        }),
      ),
  ];
  // Heartbeats and studies are the most frequent facts.
  const act = async () => (ways[Math.min(dice(3) === 0 ? dice(ways.length) : dice(2), ways.length - 1)] ?? ways[0])?.();
  return { store, clock, clinicId, act, end: () => database.close() };
}

describe("an evaluation by news and by time", () => {
  test.each([1, 2, 3, 4, 5, 6])("keeps the book of one of everything (seed %i)", async (seed) => {
    const dice = diceOf(seed);
    const { store, clock, clinicId, act, end } = await startWorld(dice);
    const watch = new AlertWatch({ store, now: () => clock.now, logger: pino({ enabled: false }) });
    let book = EMPTY_BOOK;
    const kinds = new Set<string>();
    for (let round = 0; round < ROUNDS; round += 1) {
      if (dice(3) === 0) await act();
      clock.now += dice(40) === 0 ? -2 * HOUR : pick(dice, steps) + dice(2);
      await watch.check();
      book = await evaluated(store, clinicId, book, clock.now);
      expect(await readAlertBook(store, clinicId), `round ${round}`).toEqual(book);
      for (const { kind } of book.open) kinds.add(kind);
    }
    expect(kinds.size).toBeGreaterThan(4);
    await end();
  });

  test("the time after some work is the first one at which that work is done", () => {
    const dice = diceOf(7);
    for (let round = 0; round < 500; round += 1) {
      const hours = Array.from({ length: dice(5) }, (_, day) => {
        const from = day * 1000 + dice(500);
        return { from, to: from + 1 + dice(600) };
      });
      const [from, ms] = [dice(5000), 1 + dice(1500)];
      const until = workedUntil(hours, from, ms);
      if (until === Number.POSITIVE_INFINITY) expect(workingMs(hours, from, 1e9)).toBeLessThan(ms);
      else expect([workingMs(hours, from, until) >= ms, workingMs(hours, from, until - 1) < ms]).toEqual([true, true]);
    }
  });
});
