import fs from "node:fs";
import { Command } from "commander";
import { plural, printError, printJson, printTable, type Table } from "../../../shared/platform/cli/output.ts";
import { readSpool } from "../../spool/access.ts";
import { documentOf, type DocumentSummary, listDocuments } from "../../spool/queries/studies/document-list.ts";
import { type ConfigOption, configOption, readConfig } from "../common/options.ts";

export const documentsCommand = new Command("documents")
  .argument("[id]", "document that --out writes")
  .description(
    "list the documents of watched folders with their studies, or search their text; --out writes one as it was",
  )
  .addOption(configOption())
  .option("--study <fp>", "only documents of the study")
  .option("--search <text>", "only documents with the text in their name or on their pages")
  .option("--out <file>", "PDF file to write")
  .option("--json", "print a JSON array")
  .action(async (id: string | undefined, options: DocumentOptions) => {
    const { data } = readConfig(options);
    const { study = null, search = "", out } = options;
    if (id !== undefined || out !== undefined) return write(data, id, out);
    const documents = readSpool(data, (db) => listDocuments(db, { study, search }));
    if (options.json) return printJson(documents);
    await printTable(documentTable, documents);
    printError(plural(documents.length, "document"));
  });

interface DocumentOptions extends ConfigOption {
  readonly study?: string;
  readonly search?: string;
  readonly out?: string;
  readonly json?: boolean;
}

function write(data: string, id: string | undefined, out: string | undefined): void {
  if (id === undefined || out === undefined) throw new Error("a document is written with its id and --out FILE");
  const document = readSpool(data, (db) => documentOf(db, id));
  if (document === null) throw new Error(`the spool has no document ${id}, expected an id that documents shows`);
  fs.writeFileSync(out, document.bytes, { mode: 0o600 });
  printError(`${out}: ${document.name}, ${document.bytes.length} bytes`);
}

const documentTable: Table<DocumentSummary> = {
  head: ["DOCUMENT", "RECEIVED", "DEVICE", "BYTES", "STUDY", "NAME"],
  cells: ({ id, received_at, device, bytes, study_fps, name }) => {
    return [id, received_at, device, String(bytes), study_fps.join(",") || "-", name];
  },
};
