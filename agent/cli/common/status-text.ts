import { plural, tableLines } from "../../../shared/platform/cli/output.ts";
import { outcomeText } from "../../../shared/network/hl7-sender/outcome-words.ts";
import { localTime } from "../../../shared/runtime/local-time.ts";
import type { ImageTotals } from "../../imaging/catalogue.ts";
import { clockSentence, isClockWrong } from "../../push/clock-watch.ts";
import type { DestinationStatus } from "../../spool/queries/result-destinations.ts";
import type { DeviceStatus, SpoolStatus } from "../../spool/queries/status.ts";
import type { Address } from "../../transport/address.ts";
import { isLoopback } from "../../../shared/network/network-address.ts";
import { gaveWayText } from "../../states/line-state.ts";
import { isForeign, noiseText, sampleText } from "../../states/noise-state.ts";

// The text of `agent status`. Times are in the time zone of this machine.

const HEAD = ["DEVICE", "STATE", "SINCE", "LAST BYTES", "LAST MESSAGE", "MESSAGES", "WARNINGS", "NOISE", "NOTE"];

/** The agent, a table of the devices, the server, the queue for it, the patients, and the clock if it is wrong. */
export function statusLines({ running, devices, server, clock, outbox, directory }: SpoolStatus): string[] {
  const { patients, fetched_at, synced_at } = directory;
  const fetched =
    fetched_at === null ? "the full list was never fetched" : `full list fetched ${localTime(fetched_at)}`;
  const offsetS = clock?.offset_s ?? 0;
  return [
    running ? "the agent is running" : "the agent is not running",
    ...tableLines([HEAD, ...devices.map(deviceCells)]),
    ...(server === null ? [] : [serverLine(server)]),
    `${outbox.depth} to send${outbox.oldest_at === null ? "" : `, the oldest since ${localTime(outbox.oldest_at)}`}`,
    ...(outbox.reason === null ? [] : [`the oldest waits, because ${outbox.reason}`]),
    ...(outbox.quality === 0 ? [] : [`${plural(outbox.quality, "record")} of controls and devices to send`]),
    `${patients} patients, ${fetched}, last synced ${localOrNever(synced_at)}`,
    ...(isClockWrong(offsetS) ? [clockSentence(offsetS)] : []),
  ];
}

/** The last status and the latest events of each instrument that reports them (POCT1-A). */
export function instrumentLines({ devices }: SpoolStatus): string[] {
  return devices.flatMap(({ id, instruments = [] }) =>
    instruments.flatMap(({ name, said_at, status, events }) => [
      `${id}: ${name || "an instrument without a name"}  ${said_at}  ${wordsText(status)}`,
      ...events.map((event) => `  ${wordsText(event)}`),
    ]),
  );
}

const DESTINATION_HEAD = ["DESTINATION", "TO", "STATE", "LAST SENT", "WAITING", "REFUSED", "NOTE"];

/** A table of the destinations of results. Nothing without any. */
export function destinationLines({ destinations }: SpoolStatus): string[] {
  if (destinations.length === 0) return [];
  return tableLines([DESTINATION_HEAD, ...destinations.map(destinationCells)]);
}

function destinationCells(destination: DestinationStatus): string[] {
  const { id, to, state, last_sent_at, waiting, parked, code, text, last } = destination;
  const fault = code === null ? text : outcomeText(code, text);
  const refused = last?.outcome === "refused" ? `last refused: ${outcomeText(last.code, last.text)}` : "";
  return [
    ...[id, to, state, localOrNever(last_sent_at), String(waiting ?? "-"), String(parked ?? "-")],
    fault ?? refused,
  ];
}

export function imageLines({ kept, bytes, removed, forwards }: ImageTotals): string[] {
  return [
    `images: ${kept} kept (${(bytes / 1e9).toFixed(1)} GB), ${removed} removed`,
    ...forwards.map(({ destination, state, count }) => `  ${destination}  ${count} ${state}`),
  ];
}

/** The PIN of the local page, which other machines of the network need. Nothing without one. */
export function pageLines(listen: Address | null, pin: string | null): string[] {
  if (listen === null || pin === null || isLoopback(listen.host)) return [];
  return [`page: port ${listen.port} of this machine; another machine enters the PIN ${pin}`];
}

function deviceCells(device: DeviceStatus): string[] {
  const { id, state, since, last_bytes_at, last_message_at, counts, counters } = device;
  const messages = Object.entries(counts).flatMap(([word, count]) => (count > 0 ? [`${count} ${word}`] : []));
  return [
    id,
    state,
    since === null ? "-" : localTime(since),
    localOrNever(last_bytes_at),
    localOrNever(last_message_at),
    messages.join(", ") || "none",
    String(counters?.warnings ?? "-"),
    counters === null ? "-" : `${counters.noise_bytes} B`,
    deviceNote(device),
  ];
}

function deviceNote({ reason, last_warning, gave_way, noise, last_message_at }: DeviceStatus): string {
  if (reason !== null) return reason;
  const sentences: string[] = [];
  if (gave_way !== undefined) {
    sentences.push(gaveWayText({ connections: gave_way.connections, lastAddress: gave_way.last_address }));
  }
  const isNoisy = noise !== undefined && isForeignSince(noise, last_message_at);
  if (isNoisy) sentences.push(`${noiseText(noise)}; bytes ${sampleText(noise.sample)}`);
  const isWarnedOfNoise = isNoisy && last_warning?.at === noise.last_at;
  if (last_warning !== null && !isWarnedOfNoise) {
    sentences.push(`last warning ${localTime(last_warning.at)}: ${last_warning.reason}`);
  }
  return sentences.join("; ");
}

function isForeignSince(noise: NonNullable<DeviceStatus["noise"]>, lastMessageAt: string | null): boolean {
  const last = lastMessageAt === null ? null : Date.parse(lastMessageAt);
  return isForeign({ ...noise, at: Date.parse(noise.last_at) }, last);
}

function serverLine({ state, reason, since }: NonNullable<SpoolStatus["server"]>): string {
  return `server: ${state} since ${localTime(since)}${reason === null ? "" : `: ${reason}`}`;
}

/** `condition R, new_observations 0` */
function wordsText(words: object): string {
  return Object.entries(words)
    .map(([name, word]) => `${name} ${String(word)}`)
    .join(", ");
}

function localOrNever(time: string | null): string {
  return time === null ? "never" : localTime(time);
}
