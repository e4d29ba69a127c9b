import { expect, test } from "vitest";
import { SecondChanceCache } from "../../../../server/http/response-cache/second-chance-cache.ts";

test("a value that is read survives eviction, and the bytes stay below the bound", () => {
  const cache = new SecondChanceCache<number>(10_000);
  for (let index = 0; index < 20; index += 1) {
    cache.set(`url ${index}`, index, 2000);
    expect(cache.get("url 0")).toBe(0);
    expect(cache.bytes).toBeLessThanOrEqual(10_000);
  }
  expect(cache.get("url 19")).toBe(19);
  expect(cache.get("url 10")).toBe(undefined);
});

test("a value that is read once is spared once", () => {
  const cache = new SecondChanceCache<number>(3);
  for (const [index, name] of ["a", "b", "c"].entries()) cache.set(name, index, 1);
  cache.get("a");
  cache.set("d", 3, 1);
  expect(["c", "d"].map((name) => cache.get(name))).toEqual([2, 3]);
  cache.set("e", 4, 1);
  cache.set("f", 5, 1);
  expect(cache.get("a")).toBe(undefined);
});

test("a new value under the same name replaces the old one and its bytes", () => {
  const cache = new SecondChanceCache<string>(10);
  cache.set("a", "old", 9);
  cache.set("a", "new", 4);
  expect([cache.get("a"), cache.bytes]).toEqual(["new", 4]);
});

test("a value larger than the bound is not kept", () => {
  const cache = new SecondChanceCache<string>(10);
  cache.set("a", "large", 11);
  expect([cache.get("a"), cache.bytes]).toEqual([undefined, 0]);
});
