import { expect, test } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import type { ControlRun, DeviceEvent } from "../../../../shared/api/quality.ts";
import type { PushedStudy } from "../../../../shared/api/study.ts";
import { controlsOf, qualityColumn } from "../../../../server/records/quality-marks/remark-studies.ts";
import { findStoredStudy } from "../../../../server/records/studies/studies.ts";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import { clinic, connection, keyPermissions, patient, startServer, study } from "../../harness.ts";
import { controlRun, deviceEvent, pushQuality, result } from "../../quality.ts";

const DAY_MS = 86_400_000;
const DAYS = 45;
const start = Date.parse("2026-08-01T06:00:00.000Z");
const at = (day: number, minutes: number) => new Date(start + day * DAY_MS + minutes * 60_000).toISOString();

/** Two levels without a target of their own: failures before and after the first 20 runs, a repair and a new lot. */
function records(): (ControlRun | DeviceEvent)[] {
  const wave = (day: number) => [0, 0.6, -0.4, 1.1, -0.9, 0.3, -1.2, 0.8][day % 8]!;
  const runs = Array.from({ length: DAYS }, (_, day) =>
    ["1", "2"].map((level, index) => {
      const off = day === 5 || day === 25 ? 2.6 : day === 10 && level === "1" ? 7 : wave(day + 3 * index);
      const lot = level === "1" && day >= 40 ? "B" : "A";
      return controlRun({ measured_at: at(day, 4 * index), level, lot, results: [result(92 + 2 * off)] });
    }),
  ).flat();
  const repair = deviceEvent({ event: "maintenance", at: at(10, 60), lot: null, expires: null });
  return [...runs, repair];
}

function studies(patientFp: string): PushedStudy[] {
  return Array.from({ length: DAYS }, (_, day) =>
    study({
      ...{ patient_fp: patientFp, acquired_at: at(day, 300) },
      results: [{ analyte: "GLU", value: 5, unit: "mmol/L", reference_range: null, flag: null }],
    }),
  );
}

async function marksAfter(batches: (own: { controls: typeof records; dog: string }) => unknown[][]) {
  const [ours, dog] = [newFp("clinic"), patient()];
  const server = await startServer([clinic(ours), dog], [connection(dog.fp, ours)]);
  const key = await server.makeKey(ours, keyPermissions);
  const pushed: PushedStudy[] = [];
  for (const batch of batches({ controls: records, dog: dog.fp })) {
    const quality = batch.filter((each) => (each as { kind?: string }).kind !== undefined);
    const own = batch.filter((each) => !quality.includes(each)) as PushedStudy[];
    if (quality.length > 0) await pushQuality(server, key, ...(quality as ControlRun[]));
    if (own.length > 0) await server.push(key, ...own);
    pushed.push(...own);
  }
  const clinicId = (await findClinic(server.store, ours))?.id ?? 0;
  const inOrder = pushed.toSorted((one, other) => (one.acquired_at < other.acquired_at ? -1 : 1));
  const marks = [];
  for (const { fp } of inOrder) {
    const stored = await findStoredStudy(server.store, fp);
    if (stored === undefined) throw new Error(`no study ${fp}`);
    // The stored marks are those that the charts give now.
    expect(stored.quality).toBe(await qualityColumn(controlsOf(server.store, clinicId), stored, stored.quality));
    marks.push(stored.quality);
  }
  return marks;
}

test("studies get the same marks in any order of arrival, with targets and rules of the first 20 runs and a repair", {
  timeout: 120_000,
}, async () => {
  const parts = <Item>(items: readonly Item[], size: number): Item[][] =>
    Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size));
  const expected = await marksAfter(({ controls, dog }) => [controls(), studies(dog)]);
  expect(JSON.stringify(expected)).toContain("1-3s");
  expect(await marksAfter(({ controls, dog }) => [studies(dog), controls()])).toEqual(expected);
  expect(await marksAfter(({ controls, dog }) => [studies(dog), ...parts(controls(), 8)])).toEqual(expected);
  expect(await marksAfter(({ controls, dog }) => [studies(dog), ...parts(controls().toReversed(), 8)])).toEqual(
    expected,
  );
});
