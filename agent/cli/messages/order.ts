import { Command } from "commander";
import { printJson, printLine } from "../../../shared/platform/cli/output.ts";
import { type OrderRequest, placeOrder } from "../../tools/offline/place-order.ts";
import { type ConfigOption, configOption, readConfig } from "../common/options.ts";

export const orderCommand = new Command("order")
  .description(
    "order tests of a patient's sample; the device queries them, and the accession assigns the result to the patient",
  )
  .addOption(configOption())
  .requiredOption("--device <id>", "analyzer or imaging device of the configuration")
  .requiredOption("--patient <fp>", "patient of the sample")
  .requiredOption("--tests <names>", "comma-separated analytes in the names of the device: ALT,CREA")
  .option("--json", "print JSON; without it the accession alone")
  .action((options: OrderRequest & ConfigOption & { json?: boolean }) => {
    const { accession, device, patientFp, tests } = placeOrder(readConfig(options), options);
    if (options.json) printJson({ accession, device, patient_fp: patientFp, tests });
    else printLine(accession);
  });
