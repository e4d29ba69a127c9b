import { Presets, SingleBar } from "cli-progress";
import { Command, InvalidArgumentError, Option } from "commander";
import { plural, printError, printLine, progressInTenths, remainingText } from "../../../shared/platform/cli/output.ts";
import { ImportError, importFile, type Progress } from "../../import/importer.ts";
import { WEIGHT_UNITS, type WeightUnit } from "../../dashboard/types/file-import.ts";
import { FILE_SOURCE } from "../../records/registry/same-chip.ts";
import { DATE_ORDERS, type DateOrder } from "../../import/table/dates.ts";
import { clinicOption, type DataOption, dataOption } from "../common/options.ts";
import { growingClinicId, withNewStore, withStore } from "../common/with-store.ts";
import { importTableFile } from "./import-table.ts";

export const importCommand = new Command("import")
  .argument("<file>")
  .description(
    "import an NDJSON file, all or nothing; warns of a card number that several patients of a clinic have. With --clinic: the animals, " +
      "owners or stock of a CSV or Excel file, without the lines that are refused",
  )
  .option("--owner <fp>", "the clinic whose SOAP records the file may give to another clinic")
  .addOption(clinicOption("the clinic of the animals, owners or stock of a CSV or Excel file"))
  .option("--source <name>", "name of the software whose numbers a CSV or Excel file has", sourceName, FILE_SOURCE)
  .option("--dry-run", "print what a CSV or Excel file would change, and store nothing")
  .addOption(
    new Option("--date-order <order>", "dates such as 3/4/2020 are day first or month first").choices(DATE_ORDERS),
  )
  .addOption(new Option("--weight-unit <unit>", "unit of weights without one").choices(WEIGHT_UNITS))
  .addOption(dataOption())
  .action(importEntities);

interface ImportOptions extends DataOption {
  readonly owner?: string;
  readonly clinic?: string;
  readonly source: string;
  readonly dryRun?: true;
  readonly dateOrder?: DateOrder;
  readonly weightUnit?: WeightUnit;
}

/** A name as practice software has one at /sync/v1. */
function sourceName(text: string): string {
  if (/^[\w.-]{1,64}$/.test(text)) return text;
  throw new InvalidArgumentError("expected 1 to 64 letters, digits, dots, - or _");
}

async function importEntities(path: string, options: ImportOptions): Promise<void> {
  const { data, owner, clinic } = options;
  if (clinic !== undefined) return importTableOf(path, clinic, options);
  if (/\.(?:csv|tsv|txt|xlsx?)$/i.test(path))
    throw new Error(`${path}: expected --clinic <fp> for a CSV or Excel file`);
  await withNewStore(data, async (store) => {
    const ownerId = owner === undefined ? null : await growingClinicId(store, owner);
    const bar = process.stderr.isTTY ? progressBar() : { progress: progressInTenths(), stop: () => undefined };
    try {
      const result = await importFile(store, path, bar.progress, Date.now, ownerId);
      bar.stop();
      const { shown: warnings = [], total = 0 } = result.warnings ?? {};
      for (const warning of warnings) printError(`warning: ${warning}`);
      if (total > warnings.length) printError(`and ${total - warnings.length} more warnings`);
      const counts = `${result.new} new, ${result.changed} changed, ${result.unchanged} unchanged`;
      printLine(`${path}: ${counts}${total === 0 ? "" : `, ${plural(total, "warning")}`}`);
    } catch (error) {
      bar.stop();
      if (!(error instanceof ImportError)) throw error;
      for (const { line, problem } of error.problems) printError(`line ${line}: ${problem}`);
      const more = error.total - error.problems.length;
      if (more > 0) printError(`and ${more} more`);
      throw new Error(`${path}: ${error.message}`, { cause: error });
    }
  });
}

async function importTableOf(path: string, clinic: string, options: ImportOptions): Promise<void> {
  const { data, source, dryRun = false, dateOrder, weightUnit } = options;
  const choices = {
    ...(dateOrder !== undefined && { date_order: dateOrder }),
    ...(weightUnit !== undefined && { weight_unit: weightUnit }),
  };
  await withStore(data, async (store) => {
    const clinicId = await growingClinicId(store, clinic);
    await importTableFile(store, path, { clinicId, source, dryRun, choices }, progressInTenths());
  });
}

/** Creates a progress bar on a terminal, with rate and remaining time. */
function progressBar(): { progress: Progress; stop: () => void } {
  const format = "{bar} {percentage}%  {rate} MB/s  {left}";
  const bar = new SingleBar({ stream: process.stderr, format }, Presets.shades_classic);
  const begunAt = performance.now();
  let started = false;
  return {
    progress(read, total) {
      const elapsedMs = Math.max(1, performance.now() - begunAt);
      const shown = { rate: (read / 1000 / elapsedMs).toFixed(1), left: remainingText(read, total, elapsedMs) };
      if (started) bar.update(read, shown);
      else bar.start(total, read, shown);
      started = true;
    },
    stop: () => bar.stop(),
  };
}
