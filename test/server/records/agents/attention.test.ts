import { Moment } from "../../../../server/operations/alerts/moment.ts";
import { expect, test } from "vitest";
import { endingKeys, type HeardAgent, silentSources, worstFlag } from "../../../../server/records/agents/attention.ts";
import type { AgentShown, DeviceState } from "../../../../server/dashboard/types/devices/devices.ts";
import { noon } from "../../harness.ts";

const DAY_MS = 86_400_000;

test("the worst flag of a study is the most severe one, and null without any", () => {
  const flags = (...list: ("normal" | "low" | "high" | "critical" | null)[]) =>
    worstFlag(list.map((flag) => ({ flag })));
  expect([flags(), flags(null), flags(null, "normal"), flags("high", "low"), flags("low", "critical", "high")]).toEqual(
    [null, null, "normal", "high", "critical"],
  );
});

const agent = (name: string, is: AgentShown["is"], ...states: DeviceState[]): AgentShown => ({
  key: { id: `key_${name}_${is}`, name },
  ...{ fp: null, configuration: "unknown" as const, paired_at: null, is_revoked: false },
  is,
  last_seen_at: "2026-11-21T11:00:00.000Z",
  ...{ version: null, platform: null, upgrade: null, clock_offset_s: null, outbox: null, callers: [] },
  devices: states.map((state, index) => ({
    ...{ id: `dev-${index}`, name: index === 0 ? "VetScan" : null, profile: null, protocol: null, connection: null },
    ...{ state, last_message_at: null, last_warning: null, study_name: null, today: null },
  })),
});

const heard = (shown: AgentShown, line = shown.key.id) => ({ shown, line, heard: {} });
const keyOf = ({ shown: { key }, line }: HeardAgent) => ({ public_id: key.id, line, name: key.name, expires_at: null });

test("a silent agent is listed once, unless its key was revoked or its successor runs", () => {
  const names = (agents: HeardAgent[], keys = agents.map(keyOf)) => silentSources(agents, keys).map(({ name }) => name);
  const [silent, running] = [heard(agent("desk", "silent"), "first"), agent("desk", "running")];
  expect(names([silent, heard(agent("lab", "never heard")), heard(agent("xray", "running"))])).toEqual(["desk"]);
  expect(names([silent, heard(running, "first")])).toEqual([]);
  expect(names([silent, heard(running, "of another PC")])).toEqual(["desk"]);
  expect(names([silent], [])).toEqual([]);
});

test("a live agent names its faulty and silent devices, a silent agent names itself alone", () => {
  const states: DeviceState[] = [
    { is: "faulty", reason: "no answer" },
    { is: "silent", working_ms: 1, longest_ms: null },
    { is: "connected" },
    { is: "off", reason: "switched off" },
  ];
  const found = (is: AgentShown["is"]) => {
    const desk = heard(agent("desk", is, ...states));
    return silentSources([desk], [keyOf(desk)]);
  };
  expect(found("running")).toEqual([
    { kind: "device", name: "VetScan", reason: "no answer", last_at: null },
    { kind: "device", name: "dev-1", reason: null, last_at: null },
  ]);
  expect(found("silent").map(({ kind }) => kind)).toEqual(["agent"]);
});

test("a key is listed from 30 days before its end, unless its successor works longer", () => {
  const key = (name: string, days: number | null) => ({
    public_id: `${name} ${days}`,
    ...{ line: name, name },
    expires_at: days === null ? null : noon + days * DAY_MS,
  });
  const keys = [
    key("a", 30),
    key("b", 31),
    key("c", null),
    key("d", 2),
    key("d", 300),
    key("e", 1),
    key("e", null),
    key("h", -1),
  ];
  expect(
    [...endingKeys(keys, new Moment(noon)), ...endingKeys([key("f", 9), key("g", 3)], new Moment(noon))].map(
      ({ name }) => name,
    ),
  ).toEqual(["a", "g", "f"]);
});
