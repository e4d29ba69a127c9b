import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import type { TitledFinding } from "../../shared/local/doctor.ts";
import { Bench, toldBy, type WrongSetup } from "../support/wrong-setups/bench.ts";
import { MACHINE } from "../support/wrong-setups/machine.ts";
import { DEVICE_SIDE } from "../support/wrong-setups/devices.ts";
import { endRealServer, SERVER_SIDE } from "../support/wrong-setups/server.ts";

// Goal: each wrong set-up of a clinic's machine gets its remedy in words. Method: a table of set-ups, each made wrong for real
// (sockets, terminals, disks, certificates, users, a server). The command says the remedy, and so does the agent's page, unless
// the set-up is one of the command's own user or environment.

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

/** Documented exit codes: 0 without a problem, 1 with one, 78 for a wrong configuration. */
function expectedCode(found: readonly TitledFinding[]): number {
  const problems = found.filter(({ status }) => status === "problem").map(({ id }) => id);
  if (problems.length === 0) return 0;
  return problems.some((id) => /^configuration\.(wrong|missing)$/.test(id)) ? 78 : 1;
}

describe("the doctor", () => {
  test("a right set-up has no problem, and the only warning is that no agent runs", async () => {
    bench.writeConfig();
    const { code, stdout } = await bench.command(undefined);
    expect(stdout).toContain("0 problems, 1 warning");
    expect(code).toBe(0);
  });

  test("the table has at least 30 set-ups that this machine can simulate", () => {
    expect(table.length).toBeGreaterThanOrEqual(30);
    expect(new Set(table.map(({ title }) => title)).size).toBe(table.length);
  });

  test.each(table)("$title: $finding", async (setup) => {
    await setup.make(bench);
    bench.writeConfig();
    const { code, stdout } = await bench.command(setup.runAs);
    expect(stdout).toMatch(setup.remedy);
    const listed = bench.isSameInProcess(setup)
      ? await bench.page()
      : (JSON.parse((await bench.command(setup.runAs, "--json")).stdout) as TitledFinding[]);
    expect(toldBy(listed, setup.finding)).toMatch(setup.remedy);
    expect(code).toBe(expectedCode(listed));
  });
});
