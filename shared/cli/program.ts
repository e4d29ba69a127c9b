import { AssertionError } from "node:assert";
import { Command } from "commander";
import { errorMessage } from "../runtime/error-message.ts";
import { VERSION } from "../runtime/version.ts";
import { printError } from "./output.ts";

// Runs a command line of subcommands. Each subcommand is a module, which is loaded only if it is named.

export interface ProgramDefinition {
  readonly name: string;
  readonly description: string;
  /** Loaders of the subcommands by name, in the order of the help text. */
  readonly commands: ReadonlyMap<string, () => Promise<Command>>;
  readonly renamed: readonly RenamedWords[];
}

/** Words of the command line that have another name. */
export interface RenamedWords {
  /** The command, and the option with or without its value: `simulate --role lis`. */
  readonly old: string;
  readonly now: string;
}

/** An expected failure that ends the program with an exit code other than 1. */
export class CommandError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Runs the subcommand that the arguments name. A failure is printed to stderr and ends the process. */
export async function runProgram(definition: ProgramDefinition, args = process.argv.slice(2)): Promise<void> {
  try {
    const renamed = renamedProblem(definition.renamed, args);
    if (renamed !== null) throw new Error(renamed);
    const program = new Command(definition.name).description(definition.description).version(VERSION);
    for (const command of await loadCommands(definition.commands, args[0])) program.addCommand(command);
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    // The reader of a pipe, such as `head`, has closed it.
    if (error instanceof Error && "code" in error && error.code === "EPIPE") return;
    printError(failureText(error));
    process.exit(error instanceof CommandError ? error.exitCode : 1);
  }
}

/** Loads the named subcommand, or all of them for the help text and for the correction of an unknown name. */
export async function loadCommands(
  commands: ProgramDefinition["commands"],
  name: string | undefined,
): Promise<Command[]> {
  const named = commands.get(name ?? "");
  return named === undefined ? Promise.all([...commands.values()].map((load) => load())) : [await named()];
}

/** @returns a sentence that names the new words, or null if the arguments have no old ones */
export function renamedProblem(renamed: readonly RenamedWords[], args: readonly string[]): string | null {
  // An option and its value may be joined by an equals sign.
  const words = args.flatMap((arg) => (arg.startsWith("--") ? arg.split(/=(.*)/s, 2) : [arg]));
  const found = renamed.find(({ old }) => hasWords(words, old.split(" ")));
  return found === undefined ? null : `${found.old} has a new name: ${found.now}`;
}

/** Whether the words begin with the command of `old`, and its option follows somewhere. */
function hasWords(words: readonly string[], old: readonly string[]): boolean {
  const optionAt = old.findIndex((word) => word.startsWith("--"));
  const command = optionAt < 0 ? old : old.slice(0, optionAt);
  if (command.some((word, index) => words[index] !== word)) return false;
  const option = old.slice(command.length);
  return words.some((_, at) => option.every((word, index) => words[at + index] === word));
}

/** Returns the text of a failure: its message if it is expected, its stack if it is a fault of this program. */
export function failureText(error: unknown): string {
  return isFault(error) ? (error.stack ?? error.message) : errorMessage(error);
}

function isFault(error: unknown): error is Error {
  // Node throws a TypeError for an invalid URL, which comes from the user's settings.
  if (error instanceof TypeError && "code" in error && error.code === "ERR_INVALID_URL") return false;
  return [TypeError, RangeError, ReferenceError, AssertionError].some((fault) => error instanceof fault);
}
