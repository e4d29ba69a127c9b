import type { IncomingMessage } from "node:http";
import { expect, onTestFinished, test, vi } from "vitest";
import { Sessions } from "../../../../agent/page/routes/sessions.ts";

// Goal: beyond this machine only the PIN opens the page, and nobody can try all PINs.

const PIN = "01234567";
const HOUR_MS = 60 * 60_000;

function request(remoteAddress: string, headers: Record<string, string> = {}): IncomingMessage {
  return { socket: { remoteAddress, localAddress: "192.0.2.5" }, headers } as unknown as IncomingMessage;
}

test.each([
  ["127.0.0.1", {}, true],
  ["::ffff:127.0.0.1", {}, true],
  ["::1", {}, true],
  ["192.0.2.5", {}, true],
  ["::ffff:192.0.2.5", {}, true],
  ["192.0.2.6", {}, false],
  ["", {}, false],
  ["127.0.0.1", { "x-forwarded-for": "192.0.2.6" }, false],
  ["192.0.2.6", { cookie: "vetwire_page=" }, false],
  ["192.0.2.6", { cookie: `vetwire_page=${"0".repeat(64)}` }, false],
])("a request of %s with %j enters without a PIN: %s", (address, headers, may) => {
  expect(new Sessions().mayEnter(request(address, headers), PIN)).toBe(may);
});

test("the PIN opens a session of 12 hours, for the browser alone that entered it", () => {
  let now = 0;
  const sessions = new Sessions(() => now);
  const outcome = sessions.enter(PIN, PIN);
  if (outcome.is !== "right") throw new Error("expected a session");
  expect(outcome.cookie).toMatch(/^vetwire_page=[0-9a-f]{64}; HttpOnly; SameSite=Strict; Path=\/; Max-Age=43200$/);
  const other = request("192.0.2.6", { cookie: `a=b; ${outcome.cookie.split(";")[0]}` });
  expect(sessions.mayEnter(other, PIN)).toBe(true);
  expect(sessions.mayEnter(request("192.0.2.6"), PIN)).toBe(false);
  now = 12 * HOUR_MS;
  expect(sessions.mayEnter(other, PIN)).toBe(false);
});

test("after five wrong PINs even the right one waits 15 minutes", () => {
  let now = 0;
  const sessions = new Sessions(() => now);
  const tries = Array.from({ length: 5 }, () => sessions.enter("76543210", PIN).is);
  expect(tries).toEqual(["wrong", "wrong", "wrong", "wrong", "too many"]);
  expect(sessions.enter(PIN, PIN).is).toBe("too many");
  now = HOUR_MS / 4 - 1;
  expect(sessions.enter(PIN, PIN).is).toBe("too many");
  now += 1;
  expect(sessions.enter(PIN, PIN).is).toBe("right");
});

test("without a PIN nothing opens a session", () => {
  expect(new Sessions().enter("", null).is).toBe("wrong");
});

test.each([3, -3])("a clock that is set %i years ahead ends no session and no waiting", (years) => {
  const sessions = new Sessions();
  const outcome = sessions.enter(PIN, PIN);
  if (outcome.is !== "right") throw new Error("expected a session");
  for (let wrong = 0; wrong < 5; wrong++) sessions.enter("76543210", PIN);
  const real = Date.now();
  const clock = vi.spyOn(Date, "now").mockReturnValue(real + years * 365 * 24 * HOUR_MS);
  onTestFinished(() => clock.mockRestore());
  const browser = request("192.0.2.6", { cookie: `${outcome.cookie.split(";")[0]}` });
  expect(sessions.enter(PIN, PIN).is).toBe("too many");
  expect(sessions.mayEnter(browser, PIN)).toBe(true);
});
