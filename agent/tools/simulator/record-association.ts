import { once } from "node:events";
import net from "node:net";
import type { Address } from "../../transport/address.ts";
import { hex } from "../../protocols/dicom/bytes.ts";

// Relays an association between an imaging device and its receiver, and records it as a fixture: one PDU a line in
// hexadecimal, `<` from the device, `>` from the receiver.

/** Max length of a PDU in bytes; the bytes of a longer one are recorded as they arrive. */
const PDU_BYTES_MAX = 1024 * 1024;
const HEADER_BYTES = 6;

/** Assembles the PDUs of one direction. */
class PduRecorder {
  readonly #mark: "<" | ">";
  #pending: Buffer = Buffer.alloc(0);

  constructor(mark: "<" | ">") {
    this.#mark = mark;
  }

  receive(chunk: Uint8Array): string[] {
    this.#pending = Buffer.concat([this.#pending, chunk]);
    const lines: string[] = [];
    while (this.#pending.length >= HEADER_BYTES) {
      const length = HEADER_BYTES + this.#pending.readUInt32BE(2);
      if (length > PDU_BYTES_MAX) return [...lines, ...this.end()];
      if (this.#pending.length < length) break;
      lines.push(this.#line(this.#pending.subarray(0, length)));
      this.#pending = this.#pending.subarray(length);
    }
    return lines;
  }

  /** Returns the bytes of an incomplete PDU as a line. */
  end(): string[] {
    const rest = this.#pending;
    this.#pending = Buffer.alloc(0);
    return rest.length === 0 ? [] : [this.#line(rest)];
  }

  #line(bytes: Uint8Array): string {
    return `${this.#mark} ${Array.from(bytes, (byte) => hex(byte, 2)).join("")}`;
  }
}

/** Listens for one connection and relays it. `lines` resolves once both sides have closed. */
export async function recordAssociation(
  listen: Address,
  to: Address,
): Promise<{ readonly lines: Promise<readonly string[]> }> {
  const server = net.createServer({ noDelay: true });
  const lines = new Promise<readonly string[]>((resolve) => {
    server.once("connection", (device) => {
      server.close(); // one association a recording
      resolve(relay(device, net.connect({ ...to, noDelay: true })));
    });
  });
  server.listen(listen);
  await once(server, "listening");
  return { lines };
}

async function relay(device: net.Socket, receiver: net.Socket): Promise<readonly string[]> {
  const lines: string[] = [];
  const pass = (from: net.Socket, into: net.Socket, pdus: PduRecorder) => {
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
  await Promise.all([pass(device, receiver, new PduRecorder("<")), pass(receiver, device, new PduRecorder(">"))]);
  return lines;
}
