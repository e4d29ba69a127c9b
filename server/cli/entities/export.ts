import { createWriteStream, renameSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { Command, Option } from "commander";
import { printError } from "../../../shared/platform/cli/output.ts";
import { countControls, countUnmatched } from "../../import/export.ts";
import { exportLines } from "../../import/export-lines.ts";
import type { Selection } from "../../import/select-entities.ts";
import { findOwner } from "../../records/erasure/erase-owner.ts";
import type { Session } from "../../database/query.ts";
import { type ClinicOption, clinicOption, type DataOption, dataOption, fpParser } from "../common/options.ts";
import { requireRegularFile } from "../common/regular-file.ts";
import { textChunks } from "../common/text-chunks.ts";
import { clinicIdOf, withStore } from "../common/with-store.ts";

export const exportCommand = new Command("export")
  .argument("[file]")
  .description("write all entities to an NDJSON file that import accepts, or to stdout")
  .addOption(clinicOption("entities of one clinic"))
  .addOption(
    new Option("--owner <fp>", "only an owner of the clinic, with its animals").argParser(fpParser("customer")),
  )
  .addOption(dataOption())
  .action(exportToFile);

interface ExportOptions extends DataOption, Partial<ClinicOption> {
  readonly owner?: string;
}

async function exportToFile(path: string | undefined, { data, clinic, owner }: ExportOptions): Promise<void> {
  if (owner !== undefined && clinic === undefined) throw new Error("--owner is without --clinic, expected the clinic");
  // The file gets its name only when it is complete.
  const draft = `${path}.part`;
  if (path !== undefined) for (const file of [path, draft]) requireRegularFile(file);
  await withStore(data, (store) =>
    store.snapshot(async (session) => {
      const selection = clinic === undefined ? null : { clinicFp: clinic, ownerFp: owner ?? null };
      const clinicId = selection === null ? null : await knownClinic(session, selection);
      // It has the names, phones and e-mails of owners.
      const file = path === undefined ? process.stdout : createWriteStream(draft, { mode: 0o600 });
      await pipeline(textChunks(exportLines(session, clinicId, selection)), file);
      if (path !== undefined) renameSync(draft, path);
      const unmatched = await countUnmatched(session, clinicId);
      if (unmatched > 0) printError(`${unmatched} unmatched studies stay here, an import file has no line for them`);
      const controls = await countControls(session, clinicId);
      if (controls > 0) {
        printError(`${controls} control runs with their limits stay here; backup and restore move the whole server`);
      }
    }),
  );
}

/** @returns the id of the clinic */
async function knownClinic(session: Session, { clinicFp, ownerFp }: Selection): Promise<number> {
  const clinicId = await clinicIdOf(session, clinicFp);
  if (ownerFp === null || (await findOwner(session, clinicId, ownerFp)) !== undefined) return clinicId;
  throw new Error(`owner ${ownerFp} does not exist in ${clinicFp}, expected an owner of its animals`);
}
