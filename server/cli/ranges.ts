import { writeFileSync } from "node:fs";
import { Command } from "commander";
import { type ClinicRange, rangeCells, rangeText } from "../../shared/clinical/clinic-ranges.ts";
import { plural, printError, printJson, printLine, printTable, type Table } from "../../shared/platform/cli/output.ts";
import type { RangeDifference } from "../dashboard/types/settings/ranges.ts";
import { readTextFile } from "../../shared/files/text-file.ts";
import { rangeChanges } from "../records/clinics/range-changes.ts";
import { printableLines } from "../../shared/runtime/printable.ts";
import { readRanges } from "../import/clinic-ranges.ts";
import { currentRanges, replaceRanges } from "../records/clinics/ranges.ts";
import { type ClinicOption, clinicOption, type DataOption, dataOption } from "./common/options.ts";
import { clinicIdOf, growingClinicId, withStore } from "./common/with-store.ts";

const ownerOption = () => clinicOption("clinic of the intervals").makeOptionMandatory();

export const rangesCommand = new Command("ranges")
  .description("reference intervals of a clinic's own")
  .addCommand(
    new Command("import")
      .argument("<file>")
      .description("replace all intervals of the clinic by the rows of an NDJSON or CSV file; print the changes first")
      .addOption(ownerOption())
      .option("--low-quality", "also use published intervals of quality C and D")
      .option("--dry-run", "print the changes and store nothing")
      .option("--yes", "replace or remove rows of the clinic without a confirmation")
      .addOption(dataOption())
      .action(importRanges),
  )
  .addCommand(
    new Command("list")
      .description("list the rows in use and their version")
      .addOption(ownerOption())
      .option("--json", "print JSON")
      .addOption(dataOption())
      .action(listRanges),
  )
  .addCommand(
    new Command("export")
      .argument("[file]")
      .description("write the rows to a file that import accepts, or to stdout")
      .addOption(ownerOption())
      .addOption(dataOption())
      .action(exportRanges),
  );

type RangesOptions = DataOption & ClinicOption;

interface ImportOptions extends DataOption, ClinicOption {
  lowQuality?: true;
  dryRun?: true;
  yes?: true;
}

async function importRanges(path: string, options: ImportOptions): Promise<void> {
  const { data, clinic, lowQuality = false, dryRun = false, yes = false } = options;
  const read = readRanges(readTextFile(path, { strict: true }));
  if ("problems" in read) {
    for (const problem of read.problems) printError(problem);
    throw new Error(`${path}: ${read.problems.length} problems, nothing was imported`);
  }
  await withStore(data, async (store) => {
    const clinicId = await growingClinicId(store, clinic);
    const content = { low_quality: lowQuality, rows: read.rows };
    const outcome = await store.transaction(async (session) => {
      const current = await currentRanges(session, clinicId);
      const changes = rangeChanges(current?.rows ?? [], read.rows);
      for (const line of changeLines(changes)) printError(line);
      if (dryRun) return "nothing stored";
      const lost = changes.removed.length + changes.changed.length;
      if (lost > 0 && !yes) {
        throw new Error(
          `${path}: nothing was imported, since it replaces or removes ${plural(lost, "row")}: add --yes`,
        );
      }
      const replaced = await replaceRanges(session, clinicId, content, Date.now());
      return replaced === null ? "unchanged" : `version ${replaced.version}`;
    });
    printLine(`${path}: ${read.rows.length} rows, ${outcome}`);
  });
}

/** Prints the rows that an import adds, changes and removes. */
function changeLines({ added, changed, removed }: RangeDifference): string[] {
  return [
    ...removed.map((row) => `- ${rangeText(row)}`),
    ...changed.flatMap(({ row, fields }) => [
      `~ ${rangeText(row)}`,
      ...fields.map(({ field, from, to }) => `    ${field}: ${from ?? "none"} -> ${to ?? "none"}`),
    ]),
    ...added.map((row) => `+ ${rangeText(row)}`),
  ];
}

async function listRanges({ data, clinic, json }: RangesOptions & { json?: true }): Promise<void> {
  await withStore(data, async (store) => {
    const ranges = await currentRanges(store, await clinicIdOf(store, clinic));
    if (json) return printJson(ranges ?? null);
    if (ranges === undefined) return printError("the clinic has no intervals of its own");
    await printTable(rangeTable, ranges.rows);
    const published = ranges.low_quality ? ", in addition to published ones of quality C and D" : "";
    printError(`version ${ranges.version}, ${ranges.rows.length} rows${published}`);
  });
}

const rangeTable: Table<ClinicRange> = {
  head: ["ID", "INTERVAL", "CRITICAL", "PATIENTS", "IN FORCE"],
  cells: rangeCells,
};

async function exportRanges(path: string | undefined, { data, clinic }: RangesOptions): Promise<void> {
  await withStore(data, async (store) => {
    const ranges = await currentRanges(store, await clinicIdOf(store, clinic));
    const text = (ranges?.rows ?? []).map((row) => `${JSON.stringify(row)}\n`).join("");
    if (path === undefined) process.stdout.write(printableLines(text));
    else writeFileSync(path, text);
  });
}
