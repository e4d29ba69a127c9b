import fs from "node:fs";
import { Command } from "commander";
import { EXIT_CONFIG } from "../../../shared/platform/cli/exit-codes.ts";
import { printError, printJson, printLine, printTable, type Table } from "../../../shared/platform/cli/output.ts";
import { CommandError } from "../../../shared/platform/cli/program.ts";
import { ownProfile, ownReferences } from "../../devices/index.ts";
import { isOwn } from "../../devices/own/reference.ts";
import { printProfile } from "../../devices/table/document.ts";
import { readProfileText, shippedForm } from "../../devices/table/load.ts";
import { type ConfigOption, configOption, readConfig } from "../common/options.ts";
import { adoptCommand } from "./adopt.ts";
import { exportCommand, importCommand, shipCommand } from "./exchange.ts";

interface Listed {
  readonly profile: string;
  readonly name: string | null;
  /** Devices that are pinned to it. */
  readonly devices: readonly string[];
  /** Null for one that can be used. */
  readonly problem: string | null;
}

const listCommand = new Command("list")
  .description("list the clinic's own profiles with their revisions and devices")
  .addOption(configOption())
  .option("--json", "print a JSON array")
  .action(async (options: ConfigOption & { json?: boolean }) => {
    const { devices } = readConfig(options);
    const pinned = devices.map(({ profile }) => profile).filter(isOwn);
    const listed = [...new Set([...ownReferences(), ...pinned])].map((profile): Listed => {
      const read = ownProfile(profile);
      return {
        profile,
        name: "form" in read ? (read.form.device.name ?? null) : null,
        devices: devices.filter((device) => device.profile === profile).map(({ id }) => id),
        problem: "problems" in read ? read.problems.join("; ") : null,
      };
    });
    if (options.json) return printJson(listed);
    await printTable(table, listed);
  });

const table: Table<Listed> = {
  head: ["PROFILE", "NAME", "DEVICES", "PROBLEM"],
  cells: ({ profile, name, devices, problem }) => [profile, name ?? "", devices.join(" "), problem ?? ""],
};

const showCommand = new Command("show")
  .argument("<profile>", "such as own/acme-x1@3, or a shipped one")
  .description("print a profile as it is used, with its base")
  .addOption(configOption())
  .action((profile: string, options: ConfigOption) => {
    if (isOwn(profile)) readConfig(options);
    const read = isOwn(profile) ? ownProfile(profile) : { form: shippedForm(profile), problems: [] };
    if ("form" in read && read.form !== null) return printText(printProfile(read.form));
    throw new Error(
      ("problems" in read && read.problems.join("\n")) || `there is no profile ${profile} that is a file`,
    );
  });

function printText(text: string): void {
  for (const line of text.trimEnd().split("\n")) printLine(line);
}

const checkCommand = new Command("check")
  .argument("<file>", "a profile's text")
  .description("find every problem of a profile, with its lines")
  .action((file: string) => {
    const read = readProfileText(fs.readFileSync(file, "utf8"), file);
    if ("problems" in read) throw new CommandError(read.problems.map(({ message }) => message).join("\n"), EXIT_CONFIG);
    printError(`${file} is valid: ${read.form.profile}@${read.form.revision}`);
  });

export const profileCommand = new Command("profile")
  .description("the clinic's own profiles of devices")
  .addCommand(listCommand)
  .addCommand(showCommand)
  .addCommand(checkCommand)
  .addCommand(adoptCommand)
  .addCommand(exportCommand)
  .addCommand(importCommand)
  .addCommand(shipCommand);
