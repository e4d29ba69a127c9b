import { type Loss, lossSentence } from "../../shared/runtime/commit-mark.ts";
import { clockSentence, isClockWrong } from "../push/clock-watch.ts";
import type { DeviceStatus, SpoolStatus } from "../spool/queries/status.ts";
import { gaveWayText } from "../states/line-state.ts";

// `agent status` for a person: a table of the devices, the server, the outbox. Times are those of this machine's zone.

const HEAD = [
  "DEVICE",
  "STATE",
  "SINCE",
  "LAST BYTES",
  "LAST MESSAGE",
  "MESSAGES",
  "WARNINGS",
  "NOISE",
  "WHAT TO KNOW",
];

export function statusLines({ running, devices, server, clock, loss, outbox, directory }: SpoolStatus): string[] {
  const { patients, fetched_at, synced_at } = directory;
  const fetched = fetched_at === null ? "the full list was never fetched" : `full list fetched ${local(fetched_at)}`;
  const offsetS = clock?.offset_s ?? 0;
  return [
    running ? "the agent is running" : "the agent is not running",
    ...table([HEAD, ...devices.map(row)]),
    ...(server === null ? [] : [serverLine(server)]),
    `${outbox.depth} to send${outbox.oldest_at === null ? "" : `, the oldest since ${local(outbox.oldest_at)}`}`,
    `${patients} patients, ${fetched}, last synced ${orNever(synced_at)}`,
    ...(isClockWrong(offsetS) ? [clockSentence(offsetS)] : []),
    ...(loss === null ? [] : [lossLine(loss)]),
  ];
}

function row(device: DeviceStatus): string[] {
  const { id, state, since, last_bytes_at, last_message_at, counts, counters } = device;
  const numbers = Object.entries(counts).filter(([, count]) => count > 0);
  const noise = counters === null ? "-" : `${counters.noise_bytes} B`;
  return [
    ...[id, state, since === null ? "-" : local(since), orNever(last_bytes_at), orNever(last_message_at)],
    ...[
      numbers.map(([word, count]) => `${count} ${word}`).join(", ") || "none",
      String(counters?.warnings ?? "-"),
      noise,
    ],
    whatToKnow(device),
  ];
}

function whatToKnow({ reason, last_warning, gave_way }: DeviceStatus): string {
  if (reason !== null) return reason;
  const sentences: string[] = [];
  if (gave_way !== undefined) {
    sentences.push(gaveWayText({ connections: gave_way.connections, lastAddress: gave_way.last_address }));
  }
  if (last_warning !== null) sentences.push(`last warning ${local(last_warning.at)}: ${last_warning.reason}`);
  return sentences.join("; ");
}

function serverLine({ state, reason, since }: NonNullable<SpoolStatus["server"]>): string {
  return `server: ${state} since ${local(since)}${reason === null ? "" : `: ${reason}`}`;
}

function lossLine(loss: Loss): string {
  const since = loss.since === null ? "" : `since ${local(loss.since)} `;
  const advice = "compare the results of that time at the analyzers, and send missing ones again";
  return `LOSS ${since}until ${local(loss.until)}: ${lossSentence(loss)}; ${advice}`;
}

function orNever(time: string | null): string {
  return time === null ? "never" : local(time);
}

/** `2026-11-21 09:30:00` */
function local(time: string): string {
  return new Date(time).toLocaleString("sv-SE");
}

/** The rows as lines, each column as wide as its widest cell. */
function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0))) ?? [];
  return rows.map((cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
