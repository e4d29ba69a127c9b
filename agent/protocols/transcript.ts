import { hexByte, STX } from "./bytes.ts";

// Text form of a dialogue, one line per chunk. `<` is sent by the device, `>` by the agent. `<ENQ>` is a control character,
// `<0xF6>` any byte, `<CS>` the checksum of its frame, `<BCC>` the XOR of its frame. `#` starts a comment. A player sends the
// device's lines and compares the agent's.

export interface TranscriptLine {
  /** Line number in the file. */
  readonly number: number;
  readonly from: "device" | "agent";
  readonly bytes: Uint8Array;
}

export interface TranscriptPeer {
  send(bytes: Uint8Array): void;
  /** Resolves to the peer's next byte, or to null after `ms` milliseconds of silence. */
  reply(ms: number): Promise<number | null>;
}

/** Names of the control characters from 0x00 to 0x1F. */
const NAMES: readonly string[] = `
  NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI
  DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US`
  .trim()
  .split(/\s+/);

/** Max wait for a reply: 15 s (LIS01-A2 §6.5.2). */
const REPLY_MS = 15_000;
/** Max silence within extra output of the peer, in milliseconds. */
const AFTERWARDS_MS = 200;
/** Max bytes of differing output that an error shows. */
const SHOWN_BYTES_MAX = 300;

/** Parses a transcript. Latin-1 keeps the bytes of a file in any charset. @throws with the first invalid line */
export function parseTranscript(text: string): TranscriptLine[] {
  const frames = { device: new FrameSum(), agent: new FrameSum() };
  const lines: TranscriptLine[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line === "" || line.startsWith("#")) continue;
    const [, mark, content = ""] = /^([<>]) (.+)$/.exec(line) ?? [];
    if (mark === undefined) throw new Error(`line ${index + 1} is "${line}", expected "< " or "> " and a chunk`);
    const from = mark === "<" ? "device" : "agent";
    lines.push({ number: index + 1, from, bytes: wireBytes(content, frames[from], index + 1) });
  }
  return lines;
}

/** Encodes bytes in the notation of a transcript line. */
export function wireText(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => {
    const name = NAMES[byte];
    if (name !== undefined) return `<${name}>`;
    return byte === 0x3c || byte > 0x7e ? `<0x${hexByte(byte)}>` : String.fromCharCode(byte);
  }).join("");
}

/** Plays the device of a transcript. @returns the first difference of the agent, or null */
export async function playTranscript(lines: readonly TranscriptLine[], agent: TranscriptPeer): Promise<string | null> {
  for (const { number, from, bytes } of lines) {
    if (from === "device") {
      const early = await outputWithin(agent, 0);
      if (early.length > 0) return differs(`before line ${number}`, early, "nothing");
      agent.send(bytes);
      continue;
    }
    const output: number[] = [];
    for (const expected of bytes) {
      const byte = await agent.reply(REPLY_MS);
      if (byte === expected) {
        output.push(byte);
        continue;
      }
      if (byte !== null) output.push(byte, ...(await outputWithin(agent, AFTERWARDS_MS)));
      return differs(`line ${number}`, output, wireText(bytes));
    }
  }
  const further = await outputWithin(agent, AFTERWARDS_MS);
  return further.length > 0 ? differs("after the last line", further, "nothing") : null;
}

function wireBytes(content: string, frame: FrameSum, number: number): Uint8Array {
  const bytes: number[] = [];
  const put = (byte: number) => {
    frame.add(byte);
    bytes.push(byte);
  };
  for (const [part, name] of content.matchAll(/<([0-9A-Z]{2,3}|0x[0-9A-F]{2})>|[^]/g)) {
    if (name === undefined) put(part.charCodeAt(0));
    else if (name === "CS") for (const digit of frame.checksum()) put(digit.charCodeAt(0));
    else if (NAMES.includes(name)) put(NAMES.indexOf(name));
    else if (name === "BCC") put(frame.xor());
    else if (name.startsWith("0x")) put(Number(name));
    else throw new Error(`line ${number}: ${part} is neither a control character, <CS> nor <BCC>`);
  }
  return Uint8Array.from(bytes);
}

/** Sum and XOR from the byte after STX to ETX or ETB, across lines. The sum is the checksum of LIS01-A2 §6.3.3. */
class FrameSum {
  #sum = 0;
  #xor = 0;

  add(byte: number): void {
    this.#sum = byte === STX ? 0 : this.#sum + byte;
    this.#xor = byte === STX ? 0 : this.#xor ^ byte;
  }

  xor(): number {
    return this.#xor;
  }

  checksum(): string {
    return hexByte(this.#sum & 0xff);
  }
}

async function outputWithin(agent: TranscriptPeer, ms: number): Promise<number[]> {
  const output: number[] = [];
  while (output.length < SHOWN_BYTES_MAX) {
    const byte = await agent.reply(ms);
    if (byte === null) break;
    output.push(byte);
  }
  return output;
}

function differs(where: string, output: readonly number[], expected: string): string {
  const got = output.length === 0 ? `nothing within ${REPLY_MS / 1000} s` : wireText(Uint8Array.from(output));
  return `${where}: got ${got}, expected ${expected}`;
}
