import { expect, test } from "vitest";
import { memoryCounters, MemoryCounters } from "../../../../server/http/rate-limit/memory-counters.ts";
import { RateLimiter } from "../../../../server/http/rate-limit/rate-limiter.ts";
import { noon } from "../../harness.ts";

const limits = {
  integration: { minute: 3, hour: 5 },
  device: { minute: 4, hour: 100 },
  partner: { minute: 5, hour: 100 },
  addressMinute: 3,
  ingest: { minute: 4, hour: 100 },
};

test("a 304 reports the current remaining budget", async () => {
  const limiter = new RateLimiter(limits, memoryCounters());
  const key = { id: 1, type: "integration" } as const;
  const told = async (seconds: number) => {
    const { headers } = await limiter.takeUnchanged(key, noon + seconds * 1000);
    const of = (name: string) => headers[headers.indexOf(name) + 1];
    return [of("x-ratelimit-remaining"), of("x-ratelimit-reset"), of("ratelimit")];
  };
  const first = await told(0);
  expect(await told(0)).toEqual(first);
  await limiter.takeForKey(key, "api", noon);
  const second = await told(0);
  const third = await told(1);
  expect([first[0], second[0], third[0]]).toEqual(["3", "2", "2"]);
  expect(new Set([first, second, third].map(([, , state]) => state)).size).toBe(3);
});

test("addresses of one IPv6 /64 share a limit, and a mapped IPv4 address counts as IPv4", async () => {
  const limiter = new RateLimiter(limits, memoryCounters());
  const allowedFrom = async (addresses: string[]) => {
    const verdicts = [];
    for (const address of addresses) verdicts.push((await limiter.takeForAddress(address, noon)).isAllowed);
    return verdicts;
  };
  expect(
    await allowedFrom(["2001:db8:0:1::1", "2001:db8:0:1:2:3:4:5", "2001:db8:0:1:ffff::", "2001:db8:0:1::2"]),
  ).toEqual([true, true, true, false]);
  expect(await allowedFrom(["2001:db8:0:2::1", "2001:db8::1", "::1", "fe80::1%eth0"])).toEqual(Array(4).fill(true));
  expect(await allowedFrom(["192.0.2.1", "::ffff:192.0.2.1", "192.0.2.1", "::ffff:192.0.2.1"])).toEqual([
    true,
    true,
    true,
    false,
  ]);
  expect(await allowedFrom(["::ffff:192.0.2.2"])).toEqual([true]);
});

test("two limiters with the same counters share a limit", async () => {
  const keys = new MemoryCounters(10);
  const shared = { keys, addresses: new MemoryCounters(10) };
  const nodes = [new RateLimiter(limits, shared), new RateLimiter(limits, shared)];
  const verdicts = [];
  for (let count = 0; count < 4; count += 1) {
    const node = nodes[count % 2];
    verdicts.push((await node?.takeForKey({ id: 1, type: "integration" }, "api", noon))?.isAllowed);
  }
  expect(verdicts).toEqual([true, true, true, false]);
});
