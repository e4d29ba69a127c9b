import { describe, expect, test } from "vitest";
import type { ServiceState } from "../../../../shared/platform/service/platform.ts";
import { type LauncherNotes, serviceStatus, statusLines } from "../../../../shared/platform/service/status.ts";
import { LINUX_AGENT } from "./services.ts";

// Goal: a person reads what a service does, and why it failed. Method: all lines of each state.

const NOW = Date.parse("2026-11-23T17:30:00.000Z");
const NONE: LauncherNotes = { running: null, starts: [], upgrades: [] };

function lines(state: ServiceState, notes: LauncherNotes | null = NONE, name = "vetwire-agent"): string[] {
  const found = {
    is: "installed",
    service: { ...LINUX_AGENT, name },
    state,
    startsWithMachine: true,
    packaged: null,
  } as const;
  return statusLines(serviceStatus(found, notes), NOW);
}

const PLACES = ["  configuration  /etc/vetwire/agent.yaml", "  data           /var/lib/vetwire/agent"];

test("a running service reports its version, and since when it runs", () => {
  const running = { version: "0.2.0", started_at: "2026-11-23T17:00:01.000Z", process: 4711 };
  const state = { is: "running", since: "2026-11-23T17:00:00.000Z", process: 4710 } as const;
  expect(lines(state, { ...NONE, running })).toEqual([
    "vetwire-agent: running since 2026-11-23T17:00:01.000Z",
    "  program        agent 0.2.0",
    ...PLACES,
  ]);
});

test("a user without rights reads how to see more", () => {
  expect(lines({ is: "running", since: null, process: null }, null)).toEqual([
    "vetwire-agent: running",
    "  program        agent",
    ...PLACES,
    "  run this as an administrator to see the version and the last failures",
  ]);
});

test("a failed start is reported in words, once for all equal ones in a row", () => {
  const failed = { started_at: "", version: "0.1.0", code: 1, signal: null };
  const starts = [
    { ...failed, ended_at: "2026-11-23T15:00:00.000Z", sentence: "it was ended by SIGKILL" },
    { ...failed, ended_at: "2026-11-23T17:26:50.000Z", sentence: "port 4001 is taken: choose another" },
    { ...failed, ended_at: "2026-11-23T17:27:00.000Z", sentence: "port 4001 is taken: choose another" },
  ];
  const state = { is: "waiting", code: 1, at: "2026-11-23T17:30:05.000Z" } as const;
  expect(lines(state, { ...NONE, starts })).toEqual([
    "vetwire-agent: failed with code 1, starts again at 2026-11-23T17:30:05.000Z",
    "  program        agent",
    ...PLACES,
    "  last failures",
    "    2026-11-23T17:27:00.000Z, 3 minutes ago, 2 times in a row: port 4001 is taken: choose another",
    "    2026-11-23T15:00:00.000Z, 2 hours ago: it was ended by SIGKILL",
  ]);
});

test("a rolled-back upgrade reports its reason", () => {
  const upgrade = { at: "2026-11-23T16:00:00.000Z", to: "0.3.0", outcome: "rolled back", reason: "it was never ready" };
  expect(lines({ is: "changing" }, { ...NONE, upgrades: [upgrade] })).toContain(
    "  last upgrade   2026-11-23T16:00:00.000Z to 0.3.0: rolled back because it was never ready",
  );
});

describe("a service that does not run reports what to do", () => {
  test.each<[ServiceState, string, string]>([
    [{ is: "stopped" }, "vetwire-agent", 'stopped: start it with "vetwire service start agent"'],
    [{ is: "stopped" }, "lab", 'stopped: start it with "vetwire service start agent --name lab"'],
    [
      { is: "failed", code: 78 },
      "vetwire-agent",
      'failed with code 78 (the configuration is refused): correct the cause, then "vetwire service start agent"',
    ],
    [{ is: "waiting", code: null, at: null }, "vetwire-agent", "failed, starts again in a few seconds"],
    [{ is: "changing" }, "vetwire-agent", "starting or stopping: try again in a few seconds"],
  ])("%j of %s", (state, name, sentence) => {
    expect(lines(state, NONE, name)[0]).toBe(`${name}: ${sentence}`);
  });
});
