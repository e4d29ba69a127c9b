import { Command } from "commander";
import { printJson, printTable, type Table } from "../../shared/cli/output.ts";
import { type ListedCode, listUnknownCodes } from "../store/studies/unknown-codes.ts";
import { clinicOption, type DataOption, dataOption } from "./options.ts";
import { clinicIdOf, withStore } from "./with-store.ts";

const listCommand = new Command("list")
  .description("list them by device, the most frequent first, with the last value")
  .addOption(clinicOption("only codes of the clinic's devices"))
  .option("--json", "print a JSON array")
  .addOption(dataOption())
  .action(list);

export const codesCommand = new Command("codes")
  .description("codes of devices that the catalogue does not know")
  .addCommand(listCommand);

async function list({ data, clinic, json }: DataOption & { clinic?: string; json?: true }): Promise<void> {
  await withStore(data, async (store) => {
    const found = await listUnknownCodes(store, clinic === undefined ? null : await clinicIdOf(store, clinic));
    if (json) printJson(found);
    else await printTable(codeTable, found);
  });
}

const codeTable: Table<ListedCode> = {
  head: ["CLINIC", "DEVICE", "CODE", "LAST VALUE", "STUDIES", "SEEN"],
  cells: ({ clinic_fp, device_id, code, label, value, unit, studies, ...seen }) => {
    const name = label === null ? code : `${code} (${label})`;
    const last = [value ?? "-", unit ?? ""].join(" ").trimEnd();
    const times = `from ${seen.first_seen_at} to ${seen.last_seen_at}`;
    return [clinic_fp, device_id, name, last, studies === 1 ? "1 study" : `${studies} studies`, times];
  },
};
