import { Command } from "commander";
import { printJson, printTable } from "../../../shared/platform/cli/output.ts";
import { listUnmatched } from "../../records/unmatched/unmatched.ts";
import { clinicOption, type DataOption, dataOption } from "../common/options.ts";
import { unmatchedTable } from "./study-text.ts";
import { clinicIdOf, withStore } from "../common/with-store.ts";

const listCommand = new Command("list")
  .description("list them, the oldest first")
  .addOption(clinicOption("only studies of the clinic"))
  .option("--rejected", "list the studies that a user rejected")
  .option("--sample <id>", "only studies of the sample with this identifier")
  .option("--json", "print a JSON array")
  .addOption(dataOption())
  .action(list);

export const unmatchedCommand = new Command("unmatched")
  .description("studies that wait for a user to assign them to a patient")
  .addCommand(listCommand);

interface ListOptions extends DataOption {
  readonly clinic?: string;
  readonly rejected?: boolean;
  readonly sample?: string;
  readonly json?: true;
}

async function list({ data, clinic, rejected = false, json, ...sample }: ListOptions): Promise<void> {
  await withStore(data, async (store) => {
    const clinicId = clinic === undefined ? null : await clinicIdOf(store, clinic);
    const found = listUnmatched(store, { clinicId, rejected, ...sample });
    if (!json) return printTable(unmatchedTable, found);
    const all = [];
    for await (const study of found) all.push(study);
    printJson(all);
  });
}
