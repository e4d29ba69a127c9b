import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { SessionsToFinish } from "../../../agent/spool/sessions-to-finish.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

function createSessions() {
  const finished: (readonly number[])[] = [];
  return { sessions: new SessionsToFinish((ids) => finished.push(ids)), finished };
}

test("sessions that end within 200 ms are finished together", () => {
  const { sessions, finished } = createSessions();
  sessions.add(1);
  vi.advanceTimersByTime(199);
  sessions.add(2);
  expect(finished).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(finished).toEqual([[1, 2]]);
  expect(sessions.isEmpty).toBe(true);
});

test("a session that is resumed in time is not finished", () => {
  const { sessions, finished } = createSessions();
  sessions.add(1);
  expect(sessions.resume(1)).toBe(true);
  vi.advanceTimersByTime(200);
  expect(finished).toEqual([]);
});

test("a finished session cannot be resumed", () => {
  const { sessions, finished } = createSessions();
  sessions.add(1);
  sessions.finishNow();
  expect(finished).toEqual([[1]]);
  expect(sessions.resume(1)).toBe(false);
  vi.advanceTimersByTime(200);
  expect(finished).toEqual([[1]]);
});

test("a session that ends after an early finish gets the full delay", () => {
  const { sessions, finished } = createSessions();
  sessions.add(1);
  vi.advanceTimersByTime(100);
  sessions.finishNow();
  sessions.add(2);
  vi.advanceTimersByTime(199);
  expect(finished).toEqual([[1]]);
  vi.advanceTimersByTime(1);
  expect(finished).toEqual([[1], [2]]);
});
