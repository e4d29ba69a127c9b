import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { agentProgram } from "../../../agent/cli/program.ts";
import { serverProgram } from "../../../server/cli/program.ts";
import { renamedProblem } from "../../../shared/cli/program.ts";

describe.each([agentProgram, serverProgram])(
  "the command line of the $name",
  ({ name: program, commands, renamed }) => {
    test(`each command of the ${program} has its name and a description`, async () => {
      for (const [name, load] of commands) {
        const command = await load();
        expect([name, command.description()]).toEqual([command.name(), expect.stringMatching(/^\S/)]);
      }
    });

    test.each(renamed)(`the old name $old of the ${program} has an existing new name: $now`, async ({ old, now }) => {
      const words = now.split(" ");
      const command = await commandOf(commands, words);
      const known = command.options.map(({ long }) => long);
      expect(words.filter((word) => word.startsWith("--") && !known.includes(word))).toEqual([]);
      expect([renamedProblem(renamed, old.split(" ")), renamedProblem(renamed, words)]).toEqual([
        `${old} has a new name: ${now}`,
        null,
      ]);
    });
  },
);

/** Returns the command or subcommand at the beginning of the words. */
async function commandOf(commands: ReadonlyMap<string, () => Promise<Command>>, words: readonly string[]) {
  const [name = "", subcommand] = words;
  const command = await commands.get(name)?.();
  if (command === undefined) throw new Error(`expected a command ${name}`);
  if (command.commands.length === 0) return command;
  const found = command.commands.find((each) => each.name() === subcommand);
  if (found === undefined) throw new Error(`expected a command ${name} ${subcommand}`);
  return found;
}
