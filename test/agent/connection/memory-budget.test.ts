import { expect, test } from "vitest";
import { MemoryBudget } from "../../../agent/connection/memory-budget.ts";

const MEBIBYTE = 1024 * 1024;

test("the budget counts the bytes of all shares", () => {
  const budget = new MemoryBudget();
  const [first, second] = [budget.share(), budget.share()];
  first.set(100);
  second.set(20);
  first.set(30);
  expect(budget.bytes).toBe(50);
  second.set(0);
  expect(budget.bytes).toBe(30);
});

test("a long message exceeds the budget once all messages together pass it", () => {
  const budget = new MemoryBudget(4 * MEBIBYTE);
  const [first, second] = [budget.share(), budget.share()];
  first.set(2 * MEBIBYTE);
  second.set(2 * MEBIBYTE);
  expect([first.isExceeded(), second.isExceeded()]).toEqual([false, false]);
  second.set(2 * MEBIBYTE + 1);
  expect([first.isExceeded(), second.isExceeded()]).toEqual([true, true]);
});

test("a message of at most 1 MiB never exceeds the budget", () => {
  const budget = new MemoryBudget(4 * MEBIBYTE);
  const [long, short] = [budget.share(), budget.share()];
  long.set(10 * MEBIBYTE);
  short.set(MEBIBYTE);
  expect(short.isExceeded()).toBe(false);
  short.set(MEBIBYTE + 1);
  expect(short.isExceeded()).toBe(true);
});

test("a long message fits again after another message has ended", () => {
  const budget = new MemoryBudget(4 * MEBIBYTE);
  const [first, second] = [budget.share(), budget.share()];
  first.set(3 * MEBIBYTE);
  second.set(3 * MEBIBYTE);
  expect(first.isExceeded()).toBe(true);
  second.set(0);
  expect(first.isExceeded()).toBe(false);
});
