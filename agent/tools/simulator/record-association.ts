import { once } from "node:events";
import net from "node:net";
import type { Address } from "../../transport/address.ts";
import { hex } from "../../protocols/dicom/bytes.ts";

// A wire between an imaging device and its receiver that writes down what passes: one PDU a line, `<` from the device, `>`
// from the receiver, in hexadecimal. Such a file is a fixture.

/** Longer ones are no PDUs that we take: what passes is written as it comes then. */
const PDU_BYTES_MAX = 1024 * 1024;
const HEADER_BYTES = 6;

/** Puts the PDUs of one direction together. */
class PduLines {
  readonly #mark: "<" | ">";
  #waiting: Buffer = Buffer.alloc(0);

  constructor(mark: "<" | ">") {
    this.#mark = mark;
  }

  receive(chunk: Uint8Array): string[] {
    this.#waiting = Buffer.concat([this.#waiting, chunk]);
    const lines: string[] = [];
    while (this.#waiting.length >= HEADER_BYTES) {
      const length = HEADER_BYTES + this.#waiting.readUInt32BE(2);
      if (length > PDU_BYTES_MAX) return [...lines, ...this.end()];
      if (this.#waiting.length < length) break;
      lines.push(this.#line(this.#waiting.subarray(0, length)));
      this.#waiting = this.#waiting.subarray(length);
    }
    return lines;
  }

  /** What came without being a whole PDU. */
  end(): string[] {
    const rest = this.#waiting;
    this.#waiting = Buffer.alloc(0);
    return rest.length === 0 ? [] : [this.#line(rest)];
  }

  #line(bytes: Uint8Array): string {
    return `${this.#mark} ${Array.from(bytes, (byte) => hex(byte, 2)).join("")}`;
  }
}

export interface RecordedLine {
  readonly from: "device" | "receiver";
  readonly bytes: Uint8Array;
}

/** The lines of a recording; `#` begins a remark. @throws Error where a line is none */
export function parseRecording(text: string): RecordedLine[] {
  return text
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line, index) => {
      const match = /^([<>]) ((?:[0-9A-Fa-f]{2})+)$/.exec(line.trim());
      if (match === null) throw new Error(`line ${index + 1} is neither < nor > and bytes in hexadecimal`);
      return { from: match[1] === "<" ? "device" : "receiver", bytes: Buffer.from(match[2] ?? "", "hex") };
    });
}

/** Listens, and passes one connection on; `lines` are there once both sides have hung up. */
export async function recordAssociation(
  listen: Address,
  to: Address,
): Promise<{ readonly lines: Promise<readonly string[]> }> {
  const server = net.createServer({ noDelay: true });
  const lines = new Promise<readonly string[]>((resolve) => {
    server.once("connection", (device) => {
      server.close(); // one association a recording
      resolve(passOn(device, net.connect({ ...to, noDelay: true })));
    });
  });
  server.listen(listen);
  await once(server, "listening");
  return { lines };
}

async function passOn(device: net.Socket, receiver: net.Socket): Promise<readonly string[]> {
  const lines: string[] = [];
  const pass = (from: net.Socket, into: net.Socket, pdus: PduLines) => {
    from.on("data", (chunk) => {
      lines.push(...pdus.receive(chunk));
      if (!into.write(chunk)) from.pause();
    });
    into.on("drain", () => from.resume());
    from.on("end", () => into.end());
    from.on("error", () => into.destroy());
    return new Promise<void>((closed) =>
      from.once("close", () => {
        lines.push(...pdus.end());
        closed();
      }),
    );
  };
  await Promise.all([pass(device, receiver, new PduLines("<")), pass(receiver, device, new PduLines(">"))]);
  return lines;
}
