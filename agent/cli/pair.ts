import os from "node:os";
import path from "node:path";
import { Command } from "commander";
import { printError, printLine } from "../../shared/platform/cli/output.ts";
import { defaultPlace } from "../../shared/platform/cli/places.ts";
import { useNetworkOfFile } from "../config/network.ts";
import { withServer } from "../config/edit.ts";
import { readText, writeText } from "../config/config-file.ts";
import { pair } from "../push/pair.ts";
import { type ConfigOption, configOption } from "./common/options.ts";

/** The key file is next to agent.yaml. */
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
  const { serverUrl, pin, clinic, warnings } = await pair({ serverUrl: server, code, name, keyFile });
  for (const warning of warnings) printError(`warning: ${warning}`);
  printLine(`paired with ${clinic.name} (${clinic.fp}) at ${serverUrl}`);
  tellFile(path.resolve(config), path.resolve(keyFile), { url: serverUrl, pin });
  printError(`the key is in ${keyFile}, which its owner alone can read`);
}

/** Writes the server's address and pin into the configuration that uses the key file. */
function tellFile(
  config: string,
  keyFile: string,
  server: { readonly url: string; readonly pin: string | undefined },
): void {
  const text = readText(config);
  if (text === null) {
    const { url, pin } = server;
    if (pin !== undefined)
      printError(`write this into agent.yaml: server: { url: "${url}", keyFile: ${keyFile}, pin: "${pin}" }`);
    return;
  }
  const isOurs = (named: string) => path.resolve(path.dirname(config), named) === keyFile;
  const changed = withServer(text, { ...server, isOurs });
  if (changed === null) return;
  writeText(config, changed, text);
  printError(`${config} names the server's address and certificate now: restart the agent`);
}
