import { expect, test } from "vitest";
import { endingKeys, silentSources, worstFlag } from "../../../server/domain/today.ts";
import { noon } from "../harness.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

test("the worst flag of a study is the most severe one, and null without any", () => {
  const flags = (...list: ("normal" | "low" | "high" | "critical" | null)[]) =>
    worstFlag(list.map((flag) => ({ flag })));
  expect([flags(), flags(null), flags(null, "normal"), flags("high", "low"), flags("low", "critical", "high")]).toEqual(
    [null, null, "normal", "high", "critical"],
  );
});

test("an agent is silent after five minutes without a heartbeat", () => {
  const at = (received_at: number) => silentSources([{ name: "reception", received_at, body: {} }], noon);
  expect(at(noon - 5 * MINUTE_MS)).toEqual([]);
  expect(at(noon - 5 * MINUTE_MS - 1)).toEqual([
    { kind: "agent", name: "reception", reason: null, last_at: "2026-11-21T11:54:59.999Z" },
  ]);
});

test("a rolled key keeps its agent alive while the heartbeat of the old key grows old", () => {
  const old = { name: "reception", received_at: noon - 60 * MINUTE_MS, body: {} };
  expect(silentSources([{ ...old, received_at: noon }, old], noon)).toEqual([]);
});

test("a live agent names the devices that it does not reach", () => {
  const devices = [
    { id: "chem-1", state: "cannot connect", reason: "no answer", last_message_at: "2026-11-21T08:00:00.000Z" },
    { id: "hema-1", state: "listening", reason: null },
    { id: "old-agent", connected: false },
  ];
  const heartbeat = { name: "reception", received_at: noon, body: { devices } };
  expect(silentSources([heartbeat], noon)).toEqual([
    { kind: "device", name: "chem-1", reason: "no answer", last_at: "2026-11-21T08:00:00.000Z" },
  ]);
});

test("a key is listed from 30 days before its end, unless a key of the same name works longer", () => {
  const key = (name: string, days: number | null) => ({
    public_id: `${name} ${days}`,
    name,
    expires_at: days === null ? null : noon + days * DAY_MS,
  });
  const keys = [key("a", 30), key("b", 31), key("c", null), key("d", 2), key("d", 300), key("e", 1), key("e", null)];
  expect([...endingKeys(keys, noon), ...endingKeys([key("f", 9), key("g", 3)], noon)].map(({ name }) => name)).toEqual([
    "a",
    "g",
    "f",
  ]);
});
