import os from "node:os";
import path from "node:path";
import { Command } from "commander";
import { printError, printLine } from "../../shared/cli/output.ts";
import { defaultPlace } from "../../shared/cli/places.ts";
import { useNetworkOfFile } from "../config/network.ts";
import { pair } from "../pairing/pair.ts";
import { type ConfigOption, configOption } from "./options.ts";

/** Beside agent.yaml. */
const KEY_FILE = path.join(path.dirname(defaultPlace("config")), "agent.key");

export const pairCommand = new Command("pair")
  .description("give this PC access to a clinic, with the code that the dashboard shows under Devices, Add a clinic PC")
  .requiredOption("--server <url>", "address of the dashboard, such as https://vetwire.example.com")
  .requiredOption("--code <code>", "the code, such as 7KQM-X2HD-9FVT")
  .option("--name <name>", "name by which the clinic knows this PC", os.hostname())
  .option("--key-file <file>", "file that gets the key, as in server.keyFile of agent.yaml", KEY_FILE)
  .addOption(configOption())
  .action(run);

interface PairOptions extends ConfigOption {
  readonly server: string;
  readonly code: string;
  readonly name: string;
  readonly keyFile: string;
}

async function run({ server, code, name, keyFile, config }: PairOptions): Promise<void> {
  useNetworkOfFile(path.resolve(config));
  const { serverUrl, clinic, warnings } = await pair({ serverUrl: server, code, name, keyFile });
  for (const warning of warnings) printError(`warning: ${warning}`);
  printLine(`paired with ${clinic.name} (${clinic.fp}) at ${serverUrl}`);
  printError(`the key is in ${keyFile}, which its owner alone can read`);
}
