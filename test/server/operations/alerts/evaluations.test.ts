import { pino } from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
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
import { type Dice, diceOf, pick } from "../../../support/runner/dice.ts";
import {
  clinic,
  connection,
  connectTo,
  importEntities,
  keyPermissions,
  patient,
  startServer,
  study,
  type TestServer,
} from "../../harness.ts";
import { addWebhook } from "../../webhooks.ts";

// Goal: a pass that reads only clinics with news, or whose time has come, keeps the book of a pass that reads all of them. Method: random
// facts by the ways on which they come, random steps of the clock, and both books after each.

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const ROUNDS = 30;
const WORLDS = 10;
const seeds = [1, 2, 3, 4];

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

const spans = [MINUTE, 10 * MINUTE, 29 * MINUTE, HOUR, 5 * HOUR, DAY, 9 * DAY, 13 * DAY];

/** A heartbeat with one thing that is wrong, or becomes it with time. */
function randomHeartbeat(dice: Dice, now: number): Heartbeat {
  // A PC whose clock is ahead names times that come later.
  const time = () => new Date(now - pick(dice, spans) * (dice(4) - 1)).toISOString();
  const device = { id: "chem-1", name: "chem-1", connected: true };
  const ofDevice = (changes: object): Heartbeat => ({ devices: [{ ...device, ...changes }] });
  return {
    uptime_s: dice(100_000),
    ...pick<() => Heartbeat>(dice, [
      () => ofDevice({ last_message_at: time(), today: { received: dice(9), filed: 0, unmatched: 0, quarantined: 0 } }),
      () => ofDevice({ reason: "cannot open", since: time(), may_be_off: dice(3) === 0 }),
      () => ofDevice({ quarantined: { count: 1 + dice(3), last_at: time() } }),
      () => ({ clock_offset_s: pick(dice, [0, 5, -31, 45, 61, 59]) }),
      () => ({ disk: { free_bytes: pick(dice, [0.9e9, 1.2e9, 1.4e9, 5e9]), problem: null } }),
      () => ({ outbox: { depth: 1, oldest_at: time() } }),
      () => ({ backup: { at: time(), succeeded_at: null, bytes: null, error: "The disk is full." } }),
      () => ofDevice({}),
    ])(),
  };
}

const glu = { analyte: "GLU", value: 40, unit: "mmol/L", reference_range: "3.3-6.1", flag: "critical" } as const;

async function startWorld(dice: Dice) {
  const server = await startServer();
  const database = await connectTo(server.database);
  onTestFinished(() => database.close());
  const { store, clock, app, push, makeFreshKey } = server;

  /** A new clinic, and the ways on which facts come to it. */
  async function newClinic() {
    const ours = newFp("clinic");
    const dog = patient();
    await importEntities(store, clinic(ours), dog, connection(dog.fp, ours));
    const clinicId = (await findClinic(store, ours))?.id ?? 0;
    const [key, other] = [await makeFreshKey(ours, keyPermissions), await makeFreshKey(ours, keyPermissions)];
    const run = async (sql: string) => database.run(`${sql} and clinic_id = ${clinicId}`);
    /** As the writes of keys do. */
    const raise = async () => database.run(`update clinic set version = version + 1 where id = ${clinicId}`);
    const critical: string[] = [];
    const send = async (changes: Partial<PushedStudy>) => {
      const sent = study({ acquired_at: new Date(clock.now).toISOString(), patient_fp: dog.fp, ...changes });
      expect(await push(key, sent)).toMatchObject([{ fp: sent.fp }]);
      return sent.fp;
    };
    const beat = async (payload = randomHeartbeat(dice, clock.now)) => {
      const headers = { "x-api-key": dice(4) === 0 ? other : key };
      const answer = await app.inject({ method: "POST", url: "/agent/v1/heartbeat", headers, payload });
      // The other key may have ended.
      expect([200, 401]).toContain(answer.statusCode);
    };
    /** A study that was measured and sent while both clocks were ahead. */
    const sendAhead = async (ms: number) => {
      clock.now += ms;
      await send({});
      clock.now -= ms;
    };
    const ways: (() => Promise<unknown>)[] = [
      async () => beat(),
      async () => beat(),
      async () => {
        const [pauseMs, count] = [pick(dice, [HOUR, 5 * HOUR, DAY]), 6 + dice(6)];
        const first = clock.now - pauseMs * count;
        for (let index = 0; index < count; index += 1) {
          await send({ acquired_at: new Date(first + index * pauseMs).toISOString() });
        }
        await beat();
      },
      async () => {
        await sendAhead(pick(dice, spans));
        await beat();
      },
      async () => send({ patient_fp: null }),
      async () => run("update study set rejected_reason = 'lost' where patient_id is null"),
      async () => critical.push(await send({ results: [glu] })),
      async () => {
        const { id: userId } = await makeUser(server, "staff", ours);
        const fp = critical.shift() ?? (await send({ results: [glu] }));
        await markSeen(store, { fp, clinicId, userId, revision: 1, now: clock.now });
      },
      async () => makeFreshKey(ours, keyPermissions, { expiresAt: clock.now + pick(dice, spans) * (1 + dice(3)) }),
      async () => {
        const first = `select min(id) from api_key where clinic_id = ${clinicId}`;
        await run(`update api_key set expires_at = ${clock.now + pick(dice, spans)} where id <> (${first})`);
        await raise();
      },
      async () => {
        await addWebhook(store, ours, { id: `wh_${newFp("clinic")}` });
        await run(`update webhook set pause_code = 'gone', paused_at = ${clock.now} where 1 = 1`);
      },
      async () => run("update webhook set pause_code = null where 1 = 1"),
      async () => {
        const { id } = await makeUser(server, "staff", ours);
        await database.run(`update dashboard_user set factors_ended_at = ${clock.now} where id = ${id}`);
      },
      async () => {
        const to = { agentId: null, slug: "PIMS", kind: "hl7", address: "127.0.0.1:1", options: "{}" } as const;
        await store.transaction((session) => insertDestination(session, { ...to, clinicId, now: clock.now }));
        await send({});
        const state = pick(dice, ["new", "parked"]);
        await database.run(`update destination_delivery set state = '${state}' where state = 'new'`);
      },
      async () => database.run(`update destination_delivery set state = 'acknowledged', ended_at = ${clock.now}`),
      async () => {
        const chosen = {
          language: null,
          confirms_connections: false,
          time_zone: pick(dice, ["Asia/Tokyo", "America/Lima"]),
        };
        await store.transaction((session) => setClinicSettings(session, clinicId, chosen));
      },
    ];
    return {
      ...{ clinicId, beat, sendAhead },
      act: async () => pick(dice, ways)(),
      /** The agent sends what it sent before. */
      repeat: async () => run(`update heartbeat set received_at = ${clock.now} where 1 = 1`),
    };
  }
  return { store, clock, newClinic };
}

/** Makes passes by news and by time. @returns the book of each, and the one that an evaluation of everything leaves */
function startWatch({ store, clock }: Pick<TestServer, "store" | "clock">, clinicId: number) {
  const watch = new AlertWatch({ store, now: () => clock.now, logger: pino({ enabled: false }) });
  let book = EMPTY_BOOK;
  return async () => {
    await watch.check();
    book = await evaluated(store, clinicId, book, clock.now);
    return { stored: await readAlertBook(store, clinicId), full: book };
  };
}

const kindsOf = ({ open }: AlertBook) => open.map(({ kind }) => kind);

type NewClinic = Awaited<ReturnType<Awaited<ReturnType<typeof startWorld>>["newClinic"]>>;

const heard = (ageMs: number, now: number): Heartbeat => ({
  devices: [{ id: "chem-1", connected: true, last_message_at: new Date(now - ageMs).toISOString() }],
});

/** What happens by time alone: facts, then the open alerts of some rounds. */
const byTime: [
  name: string,
  facts: (of: NewClinic, now: number) => Promise<unknown>,
  stepMs: number,
  kinds: string[],
][] = [
  ["an agent is silent for 15 minutes", async ({ beat }) => beat({}), MINUTE, ["", "agent-silent"]],
  [
    "a device without a rhythm is silent for 14 days",
    async ({ beat }, now) => beat(heard(14 * DAY - 10 * MINUTE, now)),
    MINUTE,
    ["", "device-silent"],
  ],
  [
    "a study of a clock that is ahead ends a silence",
    async ({ beat, sendAhead }, now) => {
      await beat(heard(15 * DAY, now));
      await sendAhead(10 * MINUTE);
    },
    MINUTE,
    ["device-silent", ""],
  ],
  [
    "results wait on the PC for half an hour",
    async ({ beat }, now) => beat({ outbox: { depth: 1, oldest_at: new Date(now - 20 * MINUTE).toISOString() } }),
    MINUTE,
    ["", "outbox-old"],
  ],
];

describe("an evaluation by news and by time", () => {
  test.each(byTime)("notices that %s", async (_name, facts, stepMs, kinds) => {
    const world = await startWorld(diceOf(1));
    const { clock, newClinic } = world;
    const of = await newClinic();
    const pass = startWatch(world, of.clinicId);
    await facts(of, clock.now);
    const seen = new Set<string>();
    for (let round = 0; round < 20; round += 1) {
      if (kinds[1] !== "agent-silent") await of.repeat();
      const { stored, full } = await pass();
      expect(stored).toEqual(full);
      seen.add(kindsOf(stored).join());
      clock.now += stepMs;
    }
    expect([...seen]).toEqual(kinds);
  });

  test("notices that a fault is gone for long enough", async () => {
    const world = await startWorld(diceOf(1));
    const { clock, newClinic } = world;
    const { clinicId, beat } = await newClinic();
    const pass = startWatch(world, clinicId);
    await beat({ outbox: { depth: 1, oldest_at: new Date(clock.now - HOUR).toISOString() } });
    const shown = async () => kindsOf((await pass()).stored);
    expect(await shown()).toEqual(["outbox-old"]);
    await beat({});
    expect(await shown()).toEqual(["outbox-old"]);
    clock.now += MINUTE;
    expect(await shown()).toEqual(["outbox-old"]);
    clock.now += MINUTE;
    expect(await shown()).toEqual([]);
  });

  test.each(seeds)("keeps the book of one of everything (seed %i)", async (seed) => {
    const dice = diceOf(seed);
    const of = await startWorld(dice);
    const { clock, newClinic } = of;
    for (let world = 0; world < WORLDS; world += 1) {
      const { clinicId, act, repeat } = await newClinic();
      const pass = startWatch(of, clinicId);
      for (let facts = dice(3); facts >= 0; facts -= 1) await act();
      const [isRunning, stepMs] = [dice(2) === 0, pick(dice, [MINUTE / 2, MINUTE, 7 * MINUTE, HOUR, 9 * HOUR, DAY])];
      for (let round = 0; round < ROUNDS; round += 1) {
        if (dice(ROUNDS / 2) === 0) await act();
        if (isRunning) await repeat();
        const { stored, full } = await pass();
        expect({ world, round, stored }).toEqual({ world, round, stored: full });
        clock.now += dice(60) === 0 ? -2 * DAY : stepMs + dice(stepMs);
      }
    }
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
      const isEver = workingMs(hours, from, 1e9) >= ms;
      const isFirst = workingMs(hours, from, until) >= ms && workingMs(hours, from, until - 1) < ms;
      expect(isEver ? isFirst : until === Number.POSITIVE_INFINITY).toBe(true);
    }
  });
});
