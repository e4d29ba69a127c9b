import { once } from "node:events";
import net from "node:net";
import { type Encoding, encodingOf } from "../../../agent/protocols/dicom/dataset.ts";
import { COMMAND, encodeRequest, readCommand } from "../../../agent/protocols/dicom/dimse.ts";
import { type Dataset, encodeDataset } from "../../../agent/protocols/dicom/encode.ts";
import { encodeAssociateRequest, encodeData } from "../../../agent/protocols/dicom/network/pdu-encoder.ts";
import { PduReader } from "../../../agent/protocols/dicom/network/pdu-reader.ts";
import type { AssociateRequest, PduEvent } from "../../../agent/protocols/dicom/network/pdu.ts";
import { APPLICATION_CONTEXT } from "../../../agent/protocols/dicom/uids.ts";
import { until } from "../machine/processes.ts";

// Builders of the PDUs and datasets of a DICOM device, and a raw peer.

export const VERIFICATION = "1.2.840.10008.1.1";
export const CR_STORAGE = "1.2.840.10008.5.1.4.1.1.1";
export const IMPLICIT = "1.2.840.10008.1.2";
export const EXPLICIT = "1.2.840.10008.1.2.1";
export const DEFLATED = "1.2.840.10008.1.2.1.99";
export const JPEG = "1.2.840.10008.1.2.4.50";

export const encodeEchoRequest = (messageId: number) =>
  encodeRequest({ field: COMMAND.cEchoRequest, messageId, sopClass: VERIFICATION, sopInstance: "", hasDataset: false });

export const encodeStoreRequest = (messageId: number, sopClass: string, sopInstance: string) =>
  encodeRequest({ field: COMMAND.cStoreRequest, messageId, sopClass, sopInstance, hasDataset: true });

/** Encodes a C-CANCEL, which has no SOP class and no response (PS3.7 §9.3.2.3). */
export const encodeCancelRequest = (messageId: number) =>
  encodeDataset(
    [
      [0x0000_0100, "US", COMMAND.cCancelRequest],
      [0x0000_0120, "US", messageId],
      [0x0000_0800, "US", 0x0101],
    ],
    encodingOf(IMPLICIT) as Encoding,
  );

/** Builds a request with one context per argument, numbered 1, 3, 5. */
export function associateRequest(
  contexts: readonly (readonly [abstractSyntax: string, ...transferSyntaxes: string[]])[],
  others: Partial<AssociateRequest> = {},
): AssociateRequest {
  return {
    protocolVersion: 1,
    calledAe: "VETWIRE",
    callingAe: "DX1",
    applicationContext: APPLICATION_CONTEXT,
    contexts: contexts.map(([abstractSyntax, ...transferSyntaxes], index) => ({
      id: 2 * index + 1,
      abstractSyntax,
      transferSyntaxes,
    })),
    maxPduLength: 16_384,
    implementationClassUid: "1.2.3.4",
    implementationVersion: "TEST",
    ...others,
  };
}

/** Reads the PDUs of written bytes. */
export function pdusIn(written: readonly Uint8Array[]): PduEvent[] {
  const reader = new PduReader();
  return written.flatMap((bytes) => reader.receive(bytes));
}

/** Encodes a small dataset. */
export function dataset(uid = "1.2.3.1", extra: Dataset = [], transferSyntax = EXPLICIT): Uint8Array {
  return encodeDataset(
    [
      [0x0008_0016, "UI", CR_STORAGE],
      [0x0008_0018, "UI", uid],
      [0x0008_0060, "CS", "CR"],
      [0x0010_0010, "PN", "Rex"],
      [0x0020_000d, "UI", "1.2.3"],
      ...extra,
    ],
    encodingOf(transferSyntax) as Encoding,
  );
}

/** Encodes a C-STORE with its dataset in PDUs of at most `maxPduLength` bytes. */
export function storeRequest(context: number, uid: string, bytes: Uint8Array, maxPduLength = 16_384): Uint8Array {
  const command = encodeStoreRequest(1, CR_STORAGE, uid);
  return Buffer.concat([
    encodeData({ context, part: "command", bytes: command, last: true }, 16_384),
    encodeData({ context, part: "dataset", bytes, last: true }, maxPduLength),
  ]);
}

/** Raw peer over a socket: it sends any bytes and reads PDUs. */
export class Peer {
  readonly #socket: net.Socket;
  readonly #reader = new PduReader();
  readonly #pdus: PduEvent[] = [];
  #closed = false;

  static async connect(port: number): Promise<Peer> {
    const socket = net.connect({ port, host: "127.0.0.1", noDelay: true });
    await once(socket, "connect");
    return new Peer(socket);
  }

  /** Connects with an association for CR images, in Explicit VR on context 1. */
  static async associate(port: number): Promise<Peer> {
    const peer = await Peer.connect(port);
    peer.send(encodeAssociateRequest(associateRequest([[CR_STORAGE, EXPLICIT]])));
    const response = await peer.next();
    if (response?.is !== "associate-accept") throw new Error(`expected associate-accept, got ${response?.is}`);
    return peer;
  }

  private constructor(socket: net.Socket) {
    this.#socket = socket;
    socket.on("data", (chunk) => this.#pdus.push(...this.#reader.receive(chunk)));
    socket.on("error", () => undefined);
    socket.on("close", () => (this.#closed = true));
  }

  send(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  /** Returns the next PDU; null after the connection closed. */
  async next(): Promise<PduEvent | null> {
    await until("a PDU", () => this.#pdus.length > 0 || this.#closed);
    return this.#pdus.shift() ?? null;
  }

  /** Returns the status of the next response, or the kind of another PDU. */
  async status(): Promise<number | string> {
    const pdu = await this.next();
    if (pdu?.is !== "data") return pdu?.is ?? "closed";
    const command = readCommand(pdu.bytes);
    return typeof command === "string" ? command : command.status;
  }

  end(): void {
    this.#socket.destroy();
  }
}

/**
 * Encodes nested sequences of undefined length, which take the parser many seconds. The parser searches the end of each one from
 * its start.
 */
export function hostileDataset(levels = 3_000): Uint8Array {
  const start = Buffer.from("4000750253510000fffffffffeff00e0ffffffff", "hex");
  const end = Buffer.from("feff0de000000000feffdde000000000", "hex");
  return Buffer.concat([dataset(), ...Array(levels).fill(start), ...Array(levels).fill(end)] as Buffer[]);
}

/** Builds a dataset of one element with that many empty values. It deflates to a thousandth. */
export function manyValues(count: number): Uint8Array {
  const bytes = Buffer.alloc(12 + count, "\\");
  bytes.write("0800700055430000", "hex");
  bytes.writeUInt32LE(count, 8);
  return bytes;
}
