import { integer, record, sample, shuffledSubarray } from "fast-check";
import { expect, test } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import type { ControlRun } from "../../../../shared/api/quality.ts";
import { answerQuestion } from "../../../../server/records/controls/answers.ts";
import { controlHistory } from "../../../../server/records/controls/history.ts";
import { readQuality } from "../../../../server/records/controls/overview.ts";
import { storeRecords } from "../../../../server/records/controls/runs.ts";
import { query, type Session } from "../../../../server/database/query.ts";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import { makeUser } from "../../../dashboard/harness.ts";
import { clinic, startServer, type TestServer } from "../../harness.ts";
import { controlRun, result } from "../../quality.ts";

const DAY_MS = 86_400_000;
const start = Date.parse("2026-08-01T06:00:00.000Z");

/** 60 days of two levels: a new lot after 30 days, failures before and after its 20 runs, a drift, an excess below a bound, and a level that nobody names. */
function records(): ControlRun[] {
  const at = (day: number, minutes: number) => new Date(start + day * DAY_MS + minutes * 60_000).toISOString();
  const wave = (day: number) => [0, 0.6, -0.4, 1.1, -0.9, 0.3, -1.2, 0.8][day % 8]!;
  return Array.from({ length: 60 }, (_, day) => {
    const z = day === 12 ? 3.4 : day === 40 || day === 55 ? -2.6 : day > 50 && day < 55 ? 1.4 : wave(day);
    const lot = day < 30 ? "A" : "B";
    const low = result(92 + 2 * z, day === 20 ? { comparator: "<" } : {});
    return [
      controlRun({
        measured_at: at(day, 0),
        lot,
        results: [low, result(1.2 + 0.05 * wave(day + 3), { analyte: "CREA" })],
      }),
      controlRun({
        ...{ measured_at: at(day, 4), level: null, lot: null, material: null, sample_ids: ["QC2"] },
        results: [result(250 + 5 * (day === 56 ? 2.2 : day === 40 || day === 55 ? -2.7 : wave(day + 1)))],
      }),
    ];
  }).flat();
}

const values = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("control_value")
    .innerJoin("control_run", "control_run.id", "control_value.run_id")
    .select(["control_value.id", "control_run.dedupe_key", "control_value.analyte"])
    .where("control_run.clinic_id", "=", p.clinicId),
);

/** The judgement of a clinic's controls, with the names of runs in place of the ids of rows. */
async function judgement(session: Session, clinicId: number): Promise<unknown> {
  const names = new Map(
    (await session.all(values, { clinicId })).map(({ id, dedupe_key, analyte }) => [
      String(id),
      `${dedupe_key} ${analyte}`,
    ]),
  );
  const name = (id: string) => names.get(id) ?? id;
  const runs = [];
  for (const analyte of ["GLU", "CREA"]) {
    const judged = await controlHistory(session, clinicId, "chem-1", analyte, start, start + 60 * DAY_MS);
    for (const { run, verdict, violations } of judged) {
      const points = run.points.map(({ id, level, z }) => [name(id), level, z]);
      const broken = violations.map((each) => ({ ...each, points: each.points.map(name) }));
      runs.push({ at: run.at, points, verdict, broken });
    }
  }
  const { devices } = await readQuality(session, { clinicId, timeZone: null, now: start + 61 * DAY_MS });
  const series = devices.flatMap((device) => device.series.map(({ id: _id, ...one }) => one));
  return { runs, series: series.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1)) };
}

async function arrive(
  server: TestServer,
  { fp, batches, answerAfter }: { fp: string; batches: readonly (readonly ControlRun[])[]; answerAfter: number },
): Promise<unknown> {
  const clinicId = (await findClinic(server.store, fp))?.id ?? 0;
  const { id: userId } = await makeUser(server, "staff", fp);
  const named = { device_id: "chem-1", sample: "QC2", sent_level: null, material: "Multiqual", level: "2", lot: "A" };
  let isAnswered = false;
  for (const [index, batch] of batches.entries()) {
    await server.store.transaction(async (session) => {
      await storeRecords(session, { clinicId, now: server.clock.now, by: null }, batch);
      if (isAnswered || index < answerAfter) return;
      const actor = { by: "Dr. Ada", userId, clinicId, now: server.clock.now };
      isAnswered = (await answerQuestion(session, { ...named, expires: null }, 0, actor)) !== undefined;
    });
  }
  expect(isAnswered).toBe(true);
  return judgement(server.store, clinicId);
}

test("runs get the same judgement in whatever order and batches they arrive, before or after the clinic names their sample", {
  timeout: 120_000,
}, async () => {
  const all = records().map((run, index) => ({ ...run, dedupe_key: `run ${index}` }));
  const fps = Array.from({ length: 9 }, () => newFp("clinic"));
  const server = await startServer(...fps.map((fp) => clinic(fp)));
  const [first = "", ...others] = fps;
  const expected = await arrive(server, { fp: first, batches: [all], answerAfter: 0 });
  // Each rule is in it, or the property proves nothing.
  for (const rule of ["1-2s", "1-3s", "2-2s", "4-1s"]) expect(JSON.stringify(expected)).toContain(`"${rule}"`);
  const arrivals = sample(
    record({
      order: shuffledSubarray(all, { minLength: all.length }),
      size: integer({ min: 1, max: 100 }),
      answerAfter: integer({ min: 0, max: 1 }),
    }),
    others.length,
  );
  for (const [index, { order, size, answerAfter }] of arrivals.entries()) {
    const batches = Array.from({ length: Math.ceil(order.length / size) }, (_, batch) =>
      order.slice(batch * size, (batch + 1) * size),
    );
    const last = Math.min(answerAfter, batches.length - 1);
    expect(await arrive(server, { fp: others[index] ?? "", batches, answerAfter: last })).toEqual(expected);
  }
});

/** Counts the rows that queries return, and the queries. */
function counting(session: Session): Session & { readonly counts: { rows: number; queries: number } } {
  const counts = { rows: 0, queries: 0 };
  return {
    ...{ counts, each: session.each },
    async all(asked, parameters) {
      const rows = await session.all(asked, parameters);
      counts.queries += 1;
      counts.rows += rows.length;
      return rows;
    },
    async first(asked, parameters) {
      counts.queries += 1;
      counts.rows += 1;
      return session.first(asked, parameters);
    },
  };
}

test("the overview and the state of an analyte read as much after years as after months", {
  timeout: 120_000,
}, async () => {
  const [short, long] = [newFp("clinic"), newFp("clinic")];
  const server = await startServer(clinic(short), clinic(long));
  const read = async (fp: string, days: number) => {
    const clinicId = (await findClinic(server.store, fp))?.id ?? 0;
    const runs = Array.from({ length: days }, (_, day) =>
      controlRun({
        measured_at: new Date(server.clock.now - (days - day) * DAY_MS).toISOString(),
        // A lot of half a year.
        lot: `lot ${Math.floor((days - day) / 180)}`,
        results: ["GLU", "CREA", "ALT"].map((analyte) => result(92 + (day % 5), { analyte })),
      }),
    );
    await server.store.transaction((session) =>
      storeRecords(session, { clinicId, now: server.clock.now, by: null }, runs),
    );
    const counted = counting(server.store);
    await readQuality(counted, { clinicId, timeZone: null, now: server.clock.now });
    await controlHistory(counted, clinicId, "chem-1", "GLU", server.clock.now - DAY_MS, server.clock.now);
    return counted.counts;
  };
  const after = { months: await read(short, 170), years: await read(long, 1000) };
  expect(after.years.queries).toBeLessThanOrEqual(after.months.queries + 2);
  // Each lot adds its rows of series and targets.
  expect(after.years.rows).toBeLessThan(after.months.rows + 100);
});
