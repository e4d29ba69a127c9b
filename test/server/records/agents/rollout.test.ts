import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  endOf,
  type HeardVersion,
  planUpdate,
  type Rollout,
  showRollout,
  skipPc,
  startRollout,
  stepRollout,
  stopRollout,
  wantedVersion,
} from "../../../../server/records/agents/rollout.ts";
import type { UpgradeReport } from "../../../../shared/api/upgrade.ts";
import type { AgentShown } from "../../../../server/dashboard/types/devices/devices.ts";

const TO = "0.2.0";
const AGENTS = ["a", "b", "c"];

const started = (agents: readonly string[] = AGENTS): Rollout =>
  startRollout(
    { version: TO, pcs: agents.map((agent) => ({ agent, name: `PC ${agent}`, from: "0.1.0" })), left: [] },
    0,
  );

const report = (state: string, changes: Partial<UpgradeReport> = {}): UpgradeReport => ({
  ...{ to: TO, state, reason: state === "rolled back" ? "it crashed" : null },
  ...changes,
});

const old = (agent: string, upgrade: UpgradeReport | null = null): HeardVersion => ({
  agent,
  version: "0.1.0",
  upgrade,
});
const now = (agent: string, upgrade: UpgradeReport | null = report("done")): HeardVersion => ({
  ...{ agent, version: TO, upgrade },
});

/** Steps with each heartbeat in turn. */
function after(rollout: Rollout, ...heartbeats: HeardVersion[]): Rollout {
  return heartbeats.reduce((before, heard) => stepRollout(before, heard, 1), rollout);
}

const states = ({ pcs }: Rollout) => pcs.map(({ state }) => state);
const wanted = (rollout: Rollout) => AGENTS.filter((agent) => wantedVersion(rollout, agent) === TO);

describe("a roll-out", () => {
  test("offers the version to one PC, and to the next only after it reports the version and done", () => {
    let rollout = after(started(), old("b"), old("c"));
    expect(wanted(rollout)).toEqual([]);
    rollout = after(rollout, old("a"));
    expect(wanted(rollout)).toEqual(["a"]);
    rollout = after(rollout, old("b"), old("a", report("preparing")), now("a", report("trying")), old("b"));
    expect([states(rollout), wanted(rollout)]).toEqual([["offered", "waiting", "waiting"], ["a"]]);
    rollout = after(rollout, now("a"), old("b"));
    expect([states(rollout), wanted(rollout)]).toEqual([["done", "offered", "waiting"], ["b"]]);
    rollout = after(rollout, now("b"), old("c"), now("c"));
    expect([states(rollout), endOf(rollout)]).toEqual([["done", "done", "done"], "done"]);
  });

  test("stops at the first PC that reports a rollback, and the rest keep their version", () => {
    const failed = report("rolled back", { reason: "the server responded to none of its heartbeats" });
    const rollout = after(started(), old("a"), now("a"), old("b"), old("b", failed), old("c"), old("b"));
    expect([states(rollout), endOf(rollout), wanted(rollout)]).toEqual([
      ["done", "rolled back", "waiting"],
      "rolled back",
      [],
    ]);
    expect(rollout.pcs[1]?.reason).toBe(failed.reason);
    const shown = showRollout(rollout, "ada", []);
    expect(shown.pcs.map((pc) => pc.state)).toEqual(["done", "rolled back", "kept"]);
  });

  test("wants the version of a PC that refused it until it is done or skipped, and of no other one", () => {
    const refused = report("refused", { reason: "the disk is full", at: "2026-11-23T12:00:00.000Z" });
    const rollout = after(started(), old("a"), old("a", refused), old("b"), old("a", refused));
    expect([states(rollout), wanted(rollout)]).toEqual([["offered", "waiting", "waiting"], ["a"]]);
    const again = after(rollout, old("a", report("preparing")), now("a"), old("b"));
    expect([states(again), wanted(again)]).toEqual([["done", "offered", "waiting"], ["b"]]);
    const skipped = skipPc(rollout, "a", 2) as Rollout;
    expect(wanted(after(skipped, old("a", refused), old("b")))).toEqual(["b"]);
    expect(endOf(after(rollout, old("a", report("rolled back"))))).toBe("rolled back");
  });

  test("takes no report of an earlier upgrade for one of this offer, and the same failure twice for two", () => {
    const earlier = report("rolled back", { reason: "it crashed" });
    let rollout = after(started(), old("a", earlier), old("a", earlier));
    expect([states(rollout)[0], endOf(rollout)]).toEqual(["offered", "running"]);
    expect(endOf(after(rollout, old("a", { ...earlier, at: "2026-11-23T12:00:00.000Z" })))).toBe("rolled back");
    rollout = after(rollout, old("a", report("preparing")), old("a", earlier));
    expect(endOf(rollout)).toBe("rolled back");
  });

  test("counts a PC that somebody upgraded by hand", () => {
    const rollout = after(started(), now("a", null), {
      agent: "b",
      version: "0.3.0",
      upgrade: report("done", { to: "0.3.0" }),
    });
    expect(states(rollout)).toEqual(["done", "done", "waiting"]);
  });

  test("ends at a stop, offers nothing more, and notes how the upgrade under way ended", () => {
    const stopped = stopRollout(after(started(), old("a")), 2) as Rollout;
    expect([endOf(stopped), wanted(stopped)]).toEqual(["stopped", []]);
    expect(stopRollout(stopped, 3)).toBeUndefined();
    const later = after(stopped, now("a"), old("b"));
    expect([states(later), endOf(later)]).toEqual([["done", "waiting", "waiting"], "stopped"]);
  });

  test("leaves out the PC whose turn it is, and no other one", () => {
    const rollout = after(started(), old("a"));
    expect(skipPc(rollout, "b", 2)).toBeUndefined();
    const skipped = skipPc(rollout, "a", 2) as Rollout;
    expect(wanted(after(skipped, old("a"), old("b")))).toEqual(["b"]);
    // It took the offer before, and its PC was switched off.
    expect(endOf(after(skipped, old("b"), old("a", report("rolled back"))))).toBe("rolled back");
    expect(states(after(skipped, now("a")))[0]).toBe("done");
  });

  test("distinguishes a report of a rollback that follows done", () => {
    expect(endOf(after(started(["a"]), old("a"), now("a"), old("a", report("rolled back"))))).toBe("rolled back");
  });

  test("a heartbeat that changes nothing writes nothing", () => {
    const rollout = after(started(), old("a"), old("a", report("preparing")));
    for (const heard of [old("a", report("preparing")), old("b"), old("stranger")]) {
      expect(stepRollout(rollout, heard, 9)).toBe(rollout);
    }
  });
});

// Method: random heartbeats and commands on a roll-out of three PCs. The properties hold after each.
type Event = { is: "heard"; heard: HeardVersion } | { is: "skip"; agent: string } | { is: "stop" };

const anyAgent = fc.constantFrom(...AGENTS, "stranger");
const anyUpgrade = fc.option(
  fc.record({
    to: fc.constantFrom("0.1.5", TO, "0.3.0"),
    state: fc.constantFrom("preparing", "trying", "done", "rolled back", "refused", "of a later agent"),
    reason: fc.option(fc.constant("why")),
  }),
);
const anyHeard = fc.record({
  agent: anyAgent,
  version: fc.option(fc.constantFrom("0.1.0", TO, "0.3.0", "no version")),
  upgrade: anyUpgrade,
});
const anyEvent: fc.Arbitrary<Event> = fc.oneof(
  { weight: 20, arbitrary: fc.record({ is: fc.constant("heard" as const), heard: anyHeard }) },
  { weight: 2, arbitrary: fc.record({ is: fc.constant("skip" as const), agent: anyAgent }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant("stop" as const) }) },
);

function apply(rollout: Rollout, event: Event): Rollout {
  if (event.is === "heard") return stepRollout(rollout, event.heard, 1);
  return (event.is === "stop" ? stopRollout(rollout, 1) : skipPc(rollout, event.agent, 1)) ?? rollout;
}

test("whatever the agents report, one PC at most is wanted, none after the end, and none before those ahead of it are through", () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 60 }), (events) => {
      let rollout = started();
      for (const event of events) {
        const before = rollout;
        rollout = apply(before, event);
        const open = wanted(rollout);
        expect(open.length).toBeLessThanOrEqual(1);
        const ahead = rollout.pcs.slice(0, Math.max(0, AGENTS.indexOf(open[0] ?? "")));
        const changed = rollout.pcs.filter((pc, index) => pc !== before.pcs[index]);
        const isOwn = event.is !== "heard" || changed.every((pc) => pc.agent === event.heard.agent);
        expect({
          wantsAfterEnd: endOf(rollout) !== "running" && open.length > 0,
          notThrough: ahead.filter(({ state }) => state !== "done" && state !== "skipped"),
          goesOnAfterRollback: endOf(before) === "rolled back" && endOf(rollout) !== "rolled back",
          changesOthers: changed.length > 1 || !isOwn,
        }).toEqual({ wantsAfterEnd: false, notThrough: [], goesOnAfterRollback: false, changesOthers: false });
        expect(rollout.pcs.map((pc) => pc.agent)).toEqual(AGENTS);
      }
    }),
    { numRuns: 500 },
  );
});

test("agents that all succeed are all upgraded, in their order", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...AGENTS), { minLength: 100, maxLength: 200 }), (turns) => {
      let rollout = started();
      const updated: string[] = [];
      for (const agent of [...turns, ...AGENTS, ...AGENTS, ...AGENTS, ...AGENTS]) {
        const isNew = updated.includes(agent);
        rollout = stepRollout(rollout, isNew ? now(agent) : old(agent), 1);
        if (wantedVersion(rollout, agent) !== undefined && !isNew) updated.push(agent);
      }
      expect([updated, endOf(rollout)]).toEqual([AGENTS, "done"]);
    }),
    { numRuns: 100 },
  );
});

const pc = (name: string, changes: Partial<AgentShown> = {}): AgentShown => ({
  ...{ key: { id: `key_${name}`, name }, fp: name, configuration: "unknown", paired_at: null, is_revoked: false },
  ...{
    is: "running",
    last_seen_at: null,
    version: "0.1.0",
    platform: "linux-x64",
    upgrade: null,
    clock_offset_s: null,
  },
  ...{ outbox: null, devices: [], callers: [] },
  ...changes,
});

describe("the plan of a roll-out", () => {
  const releases = ["0.1.9", "0.1.10"].flatMap((version) => [
    { version, platform: "linux-x64" },
    ...(version === "0.1.9" ? [{ version, platform: "win-x64" }] : []),
  ]);

  test("names the newest version, the older PCs that run first, and why others are left", () => {
    const plan = planUpdate(
      [
        pc("off", { is: "silent" }),
        pc("desk"),
        pc("new", { version: "0.1.10" }),
        pc("newer", { version: "0.2.0" }),
        pc("gone", { is_revoked: true }),
        pc("unknown", { fp: null }),
        pc("windows", { platform: "win-x64" }),
        pc("source", { platform: null, version: null }),
        pc("failed", { upgrade: { to: "0.1.10", state: "rolled back", reason: "x" } }),
        pc("full", { upgrade: { to: "0.1.10", state: "refused", reason: "the disk is full" } }),
      ],
      releases,
    );
    expect(plan?.version).toBe("0.1.10");
    expect(plan?.pcs.map(({ agent }) => agent)).toEqual(["desk", "full", "off"]);
    expect(plan?.left.map(({ name, why }) => `${name} ${why}`)).toEqual([
      "windows no package",
      "source by hand",
      "failed rolled back",
    ]);
  });

  test("is null without a release", () => {
    expect(planUpdate([pc("desk")], [])).toBeNull();
  });
});

test("the page shows the progress of the PC whose turn it is, and its silence", () => {
  const rollout = after(started(), old("a", report("refused")));
  const shown = (agent: Partial<AgentShown>, of = rollout) => showRollout(of, "ada", [pc("a", agent)]).pcs[0]?.state;
  expect(shown({}, started())).toBe("waiting");
  expect(shown({ upgrade: report("refused") })).toBe("asked");
  expect(shown({ upgrade: report("preparing") })).toBe("preparing");
  const refused = { upgrade: report("refused", { reason: "the disk is full" }) };
  expect(showRollout(rollout, "ada", [pc("a", refused)]).pcs[0]).toMatchObject({
    state: "refused",
    reason: "the disk is full",
  });
  expect(shown({ upgrade: report("trying"), version: TO })).toBe("trying");
  expect(shown({ is: "silent" })).toBe("silent");
  expect(shown({ is_revoked: true })).toBe("silent");
  expect(showRollout(rollout, "ada", []).pcs.map(({ state }) => state)).toEqual(["silent", "waiting", "waiting"]);
});
