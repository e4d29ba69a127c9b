import { Command } from "commander";
import { describe, expect, test } from "vitest";
import { CommandError, failureText, loadCommands, renamedProblem } from "../../../shared/cli/program.ts";

describe("the loader of commands", () => {
  const loaded: string[] = [];
  const commands = new Map(
    ["run", "check"].map((name) => [
      name,
      async () => {
        loaded.push(name);
        return new Command(name);
      },
    ]),
  );
  const namesLoadedFor = async (argument: string | undefined) => {
    loaded.length = 0;
    const found = await loadCommands(commands, argument);
    expect(found.map((command) => command.name())).toEqual(loaded);
    return loaded.join(" ");
  };

  test("the loader loads only the named command", async () => {
    expect(await namesLoadedFor("check")).toBe("check");
  });

  test.each([undefined, "--help", "help", "chekc", "constructor"])(
    "the loader loads all commands for the argument %s",
    async (argument) => {
      expect(await namesLoadedFor(argument)).toBe("run check");
    },
  );
});

describe("an old name", () => {
  const renamed = [
    { old: "record", now: "record-association" },
    { old: "unmatched undo", now: "unmatched reopen" },
    { old: "sniff --seconds", now: "sniff --duration" },
    { old: "simulate --role lis", now: "simulate --role host" },
  ];

  test.each([
    ["record --listen 1", "record has a new name: record-association"],
    ["unmatched undo cds_1", "unmatched undo has a new name: unmatched reopen"],
    ["sniff --connection x --seconds 5", "sniff --seconds has a new name: sniff --duration"],
    ["sniff --seconds=5", "sniff --seconds has a new name: sniff --duration"],
    ["simulate --role lis", "simulate --role lis has a new name: simulate --role host"],
    ["simulate --role=lis", "simulate --role lis has a new name: simulate --role host"],
  ])("the old name in %j is an error with the new one", (line, sentence) => {
    expect(renamedProblem(renamed, line.split(" "))).toBe(sentence);
  });

  test.each(["", "record-association", "unmatched reject undo", "replay --seconds 5", "simulate --role host lis"])(
    "%j holds no old name",
    (line) => {
      expect(renamedProblem(renamed, line.split(" "))).toBeNull();
    },
  );
});

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
