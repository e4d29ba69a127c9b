import { createWriteStream, renameSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { Command } from "commander";
import { printError } from "../../shared/platform/cli/output.ts";
import { countControls, countUnmatched, exportEntities } from "../import/export.ts";
import type { Session } from "../database/query.ts";
import { type DataOption, dataOption } from "./common/options.ts";
import { requireRegularFile } from "./common/regular-file.ts";
import { textChunks } from "./common/text-chunks.ts";
import { withStore } from "./common/with-store.ts";

export const exportCommand = new Command("export")
  .argument("[file]")
  .description("write all entities to an NDJSON file that import accepts, or to stdout")
  .addOption(dataOption())
  .action(exportToFile);

async function exportToFile(path: string | undefined, { data }: DataOption): Promise<void> {
  // The file gets its name only when it is complete.
  const draft = `${path}.part`;
  if (path !== undefined) for (const file of [path, draft]) requireRegularFile(file);
  await withStore(data, (store) =>
    store.snapshot(async (session) => {
      // It has the names, phones and e-mails of owners.
      const file = path === undefined ? process.stdout : createWriteStream(draft, { mode: 0o600 });
      await pipeline(textChunks(entityLines(session)), file);
      if (path !== undefined) renameSync(draft, path);
      const unmatched = await countUnmatched(session);
      if (unmatched > 0) printError(`${unmatched} unmatched studies stay here, an import file has no line for them`);
      const controls = await countControls(session);
      if (controls > 0) {
        printError(`${controls} control runs with their limits stay here; backup and restore move the whole server`);
      }
    }),
  );
}

async function* entityLines(session: Session): AsyncGenerator<string> {
  for await (const entity of exportEntities(session)) yield `${JSON.stringify(entity)}\n`;
}
