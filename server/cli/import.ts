import { Presets, SingleBar } from "cli-progress";
import { Command } from "commander";
import { plural, printError, printLine, progressInTenths, remainingText } from "../../shared/platform/cli/output.ts";
import { ImportError, importFile, type Progress } from "../import/importer.ts";
import { type DataOption, dataOption } from "./common/options.ts";
import { clinicIdOf, withNewStore } from "./common/with-store.ts";

export const importCommand = new Command("import")
  .argument("<file>")
  .description("import an NDJSON file, all or nothing; warns of a card number that several patients of a clinic have")
  .option("--owner <fp>", "the clinic whose SOAP records the file may give to another clinic")
  .addOption(dataOption())
  .action(importEntities);

async function importEntities(path: string, { data, owner }: DataOption & { owner?: string }): Promise<void> {
  await withNewStore(data, async (store) => {
    const ownerId = owner === undefined ? null : await clinicIdOf(store, owner);
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
