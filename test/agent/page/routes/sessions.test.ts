import type { IncomingMessage } from "node:http";
import { expect, onTestFinished, test, vi } from "vitest";
import { Sessions } from "../../../../agent/page/routes/sessions.ts";
import { TestAgent } from "../../../support/peers/running-agent.ts";

// Goal: beyond this machine only the PIN opens the page, nobody can try all PINs, and no stranger shuts the page to others.

const PIN = "7KQM-X2HD-9FVT";
const WRONG = "AAAA-BBBB-CCCC";
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
  const outcome = sessions.enter(request("192.0.2.6"), " 7kqmx2hd 9fvt ", PIN);
  if (outcome.is !== "right") throw new Error("expected a session");
  expect(outcome.cookie).toMatch(/^vetwire_page=[0-9a-f]{64}; HttpOnly; SameSite=Strict; Path=\/; Max-Age=34560000$/);
  const other = request("192.0.2.6", { cookie: `a=b; ${outcome.cookie.split(";")[0]}` });
  expect(sessions.mayEnter(other, PIN)).toBe(true);
  expect(sessions.mayEnter(request("192.0.2.6"), PIN)).toBe(false);
  now = 12 * HOUR_MS;
  expect(sessions.mayEnter(other, PIN)).toBe(false);
});

function triesOf(sessions: Sessions, from: IncomingMessage, times = 20): string[] {
  return Array.from({ length: times }, () => sessions.enter(from, WRONG, PIN).is);
}

test("after 20 wrong PINs of an address even the right one waits there for 15 minutes", () => {
  let now = 0;
  const sessions = new Sessions(() => now);
  const from = request("192.0.2.6");
  expect(triesOf(sessions, from)).toEqual([...Array.from({ length: 19 }, () => "wrong"), "too many"]);
  expect(sessions.enter(from, PIN, PIN).is).toBe("too many");
  now = HOUR_MS / 4 - 1;
  expect(sessions.enter(from, PIN, PIN).is).toBe("too many");
  now += 1;
  expect(sessions.enter(from, PIN, PIN).is).toBe("right");
});

test("wrong PINs of strangers lock out neither another address, nor one of the same proxy, nor this machine", () => {
  const sessions = new Sessions();
  for (let address = 1; address < 250; address += 1) triesOf(sessions, request(`192.0.2.${address}`));
  expect(sessions.enter(request("192.0.2.250"), PIN, PIN).is).toBe("right");
  triesOf(sessions, request("127.0.0.1", { "x-forwarded-for": "203.0.113.1" }));
  expect(sessions.enter(request("127.0.0.1", { "x-forwarded-for": "203.0.113.2" }), PIN, PIN).is).toBe("right");
  triesOf(sessions, request("127.0.0.1"), 50);
  expect(sessions.enter(request("127.0.0.1"), PIN, PIN).is).toBe("right");
});

test("a browser that was in before enters from an address that strangers shut, until 20 wrong PINs of its own", () => {
  let now = 0;
  const sessions = new Sessions(() => now);
  const first = sessions.enter(request("192.0.2.6"), PIN, PIN);
  if (first.is !== "right") throw new Error("expected a session");
  const browser = request("192.0.2.6", { cookie: `${first.cookie.split(";")[0]}` });
  now = 13 * HOUR_MS;
  expect(sessions.mayEnter(browser, PIN)).toBe(false);
  triesOf(sessions, request("192.0.2.6"));
  expect(triesOf(sessions, browser, 19).at(-1)).toBe("wrong");
  expect(sessions.enter(browser, PIN, PIN).is).toBe("right");
  triesOf(sessions, request("192.0.2.6"), 21);
  expect(triesOf(sessions, browser, 21).at(-1)).toBe("too many");
  expect(sessions.enter(browser, PIN, PIN).is).toBe("too many");
  const forged = request("192.0.2.6", { cookie: `vetwire_page=${"0".repeat(64)}` });
  expect(sessions.enter(forged, PIN, PIN).is).toBe("too many");
});

test("without a PIN nothing opens a session", () => {
  expect(new Sessions().enter(request("192.0.2.6"), "", null).is).toBe("wrong");
});

test.each([3, -3])("a clock that is set %i years ahead ends no session and no waiting", (years) => {
  const sessions = new Sessions();
  const outcome = sessions.enter(request("192.0.2.7"), PIN, PIN);
  if (outcome.is !== "right") throw new Error("expected a session");
  triesOf(sessions, request("192.0.2.6"));
  const real = Date.now();
  const clock = vi.spyOn(Date, "now").mockReturnValue(real + years * 365 * 24 * HOUR_MS);
  onTestFinished(() => clock.mockRestore());
  const browser = request("192.0.2.6", { cookie: `${outcome.cookie.split(";")[0]}` });
  expect(sessions.enter(request("192.0.2.6"), PIN, PIN).is).toBe("too many");
  expect(sessions.mayEnter(browser, PIN)).toBe(true);
});

test("the route that takes a PIN reads no long body, which anyone in the network could send", async () => {
  const agent = new TestAgent();
  onTestFinished(() => agent.close());
  await agent.run([]);
  const send = async (pin: string) => {
    const url = `http://127.0.0.1:${agent.host.port}/local/v1/session`;
    const headers = { "content-type": "application/json" };
    return (await fetch(url, { method: "POST", headers, body: JSON.stringify({ pin }) })).status;
  };
  expect([await send(WRONG), await send("A".repeat(2000))]).toEqual([403, 413]);
});
