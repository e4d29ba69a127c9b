import { Command } from "commander";
import { plural, printError, printJson, printTable, type Table } from "../../shared/cli/output.ts";
import { parsePositiveInteger } from "../../shared/cli/options.ts";
import { lineText, type Suggestion, suggest } from "../detection/detect.ts";
import { listenTo } from "../tools/listen.ts";

export const sniffCommand = new Command("sniff")
  .description("listen to a device without a reply, and suggest serial settings, protocol and profile")
  .requiredOption("--connection <target>", "tcp://host:port (dialled), listen://host:port or serial:PATH")
  .option("--duration <seconds>", "time to listen, for each of a serial port's settings", parsePositiveInteger, 20)
  .option("--json", "print a JSON array")
  .action(async ({ connection, duration, json }: { connection: string; duration: number; json?: boolean }) => {
    const samples = await listenTo(connection, duration, printError);
    const suggestions = suggest(samples);
    if (json) printJson(suggestions);
    else await printTable(suggestionTable, suggestions);
    const bytes = samples.reduce((sum, sample) => sum + sample.bytes.length, 0);
    if (suggestions.length === 0) printError(`no known protocol detected in ${plural(bytes, "byte")}`);
    else printError("suggestions only: the agent sent no reply and changed nothing");
  });

const suggestionTable: Table<Suggestion> = {
  head: ["SCORE", "SERIAL", "PROTOCOL", "PROFILE", "REASONS"],
  cells: ({ score, line, protocol, profiles, reasons }) => {
    const setting = line === null ? "" : lineText(line);
    return [String(score).padStart(3), setting, protocol, profiles.join(" or ") || "no profile", reasons.join("; ")];
  },
};
