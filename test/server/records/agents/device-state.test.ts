import { Moment } from "../../../../server/operations/alerts/moment.ts";
import { describe, expect, test } from "vitest";
import { agentState, deviceState, longestPause, workingHours } from "../../../../server/records/agents/device-state.ts";
import { needsPerson } from "../../../../server/dashboard/types/devices/devices.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const zone = "Europe/Istanbul"; // UTC+3 all year
/** Monday 2026-11-23, 15:00 in the clinic. */
const now = Date.parse("2026-11-23T12:00:00Z");

/** Times of studies every two hours from 9:00 to 17:00 in the clinic, Monday to Saturday, until `until`. */
function busyWeeks(until: number): number[] {
  const first = Date.parse("2026-10-26T06:00:00Z"); // a Monday, 9:00
  const days = Array.from({ length: 29 }, (_, index) => index).filter((day) => day % 7 !== 6);
  const times = days.flatMap((day) => [0, 2, 4, 6, 8].map((hours) => first + day * DAY + hours * HOUR));
  return times.filter((time) => time <= until);
}

test("an agent runs while it misses at most three heartbeats", () => {
  expect([null, 0, 180_000, 180_001].map((age) => agentState(age === null ? null : now - age, now))).toEqual([
    "never heard",
    "running",
    "running",
    "silent",
  ]);
});

test("the working hours of a weekday are those in which the clinic measured, and a closed day has none", () => {
  const hours = workingHours(busyWeeks(now), now, zone);
  const shown = hours.slice(-3).map(({ from, to }) => [new Date(from).toISOString(), new Date(to).toISOString()]);
  expect(shown).toEqual([
    ["2026-11-20T06:00:00.000Z", "2026-11-20T15:00:00.000Z"],
    ["2026-11-21T06:00:00.000Z", "2026-11-21T15:00:00.000Z"],
    ["2026-11-23T06:00:00.000Z", "2026-11-23T15:00:00.000Z"],
  ]);
  expect(workingHours([], now, zone)).toEqual([]);
});

test("the night between two studies is not a pause of a device", () => {
  const times = busyWeeks(now);
  const hours = workingHours(times, now, zone);
  // From 17:00, the last study of a day, one working hour is left.
  expect(longestPause(times, hours)).toBe(2 * HOUR);
  expect(longestPause(times.slice(-5), hours)).toBe(null);
});

describe("a device", () => {
  const all = busyWeeks(now);
  const hours = workingHours(all, now, zone);
  const state = (device: object, studyTimes: number[] = all, agent: "running" | "silent" = "running") =>
    deviceState({ id: "chem-1", ...device }, { agent, studyTimes, hours, moment: new Moment(now) });

  test("a device is connected, or waited for, while it keeps its rhythm", () => {
    expect([state({ connected: true }), state({ state: "listening" }), state({}, [])]).toEqual([
      { is: "connected" },
      { is: "ready" },
      { is: "never heard" },
    ]);
  });

  test("a device is silent beyond one and a half of its longest pause in working time", () => {
    const untilSaturday = busyWeeks(Date.parse("2026-11-21T14:30:00Z"));
    // Until Monday 15:00 these are one working hour on Saturday and six on Monday.
    expect(state({ connected: true }, untilSaturday)).toEqual({
      is: "silent",
      working_ms: 7 * HOUR,
      longest_ms: 2 * HOUR,
    });
    // A control is a message too.
    expect(state({ last_message_at: "2026-11-23T11:00:00.000Z" }, untilSaturday)).toEqual({ is: "ready" });
    expect(state({}, untilSaturday.slice(-5))).toEqual({ is: "ready" });
  });

  test("a device without a message for more than 14 days is silent, whatever its rhythm", () => {
    expect(state({ last_message_at: "2026-11-09T11:00:00.000Z" }, [])).toMatchObject({
      is: "silent",
      longest_ms: null,
    });
  });

  test("a fault is the agent's reason, and a device that may be switched off is not a fault", () => {
    const reason = "no such port /dev/ttyUSB0";
    const states = [state({ reason }), state({ reason, may_be_off: true })];
    expect(states).toEqual([
      { is: "faulty", reason },
      { is: "off", reason },
    ]);
    expect(states.map(needsPerson)).toEqual([true, false]);
  });

  test("a fault with a code has the words of this server, and one of a code that it lacks those of its agent", () => {
    const known = { code: "PORT.MISSING", values: ["COM3"] };
    const later = { code: "PORT.LATER", values: ["COM3"] };
    expect([state({ reason: "old words", ...known }), state({ reason: "new words", ...later })]).toEqual([
      {
        ...{ is: "faulty", ...known },
        reason: 'no such port COM3: plug its adapter in, or take a path that "agent ports" lists',
      },
      { is: "faulty", reason: "new words", ...later },
    ]);
  });

  test("a device whose last bytes are of another protocol needs a person, as at its agent", () => {
    const foreign = state({ foreign: { bytes: 40, protocol: "HL7" }, connected: true });
    expect([foreign, needsPerson(foreign)]).toEqual([{ is: "foreign", protocol: "HL7" }, true]);
  });

  test("the devices of a silent agent are unknown", () => {
    expect(state({ reason: "no such port", connected: true }, all, "silent")).toEqual({ is: "unknown" });
  });
});
