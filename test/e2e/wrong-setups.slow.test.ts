import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { Bench, type WrongSetup } from "../support/wrong-setups/bench.ts";
import { MACHINE } from "../support/wrong-setups/machine.ts";
import { DEVICE_SIDE } from "../support/wrong-setups/devices.ts";
import { endRealServer, SERVER_SIDE } from "../support/wrong-setups/server.ts";

// Goal: each wrong set-up of a clinic's machine gets its remedy in words. Method: a table of set-ups, each made wrong for real
// (sockets, terminals, disks, certificates, users, a server), and the doctor over it, as a command or as the runner.

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
    const { code, output } = await bench.command("root");
    expect(output).toContain("0 problems, 1 warning");
    expect(code).toBe(0);
  });

  test("the table has at least 30 set-ups that this machine can simulate, and 8 of them run the command", () => {
    expect(table.length).toBeGreaterThanOrEqual(30);
    expect(table.filter(({ runAs }) => runAs !== undefined).length).toBeGreaterThanOrEqual(8);
    expect(new Set(table.map(({ title }) => title)).size).toBe(table.length);
  });

  test.each(table)("$title: $finding", async (setup) => {
    await setup.make(bench);
    bench.writeConfig();
    const { told, code } = await bench.diagnose(setup);
    expect(told).toMatch(setup.remedy);
    expect(code).toBe(setup.runAs === undefined ? null : (setup.code ?? 1));
  });
});
