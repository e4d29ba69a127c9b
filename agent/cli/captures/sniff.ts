import { Command } from "commander";
import {
  plural,
  printError,
  printJson,
  printLine,
  printTable,
  type Table,
} from "../../../shared/platform/cli/output.ts";
import { parsePositiveInteger } from "../../../shared/platform/cli/options.ts";
import { lineText, type SniffedBytes, type Suggestion, suggest } from "../../devices/detection/detect.ts";
import { type Ranked, rankSuggested } from "../../tools/offline/rank-profiles.ts";
import { readSpool } from "../../spool/access.ts";
import { readStrayBytes } from "../../spool/queries/events/noise.ts";
import { listenTo, SNIFFED_BYTES_MAX } from "../../tools/capture/listen.ts";
import { hexLines } from "../../tools/offline/hex-lines.ts";
import { sniffFolder } from "../../tools/offline/sniff-folder.ts";
import { type ConfigOption, configOption, readConfig } from "../common/options.ts";

interface SniffOptions extends ConfigOption {
  readonly connection?: string;
  readonly device?: string;
  readonly duration: number;
  readonly bytes?: boolean;
  readonly json?: boolean;
}

export const sniffCommand = new Command("sniff")
  .description("suggest serial settings, protocol and profile from bytes that arrive now, or that a device sent")
  .option(
    "--connection <target>",
    "listen without a reply: tcp://host:port (dialled), listen://host:port or serial:PATH; or read the files of folder:PATH",
  )
  .option("--device <id>", "read what a device of the configuration sent outside any message, while the agent runs")
  .option("--duration <seconds>", "time to listen, for each of a serial port's settings", parsePositiveInteger, 20)
  .option("--bytes", "with --device: print the newest 64 kB of these bytes; they may hold names")
  .addOption(configOption())
  .option("--json", "print a JSON array")
  .action(async (options: SniffOptions) => {
    const { connection, device, duration, json } = options;
    if ((connection === undefined) === (device === undefined)) {
      throw new Error(`expected one of --connection and --device, got ${connection === undefined ? "none" : "both"}`);
    }
    const folder = /^folder:(.+)$/.exec(connection ?? "")?.[1];
    if (folder !== undefined) return suggestProfiles(folder, json === true);
    const samples =
      connection === undefined
        ? storedBytes(options, device!, options.bytes === true && json !== true)
        : await listenTo(connection, duration, printError);
    const ranked = rankedSuggestions(samples);
    const suggestions = ranked.map(({ suggestion }) => suggestion);
    if (json) printJson(suggestions);
    else {
      await printTable(suggestionTable, suggestions);
      for (const line of ranked.flatMap(({ profiles }) => profiles.flatMap(evidenceLine))) printLine(line);
    }
    const bytes = samples.reduce((sum, sample) => sum + sample.bytes.length, 0);
    if (suggestions.length === 0) {
      const remedy = bytes === 0 ? "" : ": make a profile of them on the agent's page, under /maker";
      printError(`no known protocol detected in ${plural(bytes, "byte")}${remedy}`);
    } else if (connection !== undefined) printError("suggestions only: the agent sent no reply and changed nothing");
  });

interface RankedSuggestion {
  readonly suggestion: Suggestion;
  readonly profiles: readonly Ranked[];
}

/** Returns all suggestions, the best first, with their profiles by what they read. */
function rankedSuggestions(samples: readonly SniffedBytes[]): RankedSuggestion[] {
  const ranked = samples.flatMap((sample) =>
    suggest([sample]).map((suggestion) => {
      const profiles = rankSuggested(suggestion, sample.bytes);
      return { suggestion: { ...suggestion, profiles: profiles.map(({ profile }) => profile) }, profiles };
    }),
  );
  return ranked.toSorted((one, other) => other.suggestion.score - one.suggestion.score);
}

/** Says what speaks for a profile: `boule-exigo calls itself BM850 (MSH-3.1), reads 17 of 19 rows`. */
function evidenceLine({ profile, named, mark, reading }: Ranked): string[] {
  const rows = reading === null ? 0 : reading.rows.length + reading.leftOut;
  const parts = [
    named === null ? null : `calls itself ${named.text} (${named.place})`,
    mark === "own" ? "writes texts that only this device writes" : null,
    mark === "shared" ? "writes codes that related devices write too" : null,
    rows === 0 ? null : `reads ${reading?.known} of ${plural(rows, "row")}`,
  ].filter((part) => part !== null);
  return parts.length === 0 ? [] : [`${profile}: ${parts.join(", ")}`];
}

async function suggestProfiles(folder: string, json: boolean): Promise<void> {
  const suggestions = await sniffFolder(folder);
  if (json) printJson(suggestions);
  else await printTable(suggestionTable, suggestions);
  if (suggestions.length === 0) printError(`no file of a kind that a profile reads in ${folder}`);
  else printError("suggestions only: the files stay as they are");
}

/** Reads the bytes of a device that belong to no message, and prints what the spool has of them. */
function storedBytes(options: ConfigOption, device: string, showsBytes: boolean): SniffedBytes[] {
  const { data, devices } = readConfig(options);
  if (!devices.some(({ id }) => id === device)) {
    throw new Error(`--device is ${device}, expected one of ${devices.map(({ id }) => id).join(", ")}`);
  }
  const stray = readSpool(data, (db) => readStrayBytes(db, device, SNIFFED_BYTES_MAX));
  if (stray === null) {
    printError(`${device} has sent nothing outside its messages`);
    return [];
  }
  const times = `the first at ${localTime(stray.since)}, the last at ${localTime(stray.at)}`;
  printError(`${device} has sent ${plural(stray.bytes, "byte")} outside its messages: ${times}`);
  for (const { at, bytes } of showsBytes ? stray.chunks : []) {
    printLine(localTime(at));
    for (const line of hexLines(bytes)) printLine(`  ${line}`);
  }
  return [{ line: null, bytes: Buffer.concat(stray.chunks.map(({ bytes }) => bytes)) }];
}

function localTime(at: number): string {
  return new Date(at).toLocaleString("sv-SE");
}

const suggestionTable: Table<Suggestion> = {
  head: ["SCORE", "SERIAL", "PROTOCOL", "PROFILE", "REASONS"],
  cells: ({ score, line, protocol, profiles, reasons }) => {
    const setting = line === null ? "" : lineText(line);
    return [String(score).padStart(3), setting, protocol, profiles.join(" or ") || "no profile", reasons.join("; ")];
  },
};
