import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { Bench, toldBy, type WrongSetup } from "../../support/wrong-setups/bench.ts";
import { MACHINE } from "../../support/wrong-setups/machine.ts";
import { DEVICE_SIDE } from "../../support/wrong-setups/devices.ts";
import { endRealServer, SERVER_SIDE } from "../../support/wrong-setups/server.ts";

// Goal: each wrong set-up of a clinic's machine gets its remedy in words. Method: a table of set-ups, each made wrong for real
// (sockets, terminals, disks, certificates, users, a server). The agent's page shows the remedy, or the command does if its own
// user or environment is wrong.

const ALL: readonly WrongSetup[] = [...MACHINE, ...SERVER_SIDE, ...DEVICE_SIDE];
const IMPOSSIBLE = ALL.flatMap(({ title, cannot = () => null }) => {
  const why = cannot();
  return why === null ? [] : [`${title}: ${why}`];
});
for (const line of IMPOSSIBLE) process.stdout.write(`wrong set-up, not simulated: ${line}\n`);
const table = ALL.filter(({ cannot = () => null }) => cannot() === null);

let bench: Bench;

beforeEach(async () => {
  bench = await Bench.create();
});

afterEach(() => bench.close());

afterAll(endRealServer);

describe("the doctor", () => {
  test("a right set-up has no problem, and the only warning is that no agent runs", async () => {
    bench.writeConfig();
    const { code, stdout } = await bench.command(undefined);
    expect(stdout).toContain("0 problems, 1 warning");
    expect(code).toBe(0);
  });

  test.each(table)("$title: $finding", async (setup) => {
    await setup.make(bench);
    bench.writeConfig();
    const found = bench.isSameInProcess(setup) ? await bench.page() : await bench.found(setup.runAs);
    expect(toldBy(found, setup.finding)).toMatch(setup.remedy);
  });

  test("the command prints each finding with its remedy, and ends with the documented code", async () => {
    const config = bench.config;
    bench.config = { ...config, dat: "./data" };
    bench.writeConfig();
    const wrong = await bench.command(undefined);
    expect(wrong.code).toBe(78);
    expect(wrong.stdout).toMatch(/did you mean data\?[^]*-> correct line \d+/);
    bench.config = config;
    bench.setServer("http://vetwire-server.invalid:8080");
    bench.writeConfig();
    const away = await bench.command(undefined);
    expect(away.code).toBe(1);
    expect(away.stdout).toContain("-> compare server.url in agent.yaml with the address of the dashboard");
  });
});
