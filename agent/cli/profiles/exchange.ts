import fs from "node:fs";
import { Command } from "commander";
import { collect } from "../../../shared/platform/cli/options.ts";
import { plural, printError, printLine } from "../../../shared/platform/cli/output.ts";
import { analyzersOf } from "../../analyzers.ts";
import type { Config } from "../../config/values/schema.ts";
import { readOperators } from "../../config/values/operator-list.ts";
import { ownProfile } from "../../devices/index.ts";
import { OwnProfiles } from "../../devices/own/own-profiles.ts";
import { readSpool } from "../../spool/access.ts";
import { effectsOf, effectText } from "../../tools/profiles/effects.ts";
import { exportProfile } from "../../tools/profiles/export-profile.ts";
import {
  type About,
  fileNameOf,
  type ReadProfileFile,
  readingOf,
  unpackProfile,
} from "../../tools/profiles/profile-file.ts";
import { shipProfile } from "../../tools/profiles/ship-profile.ts";
import { type ConfigOption, configOption, readConfig } from "../common/options.ts";

interface ExportOptions extends ConfigOption {
  readonly message: readonly string[];
  readonly hide: readonly string[];
  readonly model: string;
  readonly firmware?: string;
  readonly printout?: boolean;
  readonly out?: string;
}

export const exportCommand = new Command("export")
  .argument("<profile>", "such as own/acme-x1@3")
  .description("write an own profile with captures without names into one file, to give it away")
  .addOption(configOption())
  .requiredOption("--message <id>", "message of the device that shows the reading; repeatable", collect, [])
  .requiredOption("--model <text>", "manufacturer and model of the device")
  .option("--firmware <text>", "its version")
  .option("--printout", "a person compared the rows with the device's print-out")
  .option(
    "--hide <text>",
    "a name that the device sends anywhere: of the animal, the owner, the staff; repeatable",
    collect,
    [],
  )
  .option("--out <file>", "file to write; default the profile's name")
  .action((reference: string, options: ExportOptions) => {
    const config = readConfig(options);
    const read = ownProfile(reference);
    if ("problems" in read) throw new Error(read.problems.join("\n"));
    const { message: messages, hide: hidden, model, firmware, printout, out = fileNameOf(read.form) } = options;
    const about: About = {
      model,
      ...(firmware !== undefined && { firmware }),
      evidence: printout ? "printout" : "capture",
      timeZone: config.timeZone,
      receivedAt: Date.now(),
    };
    const devices = analyzersOf(config);
    const request = { profile: read, messages, hidden, about, operators: operatorNames(config) };
    const bytes = readSpool(config.data, (db) => exportProfile(db, config.data, request, (id) => devices.get(id)));
    fs.writeFileSync(out, bytes, { mode: 0o600, flag: "wx" });
    printLine(out);
    printError(
      "names are replaced; numbers, dates and comments are kept: read captures/ in it before you give it away",
    );
  });

function operatorNames({ devices }: Config): string[] {
  const files = devices.flatMap(({ operatorListFile: file }) => (file === undefined ? [] : [file]));
  return [...new Set(files)].flatMap((file) => readOperators(file).flatMap(({ name }) => name ?? []));
}

export const importCommand = new Command("import")
  .argument("<file>", "a .vetwire-profile, or the text of a profile (YAML)")
  .description("check a profile and tell what it does; --yes stores it, and no device uses it before profile adopt")
  .addOption(configOption())
  .option("--yes", "store it")
  .action((file: string, options: ConfigOption & { yes?: boolean }) => {
    const { data } = readConfig(options);
    const read = unpackProfile(fs.readFileSync(file), file);
    for (const line of toldOf(read)) printLine(line);
    if (read.differing.length > 0) {
      throw new Error(
        `${read.differing.join(", ")}: this version reads other rows than the file expects, nothing was stored`,
      );
    }
    if (!options.yes) return printError("nothing was stored: add --yes to store it");
    const reference = new OwnProfiles(data).put(read.form);
    printError(`${reference} is stored: see what it changes with profile adopt ${reference} --device ID`);
  });

function toldOf({ form, profile, captures, about }: ReadProfileFile): string[] {
  const counts = [...captures].map(([name, bytes]) => `${name}: ${readingOf(bytes, profile, about)}`);
  const { model, firmware, evidence } = about;
  const device = firmware === undefined ? model : `${model}, ${firmware}`;
  const proof = captures.size === 0 ? "no capture proves it" : `${evidence}, ${plural(captures.size, "capture")}`;
  return [
    `${form.profile}@${form.revision}: ${device}; ${proof}`,
    ...counts,
    ...effectsOf(form).map(effectText),
    "it has no signature of the project: take it from a sender whom you know",
  ];
}

export const shipCommand = new Command("ship")
  .argument("<file>", "a .vetwire-profile")
  .description("for developers: make it a profile of the project with its fixtures, in the sources of this folder")
  .option("--to <folder>", "folder of the sources", ".")
  .action((file: string, { to }: { to: string }) => {
    const written = shipProfile(to, unpackProfile(fs.readFileSync(file), file));
    for (const each of written) printLine(each);
    printError("next: write the expected studies and the row of the device table, see .github/CONTRIBUTING.md");
  });
