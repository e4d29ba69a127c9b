import net from "node:net";
import tls from "node:tls";
import { encodeMllp } from "../../../agent/protocols/mllp.ts";
import { FS } from "../../../agent/protocols/bytes.ts";
import { patiently } from "../runner/patience.ts";

/** Encodes segments as one message in a frame. */
export function frameOf(segments: readonly string[]): Uint8Array {
  return encodeMllp(Buffer.from(segments.map((segment) => `${segment}\r`).join("")));
}

export interface BloodCount {
  /** MSH-10. */
  readonly id: string;
  /** As typed at the device. */
  readonly patient: string;
  /** Device time, YYYYMMDDHHMMSS. */
  readonly measured: string;
  readonly wbc: number | string;
  /** MSH-7; default: the time of the measurement. */
  readonly sent?: string;
}

/** Returns the segments of an ORU^R01 of a hematology analyzer with two analytes. */
export function bloodCount({ id, patient, measured, wbc, sent = measured }: BloodCount): string[] {
  return [
    `MSH|^~\\&|HEMA-1|Vendor|||${sent}||ORU^R01|${id}|P|2.3.1||||||UNICODE`,
    `PID|1||${patient}^^^^MR`,
    `OBR|1||S-1|00001^Automated Count^99MRC|||${measured}`,
    `OBX|1|NM|6690-2^WBC^LN||${wbc}|10*9/L|6.00-17.00|N|||F`,
    "OBX|2|NM|777-3^PLT^LN||318|10*9/L|200-500|N|||F",
  ];
}

/** Device side of an MLLP connection. */
export class MllpClient {
  readonly #socket: net.Socket;
  #received: Buffer = Buffer.alloc(0);
  #closed = false;

  /** Connects over TLS if `security` is given, else over TCP. */
  static connect(port: number, security: tls.ConnectionOptions | null = null): Promise<MllpClient> {
    const address = { host: "127.0.0.1", port, noDelay: true, allowHalfOpen: true };
    const socket = security === null ? net.connect(address) : tls.connect({ ...address, ...security });
    return new Promise((resolve, reject) => {
      socket.once("error", reject);
      socket.once(security === null ? "connect" : "secureConnect", () => resolve(new MllpClient(socket)));
    });
  }

  /** Wraps an accepted connection. */
  static of(socket: net.Socket): MllpClient {
    return new MllpClient(socket);
  }

  private constructor(socket: net.Socket) {
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => (this.#received = Buffer.concat([this.#received, chunk])));
    socket.on("error", () => undefined); // "close" follows
    socket.once("close", () => (this.#closed = true));
  }

  send(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  /** Returns the next reply without its frame; null after a close or `ms` milliseconds. */
  async nextReply(ms = patiently(10_000)): Promise<string | null> {
    const until = performance.now() + ms;
    for (;;) {
      const end = this.#received.indexOf(FS);
      if (end >= 0 && end + 1 < this.#received.length) {
        const reply = this.#received.subarray(1, end).toString("latin1");
        this.#received = this.#received.subarray(end + 2);
        return reply;
      }
      if (this.#closed || performance.now() > until) return null;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  /** Sends a message. @returns its reply as nextReply() does */
  async exchange(segments: readonly string[]): Promise<string | null> {
    this.send(frameOf(segments));
    return this.nextReply();
  }

  /** Closes the sending side and keeps receiving. */
  end(): void {
    this.#socket.end();
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  close(): void {
    this.#socket.destroy();
  }
}

/** Returns MSA-1 and MSA-2 of a reply: `AA 4711`. */
export function verdict(reply: string | null): string {
  const [, code, id] = /\rMSA\|(\w+)\|([^|\r]*)/.exec(reply ?? "") ?? [];
  return reply === null ? "nothing" : `${code} ${id}`.trim();
}
