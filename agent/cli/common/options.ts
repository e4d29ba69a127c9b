import path from "node:path";
import { Option } from "commander";
import { EXIT_CONFIG } from "../../../shared/platform/cli/exit-codes.ts";
import { plural } from "../../../shared/platform/cli/output.ts";
import { defaultPlace } from "../../../shared/platform/cli/places.ts";
import { CommandError } from "../../../shared/platform/cli/program.ts";
import { loadConfig } from "../../config/load.ts";
import type { Config } from "../../config/values/schema.ts";
import type { MessageState } from "../../spool/queries/messages/message-outcome.ts";
import { errorCode } from "../../../shared/runtime/error-message.ts";

// Options that several commands of the agent have.

export interface ConfigOption {
  readonly config: string;
}

export function configOption(): Option {
  return new Option("--config <file>", "configuration file").default(defaultPlace("config"));
}

/** Reads the file of `--config`. @throws CommandError with a line for each problem, and exit code 78 */
export function readConfig(options: ConfigOption): Config {
  const result = readConfigFile(options);
  if ("config" in result) return result.config;
  throw asProblems(options.config, result.problems);
}

/** Makes the error that lists the problems of a configuration. */
export function asProblems(
  file: string,
  found: readonly { readonly line: number; readonly message: string }[],
): CommandError {
  const problems = found.map(({ line, message }) => `${file}:${line}: ${message}`);
  return new CommandError([...problems, `${plural(problems.length, "problem")} in ${file}`].join("\n"), EXIT_CONFIG);
}

/** Reads the file of `--config` with its problems. @throws CommandError for a missing file */
export function readConfigFile({ config: file }: ConfigOption): ReturnType<typeof loadConfig> {
  try {
    return loadConfig(file);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
    const expected = "expected the agent's configuration here or by --config";
    throw new CommandError(`${path.resolve(file)}: no such file, ${expected}`, EXIT_CONFIG);
  }
}

/** Creates the parser of a repeatable `--state` with one of the given states. */
export function stateParser(expected: readonly MessageState[]) {
  return (text: string, states: readonly MessageState[]): MessageState[] => {
    const state = expected.find((each) => each === text);
    if (state === undefined) throw new Error(`--state is ${text}, expected one of ${expected.join(", ")}`);
    return [...states, state];
  };
}
