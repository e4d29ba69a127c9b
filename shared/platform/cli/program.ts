import { AssertionError } from "node:assert";
import { Command } from "commander";
import { errorCode, errorMessage } from "../../runtime/error-message.ts";
import { rightsAdvice } from "../../files/rights-advice.ts";
import { VERSION } from "../../files/program-files.ts";
import { EXIT_FAILURE, exitCodeLines } from "./exit-codes.ts";
import { endsWithReader, printError } from "./output.ts";

// Runs a command line of subcommands. Each subcommand is a module, which is loaded only if it is named: a help page and the
// version must appear immediately.

export interface ProgramDefinition {
  /** The words that a user types: `vetwire agent`. */
  readonly name: string;
  readonly description: string;
  /** Loaders of the subcommands by name. */
  readonly commands: ReadonlyMap<string, () => Promise<Command>>;
  /** Help of each subcommand by name, in the order of the help page. */
  readonly help: Readonly<Record<string, CommandHelp>>;
  /** Examples of the help page of the program itself, without its name. */
  readonly examples: readonly string[];
}

export interface CommandHelp {
  /** A few words for the list of all commands. */
  readonly summary: string;
  /** Command lines without the name of the program. The page of a subcommand shows the lines with its name. */
  readonly examples: readonly string[];
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
  watchOutput();
  try {
    const words = helpAsOption(args);
    await (await createProgram(definition, words[0])).parseAsync(words, { from: "user" });
  } catch (error) {
    // The reader of a pipe, such as `head`, has closed it.
    if (errorCode(error) === "EPIPE") return;
    printError(failureText(error));
    process.exit(error instanceof CommandError ? error.exitCode : EXIT_FAILURE);
  }
}

/**
 * Handles faults of stdout and stderr, which arrive as events after the write. The reader of a pipe, such as `head`, may close
 * it: a command then ends its work as always, and an endless one ends. A fault of stderr can be reported nowhere.
 */
function watchOutput(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") return endsWithReader() ? process.exit(0) : undefined;
    printError(failureText(error));
    process.exit(EXIT_FAILURE);
  });
  process.stderr.on("error", () => undefined);
}

/** Writes `help messages` as `messages --help`. */
export function helpAsOption(args: readonly string[]): readonly string[] {
  const [first, ...names] = args;
  return first === "help" ? [...names, "--help"] : args;
}

/** Creates the program with the named subcommand; without one, with the names and summaries of all. */
export async function createProgram(definition: ProgramDefinition, name: string | undefined): Promise<Command> {
  const { commands, help, examples } = definition;
  const program = new Command(definition.name)
    .description(definition.description)
    .version(VERSION)
    // `upgrade --version 0.2.0` has a meaning of its own.
    .enablePositionalOptions();
  const load = commands.get(name ?? "");
  if (load === undefined) {
    for (const [command, { summary }] of Object.entries(help)) program.command(command).description(summary);
    program.showHelpAfterError("Add --help for the commands.");
    program.addHelpText("after", section("Examples", examples, definition.name));
    return program.addHelpText("after", section("Exit codes", exitCodeLines));
  }
  const command = await load();
  addExamples(command, definition.name, command.name(), help[command.name()]?.examples ?? []);
  return program.addCommand(command);
}

/** Adds to the page of a command the examples of it and of its subcommands. */
function addExamples(command: Command, program: string, words: string, examples: readonly string[]): void {
  const own = examples.filter((example) => `${example} `.startsWith(`${words} `));
  command.showHelpAfterError("Add --help for options and examples.");
  if (own.length > 0) command.addHelpText("after", section("Examples", own, program));
  for (const each of command.commands) addExamples(each, program, `${words} ${each.name()}`, examples);
}

function section(title: string, lines: readonly string[], prefix = ""): string {
  return ["", `${title}:`, ...lines.map((line) => `  ${prefix} ${line}`.replace(/^ +/, "  "))].join("\n");
}

/** Returns the text of a failure: its message if it is expected, its stack if it is a fault of this program. */
export function failureText(error: unknown): string {
  return isFault(error) ? (error.stack ?? error.message) : (rightsAdvice(error) ?? errorMessage(error));
}

function isFault(error: unknown): error is Error {
  // Node throws a TypeError for an invalid URL, which comes from the user's settings.
  if (errorCode(error) === "ERR_INVALID_URL") return false;
  return [TypeError, RangeError, ReferenceError, AssertionError].some((fault) => error instanceof fault);
}
