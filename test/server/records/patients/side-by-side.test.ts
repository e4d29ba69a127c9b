import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isSameDevice } from "../../../../shared/clinical/compare/compare.ts";
import type { Result } from "../../../../shared/api/study.ts";
import { isSameSubject, placedStudy } from "../../../../server/records/comparison/compared-results.ts";
import { sideBySide } from "../../../../server/records/comparison/side-by-side.ts";

// Goal: the pairs are those that a comparison of each study with each finds, in a time that grows with the studies alone.

const dog = { species: "dog", breed: null, sex: null, date_of_birth: "2020-01-01" } as const;
const codes = ["ALT", "CREA", "GLU", "UREA", "BUN", "QXZ"] as const;
type Given = {
  readonly device: string;
  readonly id: string | null;
  readonly hour: number;
  readonly codes: readonly string[];
};

/** The studies of one animal, the newest first. */
function studiesOf(given: readonly Given[]) {
  return given
    .toSorted((one, other) => other.hour - one.hour)
    .map(({ device, id, hour, codes: measured }, index) => {
      const acquired_at = Date.parse("2026-11-01T00:00:00Z") + hour * 3_600_000;
      const results = measured.map((analyte): Result => {
        const own = analyte === "QXZ" ? { code_source: "device" as const } : {};
        return {
          analyte,
          value: 40,
          unit: analyte === "ALT" ? "U/L" : "mg/dL",
          reference_range: null,
          flag: null,
          ...own,
        };
      });
      const stored = {
        ...{ fp: `cds_${index}`, patient_fp: "patient_1", modality: "BIOCHEMISTRY" as const, device_name: device },
        ...{
          status: "COMPLETED" as const,
          acquired_at,
          results: JSON.stringify(results),
          comments: null,
          flagged_species: null,
        },
        ...{ order_fp: null, order_number: null, quality: null, clinic_id: 1, snapshot: null },
        source: id === null ? null : JSON.stringify({ device_id: id, message_id: "1" }),
      };
      const placed = placedStudy(stored, { animal: dog, unitOf: (_, sent) => sent, rangesOf: () => undefined });
      const head = {
        ...{ fp: stored.fp, modality: "BIOCHEMISTRY" as const, device_name: device, device: 0, device_id: id },
        acquired_at: placed.study.acquired_at,
      };
      return { placed, head };
    });
}

/** The first six pairs of each with each. */
function pairsOfAll(studies: ReturnType<typeof studiesOf>): string[] {
  const pairs: string[] = [];
  for (const [index, later] of studies.entries()) {
    for (const earlier of studies.slice(index + 1)) {
      if (Date.parse(later.head.acquired_at) - Date.parse(earlier.head.acquired_at) > 86_400_000) break;
      if (isSameDevice(later.placed.device, earlier.placed.device)) continue;
      const shared = earlier.placed.results.filter(
        (one) =>
          one.compared !== null &&
          later.placed.results.some((other) => other.compared !== null && isSameSubject(other, one)),
      );
      if (shared.length > 0)
        pairs.push([earlier.head.fp, later.head.fp, ...shared.map((one) => one.result.analyte)].join());
    }
  }
  return pairs.slice(0, 6);
}

test("the pairs are those of each study with each", () => {
  const study = fc.record({
    device: fc.constantFrom("VS2", "Catalyst"),
    id: fc.constantFrom("a", "b", null),
    hour: fc.integer({ min: 0, max: 80 }),
    codes: fc.subarray([...codes]),
  });
  fc.assert(
    fc.property(fc.array(study, { maxLength: 14 }), (given) => {
      const studies = studiesOf(given);
      const found = sideBySide(studies).map(({ studies: [one, two], rows }) =>
        [one.fp, two.fp, ...rows.map(({ values: [first] }) => first.analyte)].join(),
      );
      expect(found).toEqual(pairsOfAll(studies));
    }),
    { numRuns: 300 },
  );
});

test("two devices with 2000 studies a day and no analyte in common are not compared each with each", () => {
  const day = Array.from({ length: 4000 }, (_, index): Given => {
    const isOne = index % 2 === 0;
    return {
      device: isOne ? "VS2" : "Catalyst",
      id: null,
      hour: index / 4000,
      codes: isOne ? ["ALT", "GLU"] : ["CREA"],
    };
  });
  const studies = studiesOf(day);
  let reads = 0;
  const counted = studies.map(({ placed, head }) => ({
    head,
    placed: {
      ...placed,
      get results() {
        reads += 1;
        return placed.results;
      },
    },
  }));
  expect(sideBySide(counted)).toEqual([]);
  expect(reads).toBeLessThanOrEqual(2 * studies.length);
});
