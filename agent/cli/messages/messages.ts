import { setInterval } from "node:timers/promises";
import { Command, Option } from "commander";
import { collect, parseTime } from "../../../shared/platform/cli/options.ts";
import { endWithReader, plural, printError, printJson, printLine } from "../../../shared/platform/cli/output.ts";
import { MESSAGE_STATES, type MessageState } from "../../spool/queries/messages/message-outcome.ts";
import { readSpool } from "../../spool/access.ts";
import { readRetention } from "../../spool/queries/retention.ts";
import { retentionLines } from "../common/care-text.ts";
import { isWanted, MessageFeed, messageTable } from "./message-list.ts";
import { type ConfigOption, configOption, readConfig, stateParser } from "../common/options.ts";

/** Interval at which `--follow` reads the spool. */
const FOLLOW_MS = 500;

export const messagesCommand = new Command("messages")
  .description("list every message and its state")
  .addOption(configOption())
  .option("--state <state>", `one of ${MESSAGE_STATES.join(", ")}; repeatable`, stateParser(MESSAGE_STATES), [])
  .option("--device <id>", "only messages of the device; repeatable", collect, [])
  .option("--since <time>", "only messages received since then: 24h, 7d or 2026-11-21T09:30:00Z", parseTime, 0)
  .option("--follow", "continue with new messages until Ctrl-C")
  .addOption(new Option("--json", "print a JSON array").conflicts("follow"))
  .action(listMessages);

interface MessagesOptions extends ConfigOption {
  readonly state: readonly MessageState[];
  readonly device: readonly string[];
  readonly since: number;
  readonly follow?: boolean;
  readonly json?: boolean;
}

async function listMessages(options: MessagesOptions): Promise<void> {
  const { data, devices } = readConfig(options);
  const feed = new MessageFeed(data);
  const all = feed.next();
  const ids = [...new Set([...devices.map(({ id }) => id), ...all.map((message) => message.device)])];
  const unknown = options.device.find((id) => !ids.includes(id));
  if (unknown !== undefined) throw new Error(`--device is ${unknown}, expected one of ${ids.join(", ")}`);
  const filter = { states: options.state, devices: options.device, since: options.since };
  const messages = all.filter((message) => isWanted(message, filter));
  if (options.json) return printJson(messages);
  const { header, row } = messageTable(ids, Intl.DateTimeFormat().resolvedOptions().timeZone);
  for (const line of [header, ...messages.map(row)]) printLine(line);
  if (!options.follow) {
    printError([plural(messages.length, "message"), ...retentionLines(readSpool(data, readRetention))].join("\n"));
    return;
  }
  endWithReader();
  for await (const _ of setInterval(FOLLOW_MS)) {
    for (const message of feed.next()) if (isWanted(message, filter)) printLine(row(message));
  }
}
