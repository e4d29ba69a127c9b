import { readFileSync, writeFileSync } from "node:fs";
import { Command } from "commander";
import { type ClinicRange, rangeCells } from "../../shared/clinical/clinic-ranges.ts";
import { printError, printJson, printLine, printTable, type Table } from "../../shared/cli/output.ts";
import { printableLines } from "../../shared/runtime/printable.ts";
import { readRanges } from "../import/clinic-ranges.ts";
import { currentRanges, replaceRanges } from "../store/ranges.ts";
import { type ClinicOption, clinicOption, type DataOption, dataOption } from "./options.ts";
import { clinicIdOf, withStore } from "./with-store.ts";

const ownerOption = () => clinicOption("clinic of the intervals").makeOptionMandatory();

export const rangesCommand = new Command("ranges")
  .description("reference intervals of a clinic's own")
  .addCommand(
    new Command("import")
      .argument("<file>")
      .description("replace all intervals of the clinic by the rows of an NDJSON file")
      .addOption(ownerOption())
      .option("--low-quality", "also use published intervals of quality C and D")
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

async function importRanges(path: string, options: RangesOptions & { lowQuality?: boolean }): Promise<void> {
  const { data, clinic, lowQuality = false } = options;
  const read = readRanges(readFileSync(path, "utf8"));
  if ("problems" in read) {
    for (const problem of read.problems) printError(problem);
    throw new Error(`${path}: ${read.problems.length} problems, nothing was imported`);
  }
  await withStore(data, async (store) => {
    const clinicId = await clinicIdOf(store, clinic);
    const content = { low_quality: lowQuality, rows: read.rows };
    const replaced = await store.transaction((session) => replaceRanges(session, clinicId, content, Date.now()));
    const outcome = replaced === null ? "unchanged" : `version ${replaced.version}`;
    printLine(`${path}: ${read.rows.length} rows, ${outcome}`);
  });
}

async function listRanges({ data, clinic, json }: RangesOptions & { json?: true }): Promise<void> {
  await withStore(data, async (store) => {
    const ranges = await currentRanges(store, await clinicIdOf(store, clinic));
    if (json) return printJson(ranges ?? null);
    if (ranges === undefined) return printError("the clinic has no intervals of its own");
    await printTable(rangeTable, ranges.rows);
    const published = ranges.low_quality ? ", beside published ones of quality C and D" : "";
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
