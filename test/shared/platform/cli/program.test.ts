import { Command } from "commander";
import { describe, expect, test } from "vitest";
import { CommandError, createProgram, failureText, helpAsOption } from "../../../../shared/platform/cli/program.ts";

describe("the program", () => {
  const loaded: string[] = [];
  const load = (name: string) => async () => {
    loaded.push(name);
    return new Command(name).addCommand(new Command("list")).addCommand(new Command("show"));
  };
  const definition = {
    name: "vetwire test",
    description: "a program",
    commands: new Map(["keys", "check"].map((name) => [name, load(name)])),
    help: {
      keys: { summary: "the keys", examples: ["keys list --json", "keys show 1"] },
      check: { summary: "check all", examples: ["check"] },
    },
    examples: ["check"],
  };
  const programFor = async (word: string | undefined) => {
    loaded.length = 0;
    return createProgram(definition, word);
  };

  test("the program loads the named command alone", async () => {
    const program = await programFor("check");
    expect([loaded, program.commands.map((command) => command.name())]).toEqual([["check"], ["check"]]);
  });

  test.each([undefined, "--help", "-V", "chekc", "constructor"])(
    "for %s the program lists all commands and loads none",
    async (word) => {
      const program = await programFor(word);
      const listed = program.commands.map((command) => [command.name(), command.description()]);
      expect([loaded, listed]).toEqual([
        [],
        [
          ["keys", "the keys"],
          ["check", "check all"],
        ],
      ]);
    },
  );

  test("each page shows the examples that start with its words, and the first page the exit codes", async () => {
    expect(pageOf(await programFor(undefined))).toMatch(
      /\nExamples:\n {2}vetwire test check\n\nExit codes:\n {2}0 .*\n {2}1 .*\n {2}78 .*\n$/,
    );
    const [keys] = (await programFor("keys")).commands;
    expect(pageOf(keys)).toMatch(/\nExamples:\n {2}vetwire test keys list --json\n {2}vetwire test keys show 1\n$/);
    expect(pageOf(keys?.commands[0])).toMatch(/\nExamples:\n {2}vetwire test keys list --json\n$/);
  });

  test("help before a command is its page", () => {
    expect(helpAsOption(["help", "keys", "list"])).toEqual(["keys", "list", "--help"]);
    expect([helpAsOption(["help"]), helpAsOption(["keys", "help"])]).toEqual([["--help"], ["keys", "help"]]);
  });
});

/** Returns the help page of a command, with the texts that follow it. */
function pageOf(command: Command | undefined): string {
  let page = "";
  command?.configureOutput({ writeOut: (text) => void (page += text) }).outputHelp();
  return page;
}

describe("the text of a failure", () => {
  test.each([
    [new Error("clinic x does not exist"), "clinic x does not exist"],
    [new CommandError("2 problems\nin agent.yaml", 78), "2 problems\nin agent.yaml"],
    [Object.assign(new Error("ENOENT: no such file"), { code: "ENOENT" }), "ENOENT: no such file"],
    ["a string", "a string"],
  ])("the text of an expected error is its message: %s", (error, text) => {
    expect(failureText(error)).toBe(text);
  });

  test.each([new TypeError("x is not a function"), new RangeError("bad"), new ReferenceError("y is not defined")])(
    "the text of a fault is its stack: %s",
    (error) => {
      expect(failureText(error)).toBe(error.stack);
      expect(failureText(error)).toMatch(/\n +at /);
    },
  );

  test("the text of an invalid URL is its message, since it comes from the user's settings", () => {
    expect(failureText(thrownBy(() => new URL("postgres://:::")))).toBe("Invalid URL");
  });
});

function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  throw new Error("expected an error");
}
