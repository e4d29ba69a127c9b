import { Command } from "commander";
import { describe, expect, onTestFinished, test } from "vitest";
import { agentProgram } from "../../../../agent/cli/program.ts";
import { serverProgram } from "../../../../server/cli/program.ts";

/** Thrown before the work of a command, which an example must not do. */
const STOP = new Error("the command would begin");

describe.each([agentProgram, serverProgram])(
  "the command line of the $name",
  ({ name: program, commands, help, examples }) => {
    test(`each command of the ${program} has its name and a description`, async () => {
      for (const [name, load] of commands) {
        const command = await load();
        expect([name, command.description()]).toEqual([command.name(), expect.stringMatching(/^\S/)]);
      }
    });

    test("the help page lists every command, each with a summary", () => {
      expect(Object.keys(help).toSorted()).toEqual([...commands.keys()].toSorted());
      expect(Object.values(help).filter(({ summary }) => !/^\S.{5,50}$/.test(summary))).toEqual([]);
    });

    test.each([...commands.keys()])("each page of %s has an example", async (name) => {
      const command = await commands.get(name)?.();
      const lines = help[name]?.examples ?? [];
      const without = pathsOf(command, name).filter((path) => !lines.some((line) => `${line} `.startsWith(`${path} `)));
      expect(without).toEqual([]);
    });

    const lines = [...examples, ...Object.values(help).flatMap((page) => page.examples)];
    test.each(lines)("the example parses: %s", async (line) => {
      const [name = ""] = line.split(" ");
      const command = await commands.get(name)?.();
      expect(command).toBeDefined();
      const problems: string[] = [];
      const reached: string[] = [];
      const whole = new Command(program)
        .addCommand(withoutExit(command!, problems))
        .hook("preAction", (_whole, parsed) => {
          reached.push(parsed.name());
          throw STOP;
        });
      // Test files of a worker share the commands.
      onTestFinished(() => void (command!.parent = null));
      await whole.parseAsync(wordsOf(line), { from: "user" }).catch((error: Error) => {
        if (error !== STOP) problems.push(error.message);
      });
      expect([problems, reached.length]).toEqual([[], 1]);
    });
  },
);

/** Returns the words of each page that a command has: its own, and those of its subcommands. */
function pathsOf(command: Command | undefined, path: string): string[] {
  return [path, ...(command?.commands ?? []).flatMap((each) => pathsOf(each, `${path} ${each.name()}`))];
}

/** Makes a command report its faults, in place of ending the process. */
function withoutExit(command: Command, problems: string[]): Command {
  command.exitOverride().configureOutput({ writeErr: (text) => void problems.push(text) });
  for (const each of command.commands) withoutExit(each, problems);
  return command;
}

/** Splits a command line as a shell does, with double quotes. */
function wordsOf(line: string): string[] {
  return Array.from(line.matchAll(/"([^"]*)"|\S+/g), ([word, quoted]) => quoted ?? word);
}
