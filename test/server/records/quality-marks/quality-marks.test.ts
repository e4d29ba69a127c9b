import * as fc from "fast-check";
import type { Observation } from "fhir/r4.js";
import { describe, expect, test } from "vitest";
import { observationId } from "../../../../server/fhir/resources/ids.ts";
import { listClinics } from "../../../../server/records/clinics/clinics.ts";
import { loadForDestination } from "../../../../server/records/destinations/hl7/content.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import type { ControlRun } from "../../../../shared/api/quality.ts";
import type { PushedStudy, ReadStudy } from "../../../../shared/api/study.ts";
import type { QualityBody, SeriesBody } from "../../../../server/dashboard/types/quality.ts";
import type { TodayState } from "../../../../server/dashboard/types/results/today.ts";
import { findStoredStudy } from "../../../../server/records/studies/studies.ts";
import { makeUser } from "../../../dashboard/harness.ts";
import { clinic, connection, keyPermissions, patient, startServer, study } from "../../harness.ts";
import { control, pushControls } from "../../controls.ts";

// The quality of a study follows from the controls of its device, in whatever order they come, and changes nothing else of it.

const ours = newFp("clinic");

const result = (analyte: string) => ({
  analyte,
  value: 5.2,
  unit: "mmol/L",
  reference_range: "3.3-6.1",
  flag: "normal" as const,
});

async function startClinic() {
  const dog = patient();
  const server = await startServer([clinic(ours), dog], [connection(dog.fp, ours)]);
  const key = await server.makeKey(ours, keyPermissions);
  const read = async (fp: string) =>
    (await server.get(key, `/api/v1/lab/diagnostics/${fp}`)).body.data as unknown as ReadStudy;
  const studyAt = (acquired_at: string, more: Partial<PushedStudy> = {}) =>
    study({ patient_fp: dog.fp, acquired_at, results: [result("GLU"), result("ALT")], ...more });
  return {
    server,
    key,
    dog,
    read,
    studyAt,
    push: (...studies: PushedStudy[]) => server.push(key, ...studies),
    controls: (...records: ControlRun[]) => pushControls(server, key, ...records),
    /** The quality of the study, then of each of its results. */
    quality: async (fp: string) => {
      const { quality, results } = await read(fp);
      return [quality, ...results.map((each) => each.quality)];
    },
  };
}

const at = (hour: number, minute = 0) => new Date(Date.UTC(2026, 10, 20, hour, minute)).toISOString();

describe("the quality of a study", () => {
  test("is absent while the clinic keeps no control of the device, and for what was measured before the first one", async () => {
    const { push, controls, read, studyAt } = await startClinic();
    const [early, other] = [studyAt(at(8)), studyAt(at(10), { source: { device_id: "chem-2", message_id: "1" } })];
    await push(early, other);
    const before = await read(early.fp);
    expect(before).not.toHaveProperty("quality");
    expect(before.results[0]).not.toHaveProperty("quality");
    expect(await controls(control(at(9), { GLU: 0 }))).toEqual(["stored"]);
    expect([await read(early.fp), await read(other.fp)]).toEqual([
      before,
      expect.not.objectContaining({ quality: "ok" }),
    ]);
  });

  test("is absent while a device only checks itself, as the VetScan does with each rotor", async () => {
    const { push, controls, read, studyAt } = await startClinic();
    const [value] = control(at(9), { "LEVEL 1: IQC 1": 0 }).results;
    const check = control(at(9), {}, { results: [{ ...value!, code_source: "device" }] });
    expect(await controls(check)).toEqual(["stored"]);
    const filed = studyAt(at(10));
    await push(filed);
    expect(await read(filed.fp)).not.toHaveProperty("quality");
  });

  test("is that of the last control before each value, and a passing control ends a failure", async () => {
    const { push, controls, quality, studyAt } = await startClinic();
    await controls(control(at(9), { GLU: 3.5, ALT: 0 }), control(at(11), { GLU: 0 }), control(at(13), { GLU: 2.5 }));
    const [failed, passed, warned] = [studyAt(at(10)), studyAt(at(12)), studyAt(at(14))];
    await push(failed, passed, warned);
    expect(await quality(failed.fp)).toEqual(["failed", "failed", "ok"]);
    expect(await quality(passed.fp)).toEqual(["ok", "ok", "ok"]);
    expect(await quality(warned.fp)).toEqual(["warning", "warning", "ok"]);
  });

  test("passes with the first control after its material got another name, also after the next lots", async () => {
    const { server, controls, quality, push, studyAt } = await startClinic();
    const stateOf = async () => {
      const reader = await makeUser(server, "reader", ours);
      const { devices } = (await reader.call<QualityBody>("GET", "/quality")).body;
      const today = (await reader.call<TodayState>("GET", "/today")).body;
      return [devices[0]?.state, today.controls.flatMap(({ analytes }) => analytes)];
    };
    const [failed, passed] = [studyAt(at(10)), studyAt(at(12))];
    await push(failed, passed);
    await controls(control(at(9), { GLU: 4, ALT: 0 }));
    expect([await quality(failed.fp), await quality(passed.fp), await stateOf()]).toEqual([
      ["failed", "failed", "ok"],
      ["failed", "failed", "ok"],
      ["failed", ["GLU"]],
    ]);
    const staff = await makeUser(server, "staff", ours);
    const { devices } = (await staff.call<QualityBody>("GET", "/quality")).body;
    const series = devices[0]?.series.find(({ analyte }) => analyte === "GLU")?.id ?? "";
    const { violations } = (await staff.call<SeriesBody>("GET", `/quality/series/${series}`)).body;
    for (const { id: violation } of violations) {
      const words = { violation, text: "named anew", seen: null };
      await staff.call("POST", `/quality/series/${series}/explanations`, words);
    }
    const renamed = { material: "Multi-Control" };
    await controls(control(at(11), { GLU: 0, ALT: 0 }, renamed));
    expect([await quality(failed.fp), await quality(passed.fp), await stateOf()]).toEqual([
      ["failed", "failed", "ok"],
      ["ok", "ok", "ok"],
      ["ok", []],
    ]);
    server.clock.now += 80 * 86_400_000;
    const later = new Date(server.clock.now - 3_600_000).toISOString();
    const afterwards = studyAt(new Date(server.clock.now - 1_800_000).toISOString());
    await controls(control(later, { GLU: 0, ALT: 0 }, { ...renamed, lot: "C2301" }));
    await push(afterwards);
    expect([await quality(afterwards.fp), await stateOf()]).toEqual([
      ["ok", "ok", "ok"],
      ["ok", []],
    ]);
  });

  test("is none for an analyte of which no control is known", async () => {
    const { push, controls, quality, studyAt } = await startClinic();
    await controls(control(at(9), { ALT: 0 }));
    const filed = studyAt(at(10));
    await push(filed);
    expect(await quality(filed.fp)).toEqual(["none", "none", "ok"]);
  });

  test("follows a control that comes late, with an event and a stamp for the changed study alone", async () => {
    const { server, key, push, controls, quality, studyAt } = await startClinic();
    await controls(control(at(7), { GLU: 0, ALT: 0 }));
    const [before, between, after] = [studyAt(at(8)), studyAt(at(10)), studyAt(at(14))];
    await push(before, between, after);
    const list = async (since: string) => {
      const url = `/api/v1/lab/diagnostics?updated_since=${since}`;
      return (await server.get(key, url)).body.data.items.map(({ fp }) => fp);
    };
    server.clock.now += 60_000;
    const cursor = new Date(server.clock.now).toISOString();
    await controls(control(at(12), { GLU: 0, ALT: 0 }));
    expect(await list(cursor)).toEqual([]);
    await controls(control(at(9), { GLU: 4, ALT: 0 }));
    // The last good control before is that of seven o'clock.
    expect([await quality(before.fp), await quality(between.fp), await quality(after.fp)]).toEqual([
      ["warning", "warning", "ok"],
      ["failed", "failed", "ok"],
      ["ok", "ok", "ok"],
    ]);
    expect((await list(cursor)).toSorted()).toEqual([before.fp, between.fp].toSorted());
    const events = await server.get(key, "/api/v1/events?kind=study&page_size=100");
    const changed = (events.body.data.items as unknown as { change: string; fp: string }[]).filter(
      ({ change }) => change === "changed",
    );
    expect(changed.map(({ fp }) => fp).toSorted()).toEqual([before.fp, between.fp].toSorted());
  });

  test("counts a control from its own time to the end of the day at which the next one is due", async () => {
    const { server, push, controls, quality, studyAt } = await startClinic();
    const admin = await makeUser(server, "admin", ours);
    await controls(control(at(9), { GLU: 0, ALT: 0 }));
    await admin.call("PUT", "/quality/schedule", { device_id: "chem-1", every_days: 1 });
    const times = ["20T08:59:59.999", "20T09:00:00.000", "21T23:59:59.999", "22T00:00:01.000"];
    const sent = times.map((time) => studyAt(`2026-11-${time}Z`));
    server.clock.now += 7 * 86_400_000;
    await push(...sent);
    const found = await Promise.all(sent.map(async ({ fp }) => (await quality(fp))[0]));
    expect(found).toEqual([undefined, "ok", "ok", "none"]);
  });

  test("is none after a control that nobody has named, also if the control comes late", async () => {
    const { push, controls, quality, studyAt } = await startClinic();
    const sent = studyAt(at(10));
    await push(sent);
    await controls(control(at(9), { GLU: 0 }, { level: null, lot: null }));
    expect(await quality(sent.fp)).toEqual(["none", "none", "none"]);
  });

  test("is that of the time of each revision", async () => {
    const { push, controls, quality, studyAt } = await startClinic();
    await controls(control(at(9), { GLU: 4, ALT: 0 }), control(at(11), { GLU: 0 }));
    const sent = studyAt(at(10));
    await push(sent);
    expect(await quality(sent.fp)).toEqual(["failed", "failed", "ok"]);
    await push({ ...sent, revision: 2, acquired_at: at(12) });
    expect(await quality(sent.fp)).toEqual(["ok", "ok", "ok"]);
  });
});

test("programs over FHIR and HL7 get a sentence about a failed control, and the same status and value", async () => {
  const { server, push, controls, read, studyAt } = await startClinic();
  const sent = studyAt(at(10));
  const [clinicId = 0] = (await listClinics(server.store)).map(({ id }) => id);
  const fhirKey = await server.makeKey(ours, ["clinic.patient.view", "clinic.lab.view"]);
  const observed = async () =>
    (await server.get(fhirKey, `/fhir/R4/Observation/${observationId(sent.fp, 0)}`)).body as unknown as Observation;
  const comments = async () => (await loadForDestination(server.store, clinicId, sent.fp))?.study?.comments;
  await push(sent);
  const { meta: _meta, ...before } = await observed();
  expect([before.note, await comments()]).toEqual([undefined, []]);
  await controls(control(at(9), { GLU: 4, ALT: 2.5 }));
  const { meta: _changed, note, ...after } = await observed();
  expect(after).toEqual(before);
  expect(note).toEqual([{ text: "GLU: run after a failed control at 2026-11-20T09:00:00.000Z (1-3s)." }]);
  // A warning is no comment.
  expect(await comments()).toEqual(["GLU: run after a failed control at 09:00 (1-3s)."]);
  expect((await read(sent.fp)).results.map((each) => each.quality)).toEqual(["failed", "warning"]);
});

/** Controls and studies of two months, four days apart, and an order of their arrival. */
const histories = fc
  .record({
    runs: fc.uniqueArray(
      fc.record({
        at: fc.integer({ min: 0, max: 15 }),
        level: fc.constantFrom("1", "2"),
        z: fc.dictionary(fc.constantFrom("GLU", "ALT"), fc.constantFrom(0, 0.5, -2.4, 2.4, 2.6, 3.4, -4), {
          minKeys: 1,
        }),
      }),
      { minLength: 1, maxLength: 8, selector: ({ at: place, level }) => `${place} ${level}` },
    ),
    studies: fc.array(fc.integer({ min: 0, max: 15 }), { minLength: 1, maxLength: 5 }),
    seed: fc.array(fc.nat(), { minLength: 16, maxLength: 16 }),
  })
  .map(({ runs, studies, seed }) => ({ runs, studies, order: (index: number) => seed[index % seed.length] ?? 0 }));

const dayOf = (place: number) => new Date(Date.UTC(2026, 8, 1 + 4 * place, 8)).toISOString();

test("random controls change no value, range or flag, and their marks are the same in any order of arrival", async () => {
  const { server, dog, read, push, controls } = await startClinic();
  let devices = 0;
  await fc.assert(
    fc.asyncProperty(histories, async ({ runs, studies, order }) => {
      // Of each: without controls, with all of them before, and with both in a random order.
      const [without, first, mixed] = ["without", "first", "mixed"].map((name) => `${name}-${devices++}`) as [
        string,
        string,
        string,
      ];
      const studiesOf = (device_id: string) =>
        studies.map((place) =>
          study({
            ...{ patient_fp: dog.fp, acquired_at: dayOf(place), results: [result("GLU"), result("ALT")] },
            source: { device_id, message_id: "1" },
          }),
        );
      const runsOf = (device_id: string) =>
        runs.map(({ at: place, level, z }) => control(dayOf(place), z, { level, source: { device_id } }));
      const [plain, scratch, late] = [studiesOf(without), studiesOf(first), studiesOf(mixed)];
      await push(...plain);
      await controls(...runsOf(first));
      await push(...scratch);
      const arrivals = [...late.map((each) => () => push(each)), ...runsOf(mixed).map((each) => () => controls(each))];
      const inOrder = arrivals.map((arrive, index) => ({ arrive, turn: order(index) }));
      for (const { arrive } of inOrder.toSorted((a, b) => a.turn - b.turn)) await arrive();
      for (const [index, each] of plain.entries()) {
        const [one, other, third] = [
          await read(each.fp),
          await read(scratch[index]?.fp ?? ""),
          await read(late[index]?.fp ?? ""),
        ];
        expect(marksOf(third)).toEqual(marksOf(other));
        expect([bare(other), bare(third)]).toEqual([bare(one), bare(one)]);
      }
      const stored = async (list: readonly PushedStudy[]) =>
        Promise.all(list.map(async ({ fp }) => (await findStoredStudy(server.store, fp))?.quality));
      expect(await stored(late)).toEqual(await stored(scratch));
    }),
    { numRuns: 40 },
  );
});

const marksOf = ({ quality, results }: ReadStudy) => [quality ?? null, results.map((each) => each.quality ?? null)];

/** The text of the results without their quality. */
function bare({ results }: ReadStudy): string {
  return JSON.stringify(results.map(({ quality: _quality, ...rest }) => rest));
}
