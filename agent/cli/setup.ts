import fs from "node:fs";
import path from "node:path";
import { cancel, intro, log, outro } from "@clack/prompts";
import { Command } from "commander";
import { pino } from "pino";
import { printable } from "../../shared/runtime/printable.ts";
import { VERSION } from "../../shared/runtime/program-files.ts";
import type { Host } from "../host/host.ts";
import { startHost } from "../host/host.ts";
import { agentPage } from "../page/page.ts";
import { remoteDevices } from "../remote/remote-devices.ts";
import { pairWith } from "../setup/pairing.ts";
import { Setup } from "../setup/setup.ts";
import { type ConfigOption, configOption, readConfig } from "./options.ts";
import { ask, insist, listen } from "./setup-prompts.ts";

export const setupCommand = new Command("setup")
  .description("connect this PC to a clinic, and add devices by listening to them")
  .addOption(configOption())
  .addHelpText("after", "\nCtrl-C ends it at any time. What was saved stays, and another run goes on from there.")
  .action(setUp);

async function setUp(options: ConfigOption): Promise<void> {
  const file = path.resolve(options.config);
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    const page = "run `vetwire agent run --set-up` and open http://127.0.0.1:8081 in a browser";
    throw new Error(`this command asks questions, so it needs a terminal: run it in one, or ${page}`);
  }
  const config = fs.existsSync(file) ? readConfig(options) : null;
  const host = await start(file, config);
  const setup = new Setup(host, pairWith(host));
  intro("Vetwire set-up");
  log.info(
    `Configuration: ${printable(file)}. The same set-up is at http://127.0.0.1:${host.port}/setup in a browser.`,
  );
  try {
    if (await isFinished(setup)) {
      outro("The set-up is done. The agent stops with it: start it for good with `vetwire agent run`.");
    } else {
      cancel("The set-up ended early. What was saved stays: run it again to go on.");
      process.exitCode = 1;
    }
  } finally {
    await setup.stop();
    await host.stop();
  }
  process.exit();
}

/** Starts the agent in this process, so that a saved device is served at once. */
async function start(file: string, config: Parameters<Host["start"]>[0]): Promise<Host> {
  // A log would break the questions on the screen.
  const silent = pino({ enabled: false });
  try {
    return await startHost({ file, config, version: VERSION, log: silent, page: agentPage, remote: remoteDevices });
  } catch (error) {
    const { host = "127.0.0.1", port = 8081 } = config?.status ?? {};
    const page = `http://${host}:${port}/setup`;
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${reason}: if the agent runs already, open ${page} in a browser, or end it and run this again`, {
      cause: error,
    });
  }
}

/** Asks until the set-up is done. @returns false if the user ended it early */
async function isFinished(setup: Setup): Promise<boolean> {
  for (;;) {
    const { turn, step } = await setup.view();
    if (step.at === "listening") {
      await listen(setup);
      continue;
    }
    const answer = await ask(step, setup);
    if (answer === null) return false;
    if ("next" in answer && answer.next === "finish") return true;
    const fault = await setup.answer(turn, answer);
    if (fault === null) continue;
    log.error(printable(fault));
    const sure = "profile" in answer && answer.to === "heard" ? await insist(answer) : null;
    if (sure !== null) await setup.answer(turn, sure);
  }
}
