import { expect, test } from "vitest";
import { agentProgram } from "../../../../agent/cli/program.ts";
import { dispatch, vetwireProgram } from "../../../../shared/platform/cli/vetwire.ts";

const bare = { ...agentProgram, commands: new Map(), help: {} };
const load = () => Promise.reject(new Error("no command is loaded"));
const equipped = {
  ...bare,
  commands: new Map(["pair", "doctor", "status"].map((name) => [name, load])),
  help: { pair: { summary: "pair this PC", examples: [] }, doctor: { summary: "find faults", examples: [] } },
};

test.each([
  ["agent status --json", "agent", "status --json"],
  ["server keys list", "server", "keys list"],
  ["help agent", "agent", "help"],
  ["help server keys list", "server", "help keys list"],
  ["doctor --json", "agent", "doctor --json"],
  ["help pair", "agent", "help pair"],
  ["agent agent", "agent", "agent"],
  ["setup", "vetwire", "setup"],
  ["status", "vetwire", "status"],
  ["--version", "vetwire", "--version"],
  ["help", "vetwire", "help"],
  ["", "vetwire", ""],
])("%j is for the program %s with %j", (line, program, words) => {
  const split = (text: string) => text.split(" ").filter((word) => word !== "");
  expect(dispatch(split(line), equipped)).toEqual({ program, words: split(words) });
});

test("a short form exists only if the agent has the command", () => {
  expect(dispatch(["doctor"], bare).program).toBe("vetwire");
  expect(Object.keys(vetwireProgram(bare).help)).toEqual(["agent", "server", "service", "upgrade"]);
  expect(vetwireProgram(equipped).help).toMatchObject({
    pair: { summary: "pair this PC (short for: agent pair)" },
    doctor: { summary: "find faults (short for: agent doctor)" },
  });
  expect(vetwireProgram(equipped).examples).toContain("doctor");
});
