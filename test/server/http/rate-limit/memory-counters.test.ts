import { expect, test } from "vitest";
import { MemoryCounters } from "../../../../server/http/rate-limit/memory-counters.ts";
import type { Counters } from "../../../../server/records/clinics/rate-limit-counters.ts";
import { noon } from "../../harness.ts";

const windows = [
  { name: "minute", ms: 60_000, limit: 2 },
  { name: "hour", ms: 3_600_000, limit: 100 },
];

test("memory counters are bounded, and evict ended windows before the oldest ones", async () => {
  const counters = new MemoryCounters(1000);
  for (let index = 0; index < 5000; index += 1) await counters.take(`a${index}`, windows, noon + index);
  expect(counters.size).toBe(1000);
  expect(await used(counters, "a4999", noon + 5000)).toBe(2);
  expect(await used(counters, "a0", noon + 5000)).toBe(1);

  await counters.take("later", windows, noon + 2 * 3_600_000);
  expect(counters.size).toBe(1);
});

test("a clock that is set back does not lengthen a window", async () => {
  const counters = new MemoryCounters(10);
  await counters.take("a", windows, noon + 86_400_000);
  await counters.take("a", windows, noon + 86_400_000);
  const { taken, counts } = await counters.take("a", windows, noon);
  expect([taken, counts[0]]).toEqual([true, { used: 1, endsAt: noon + 60_000 }]);
});

async function used(counters: Counters, name: string, now: number): Promise<number | undefined> {
  return (await counters.take(name, windows, now)).counts[0]?.used;
}
