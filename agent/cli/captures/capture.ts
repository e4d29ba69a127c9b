import { Command } from "commander";
import { printableLines } from "../../../shared/runtime/printable.ts";
import { printError } from "../../../shared/platform/cli/output.ts";
import { analyzersOf } from "../../analyzers.ts";
import { readSpool } from "../../spool/access.ts";
import { capture } from "../../tools/capture/capture.ts";
import { type ConfigOption, configOption, readConfig } from "../common/options.ts";

export const captureCommand = new Command("capture")
  .argument("<message>")
  .description("write a message as a fixture to stdout: the bytes of its device, with names replaced")
  .addOption(configOption())
  .option("--raw", "keep the names")
  .action((id: string, options: ConfigOption & { raw?: boolean }) => {
    const config = readConfig(options);
    const devices = analyzersOf(config);
    const { bytes, notes } = readSpool(config.data, (db) =>
      capture(db, config.data, id, (device) => devices.get(device), options.raw ?? false),
    );
    // A terminal would execute control characters of the device; a file or a program gets the bytes themselves.
    process.stdout.write(process.stdout.isTTY ? printableLines(Buffer.from(bytes).toString("latin1")) : bytes);
    for (const note of notes) printError(`note: ${note}`);
  });
