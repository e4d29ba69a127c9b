import { Command } from "commander";
import { plural, printError, printLine } from "../../shared/cli/output.ts";
import { parsePositiveInteger } from "../../shared/cli/options.ts";
import { lineText, suggest } from "../detection/detect.ts";
import { listenTo } from "../tools/listen.ts";

export const sniffCommand = new Command("sniff")
  .description("listen to a device without a reply, and suggest serial settings, protocol and profile")
  .requiredOption("--connection <target>", "tcp://host:port (dialled), listen://host:port or serial:PATH")
  .option("--duration <seconds>", "time to listen, for each of a serial port's settings", parsePositiveInteger, 20)
  .action(async ({ connection, duration }: { connection: string; duration: number }) => {
    const samples = await listenTo(connection, duration, printError);
    const suggestions = suggest(samples);
    for (const { score, line, protocol, profiles, reasons } of suggestions) {
      const setting = line === null ? [] : [lineText(line)];
      const profile = profiles.join(" or ") || "no profile";
      printLine([String(score).padStart(3), ...setting, protocol, profile, reasons.join("; ")].join("  "));
    }
    const bytes = samples.reduce((sum, sample) => sum + sample.bytes.length, 0);
    if (suggestions.length === 0) printError(`no known protocol detected in ${plural(bytes, "byte")}`);
    else printError("suggestions only: the agent sent no reply and changed nothing");
  });
