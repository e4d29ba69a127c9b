import { Command } from "commander";
import { printLine } from "../../shared/platform/cli/output.ts";
import { awaitDirective, placeDirective } from "../connection/device-commands.ts";
import { type ConfigOption, configOption, readConfig } from "./common/options.ts";

/** Max wait for the outcome. A connected device accepts the command in that time, or refuses it three times. */
const OUTCOME_WAIT_MS = 20_000;

export const lockCommand = deviceCommand("lock", "LOCK");
export const unlockCommand = deviceCommand("unlock", "UNLOCK");

function deviceCommand(name: string, word: "LOCK" | "UNLOCK"): Command {
  return new Command(name)
    .description(`${name} a point-of-care device (POCT1-A), now or as soon as the running agent is connected to it`)
    .addOption(configOption())
    .requiredOption("--device <id>", "device of the configuration")
    .action(async (options: ConfigOption & { device: string }) => {
      const config = readConfig(options);
      const { device } = options;
      const placed = placeDirective(config, device, word);
      const { state, reason } = await awaitDirective(config.data, placed, OUTCOME_WAIT_MS);
      if (state === "refused") throw new Error(`${device} refused ${word}: ${reason}`);
      printLine(state === "taken" ? `${device} accepted ${word}` : `${word} waits for ${device}`);
    });
}
