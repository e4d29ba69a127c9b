import { Command } from "commander";
import { plural, printError, printJson, printLine } from "../../../shared/platform/cli/output.ts";
import { readSpool } from "../../spool/access.ts";
import { listClinicCodes } from "../../spool/queries/clinic-codes.ts";
import { listSeenCodes } from "../../spool/queries/studies/seen-codes.ts";
import { codeList } from "../../tools/offline/code-list.ts";
import { codeLines } from "./code-list.ts";
import { type ConfigOption, configOption, readConfig } from "../common/options.ts";

export const codesCommand = new Command("codes")
  .description("list the devices' codes that the catalogue lacks, with near analytes, and the clinic's mappings")
  .addOption(configOption())
  .option("--json", "print a JSON array")
  .action(listCodes);

function listCodes(options: ConfigOption & { json?: boolean }): void {
  const { data, devices } = readConfig(options);
  const { ofClinic, seen } = readSpool(data, (db) => ({ ofClinic: listClinicCodes(db), seen: listSeenCodes(db) }));
  const codes = codeList(devices, seen, ofClinic);
  if (options.json) return printJson(codes);
  for (const line of codeLines(codes, Intl.DateTimeFormat().resolvedOptions().timeZone)) printLine(line);
  const unknown = codes.filter(({ mapped_to }) => mapped_to === null);
  printError(`${plural(codes.length, "code")}, ${unknown.length} unknown`);
  const [first] = unknown;
  if (first === undefined) return;
  const example = `codes: { ${JSON.stringify(first.code)}: ANALYTE }`;
  printError(`to map a code, write ${example} under ${first.device} in ${options.config}, and restart the agent`);
  printError("or map it in the dashboard under To place, Unknown codes");
  printError("to map stored results too, run: reprocess --state filed --state unmatched");
}
