import { ENQ, STX, VT } from "../../protocols/bytes.ts";
import { playAstmHost } from "./analyzer.ts";
import { playHl7Host } from "./hl7.ts";
import type { SimulatorLine } from "./line.ts";
import type { ReceivedMessage } from "./station.ts";

// Plays the host that a real device sends to, in the protocol of the device.

type HostProtocol = "astm" | "hl7";

export interface HostSession {
  /** null: the first byte of the device decides. */
  readonly protocol: HostProtocol | null;
  /** Messages to receive before the session ends. */
  readonly count: number;
  /** Recording that replies to a query; null replies that there are no orders. */
  readonly reply: Uint8Array | null;
  /** Whether the host sends ENQ at the same time as the device (ASTM). */
  readonly contend: boolean;
}

/** Time between two checks of a silent line, in ms. */
const IDLE_MS = 60_000;

/** Receives messages as the host. @returns the reason of an early end, or null */
export async function playHost(
  line: SimulatorLine,
  { protocol, count, reply, contend }: HostSession,
  onMessage: (received: ReceivedMessage) => void,
): Promise<string | null> {
  const begun = protocol === null ? await awaitProtocol(line) : { protocol, line };
  if (begun === null) return `the line closed after 0 of ${count} messages`;
  return begun.protocol === "hl7"
    ? playHl7Host(begun.line, count, reply, onMessage)
    : playAstmHost(begun.line, count, reply, onMessage, contend);
}

/**
 * Waits for the first byte of a frame: VT begins a message of HL7 (MLLP), ENQ or STX a session of ASTM. Discards noise.
 * @returns the protocol, and the line with that byte as its next one; null if the line closes before
 */
async function awaitProtocol(line: SimulatorLine): Promise<{ protocol: HostProtocol; line: SimulatorLine } | null> {
  for (;;) {
    const byte = await line.reply(IDLE_MS);
    if (byte === VT) return { protocol: "hl7", line: withFirstByte(line, byte) };
    if (byte === ENQ || byte === STX) return { protocol: "astm", line: withFirstByte(line, byte) };
    if (byte === null && !line.isOpen) return null;
  }
}

function withFirstByte(line: SimulatorLine, first: number): SimulatorLine {
  let next: number | null = first;
  return {
    get isOpen() {
      return next !== null || line.isOpen;
    },
    send: (bytes) => line.send(bytes),
    close: () => line.close(),
    async reply(ms) {
      const byte = next;
      next = null;
      return byte ?? line.reply(ms);
    },
  };
}
