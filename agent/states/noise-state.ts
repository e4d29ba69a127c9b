// Bytes of a device that belong to no message: it speaks another protocol, or its line has another baud rate. Times are in ms
// since 1970.

export interface NoiseState {
  /** Counts since the last message, or since the start of the agent. A run is uninterrupted by silence and messages. */
  readonly bytes: number;
  readonly runs: number;
  /** Times of the first and the last run. */
  readonly since: number;
  readonly at: number;
  /** Some of them in hexadecimal: `0B 4D 53 48`. They may hold a patient's name, so no log has them. */
  readonly sample: string;
  /** Name of their protocol; null for an unknown one. */
  readonly protocol: string | null;
  /** Address or serial port that sent the last run. */
  readonly address: string;
}

/** An address that connected and was refused, because `allow` lacks it. */
export interface RefusedCaller {
  readonly address: string;
  readonly count: number;
  /** Time of the last connection. */
  readonly at: number;
}

/** Min bytes, or else min runs, for advice. Fewer bytes come from a cable or a device that is switched on. */
const BYTES_MIN = 8;
const RUNS_MIN = 3;
/** Bytes of the sample in a sentence. */
const SENTENCE_BYTES = 16;

/** Returns whether the noise is worth a user's time: there is enough of it, and no message came since. */
export function isForeign(noise: Pick<NoiseState, "bytes" | "runs" | "at">, lastMessageAt: number | null): boolean {
  const isCurrent = lastMessageAt === null || lastMessageAt < noise.at;
  return isCurrent && (noise.bytes >= BYTES_MIN || noise.runs >= RUNS_MIN);
}

/** Formats noise as a sentence with advice, without its bytes. */
export function noiseText({ bytes, runs, protocol }: Pick<NoiseState, "bytes" | "runs" | "protocol">): string {
  const what = `${bytes} byte${bytes === 1 ? "" : "s"} in ${runs} run${runs === 1 ? "" : "s"}`;
  const seen = protocol === null ? "no known protocol" : `they look like ${protocol}`;
  return `${what} belong to no message (${seen}): compare profile, port and baud rate, or run "agent sniff"`;
}

/** Returns the first bytes of the sample, for a sentence. */
export function sampleText(sample: string): string {
  const bytes = sample.split(" ");
  return bytes.length <= SENTENCE_BYTES ? sample : `${bytes.slice(0, SENTENCE_BYTES).join(" ")} …`;
}
