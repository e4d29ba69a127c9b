import { expect, test } from "vitest";
import type { ControlledDevice, ShownSeries } from "../../../../server/dashboard/types/quality.ts";
import { controlNeeds } from "../../../../server/records/controls/needs.ts";

const NOW = Date.parse("2026-11-29T12:00:00.000Z");

function series(changes: Partial<ShownSeries> = {}): ShownSeries {
  return {
    ...{ id: "1", device_id: "chem-1", analyte: "GLU", unit: "mg/dL", material: null, level: "1", lot: "C2207" },
    ...{ expires: null, state: "ok", since: "2026-11-28T08:00:00.000Z", runs: 3, last_at: "2026-11-28T08:00:00.000Z" },
    ...{ unexplained: 0, target: { mean: 92, sd: 2.3 } },
    ...changes,
  };
}

function device(changes: Partial<ControlledDevice> = {}): ControlledDevice {
  const last_at = "2026-11-28T08:00:00.000Z";
  return { device_id: "chem-1", name: "VetScan", last_at, state: "ok", schedule: null, series: [series()], ...changes };
}

test("a device whose last control passed needs nobody, and one with a schedule does from the day on which it is due", () => {
  const due_at = "2026-11-29T00:00:00.000Z";
  const schedule = { every_days: 1, due_at };
  expect(controlNeeds({ devices: [device(), device({ schedule })] }, Date.parse(due_at) - 1)).toEqual([]);
  expect(controlNeeds({ devices: [device(), device({ schedule })] }, NOW)).toEqual([
    { is: "due", device_id: "chem-1", name: "VetScan", analytes: [], is_explained: false, since: due_at },
  ]);
});

test("a failed control needs a person until it is explained and another one passed", () => {
  const since = "2026-11-29T08:05:00.000Z";
  const named = { is: "failed", device_id: "chem-1", name: "VetScan", analytes: ["CREA"] } as const;
  const needs = (changes: Partial<ShownSeries>) =>
    controlNeeds({ devices: [device({ series: [series(), series({ analyte: "CREA", ...changes })] })] }, NOW);
  expect(needs({ state: "failed", since, unexplained: 1 })).toEqual([{ ...named, is_explained: false, since }]);
  expect(needs({ state: "failed", since, unexplained: 0 })).toEqual([{ ...named, is_explained: true, since }]);
  expect(needs({ state: "ok", unexplained: 1 })).toEqual([{ ...named, is_explained: false, since: null }]);
  expect(needs({ state: "ok", unexplained: 0 })).toEqual([]);
});

test("a failed control of a lot that is used up needs nobody once it is explained and the next lot passed", () => {
  const old = series({
    id: "2",
    lot: "C2206",
    state: "failed",
    since: "2026-11-27T08:00:00.000Z",
    last_at: "2026-11-27T08:00:00.000Z",
  });
  const found = (changes: Partial<ShownSeries>) =>
    controlNeeds({ devices: [device({ series: [{ ...old, ...changes }, series()] })] }, NOW);
  expect(found({})).toEqual([]);
  expect(found({ unexplained: 1 })).toMatchObject([{ is: "failed", analytes: ["GLU"], since: null }]);
  expect(found({ level: "2" })).toMatchObject([{ is: "failed", since: old.since }]);
});

test("a device with a schedule that never ran a control is listed once, after those that failed", () => {
  const never = device({
    ...{ device_id: "a-meter", name: "meter", last_at: null, state: "none", series: [] },
    schedule: { every_days: 7, due_at: "2026-11-20T00:00:00.000Z" },
  });
  const failed = device({ series: [series({ state: "failed", unexplained: 1 })] });
  const found = controlNeeds({ devices: [never, failed] }, NOW);
  expect(found.map(({ device_id, is }) => `${device_id} ${is}`)).toEqual(["chem-1 failed", "a-meter never"]);
});
