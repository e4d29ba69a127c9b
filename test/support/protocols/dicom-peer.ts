import net from "node:net";
import { Association, type AssociationAction } from "../../../agent/protocols/dicom/network/association.ts";
import type { Attributes } from "../../../agent/protocols/dicom/attribute-table.ts";
import { encodeAttributes, readAttributes } from "../../../agent/protocols/dicom/attributes.ts";
import { encodingOf } from "../../../agent/protocols/dicom/dataset.ts";
import {
  type Command,
  type DimseRequest,
  encodeRequest,
  encodeResponse,
  readCommand,
} from "../../../agent/protocols/dicom/dimse.ts";
import type { AssociateRequest } from "../../../agent/protocols/dicom/network/pdu.ts";
import { associateRequest, encodeCancelRequest, EXPLICIT } from "./dicom.ts";

/** Command that the peer received, with its dataset. */
export interface ReceivedCommand {
  readonly context: number;
  readonly command: Command;
  readonly attributes: Attributes | null;
}

const EXPLICIT_ENCODING = encodingOf(EXPLICIT)!;

/** Scripted DICOM peer in Explicit VR Little Endian. It queues the commands that it receives. */
export class TestPeer {
  readonly #socket: net.Socket;
  readonly #association: Association;
  readonly #received: ReceivedCommand[] = [];
  readonly #receivers: ((received: ReceivedCommand) => void)[] = [];
  #opened: () => void = () => undefined;
  #parts: Uint8Array[] = [];
  #command: Command | null = null;
  /** Association request of the agent, after listen(). */
  request: AssociateRequest | null = null;

  static async connect(port: number, sopClass: string, callingAe = "DX1"): Promise<TestPeer> {
    const request = associateRequest([[sopClass, EXPLICIT]], { callingAe });
    const peer = new TestPeer(net.connect(port, "127.0.0.1"), Association.requestor(request));
    await new Promise<void>((resolve) => (peer.#opened = resolve));
    return peer;
  }

  /** Waits for one association on the port and accepts every context. */
  static listen(port: number): Promise<{ readonly called: Promise<TestPeer>; close(): Promise<void> }> {
    return new Promise((resolve) => {
      let accept: (peer: TestPeer) => void;
      const called = new Promise<TestPeer>((taken) => (accept = taken));
      const server = net.createServer((socket) => {
        const association: Association = Association.acceptor((request) => {
          peer.request = request;
          const contexts = request.contexts.map(({ id, transferSyntaxes: [transferSyntax = ""] }) => ({
            id,
            result: "acceptance" as const,
            transferSyntax,
          }));
          return { ...request, contexts };
        });
        const peer: TestPeer = new TestPeer(socket, association);
        accept(peer);
      });
      server.listen(port, "127.0.0.1", () =>
        resolve({ called, close: () => new Promise<void>((closed) => server.close(() => closed())) }),
      );
    });
  }

  private constructor(socket: net.Socket, association: Association) {
    this.#socket = socket;
    this.#association = association;
    socket.once("connect", () => this.#carryOut(association.start()));
    socket.on("data", (chunk) => this.#carryOut(association.receive(chunk)));
    socket.on("error", () => undefined);
    socket.once("close", () => this.#carryOut(association.closed()));
  }

  send(request: Omit<DimseRequest, "hasDataset">, attributes: Attributes): void {
    this.#sendFragment("command", encodeRequest({ ...request, hasDataset: true }), 1);
    this.#sendFragment("dataset", encodeAttributes(attributes, EXPLICIT_ENCODING), 1);
  }

  /** Sends a request and its cancel in one write, so that no response comes in between. */
  sendAndCancel(request: Omit<DimseRequest, "hasDataset">, attributes: Attributes): void {
    this.#socket.cork();
    this.send(request, attributes);
    this.#sendFragment("command", encodeCancelRequest(request.messageId), 1);
    this.#socket.uncork();
  }

  respond({ context, command }: ReceivedCommand, status: number): void {
    this.#sendFragment("command", encodeResponse(command, status, null), context);
  }

  /** Sends a piece of a dataset that belongs to no command. */
  sendStray(context: number): void {
    this.#carryOut(this.#association.send({ context, part: "dataset", bytes: Uint8Array.of(0), last: false }));
  }

  /** Returns the next command, with its dataset. */
  receive(): Promise<ReceivedCommand> {
    const received = this.#received.shift();
    return received !== undefined ? Promise.resolve(received) : new Promise((resolve) => this.#receivers.push(resolve));
  }

  async release(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#socket.once("close", () => resolve()));
    this.#carryOut(this.#association.release());
    await closed;
  }

  cut(): void {
    this.#socket.destroy();
  }

  #sendFragment(part: "command" | "dataset", bytes: Uint8Array, context: number): void {
    this.#carryOut(this.#association.send({ context, part, bytes, last: true }));
  }

  #carryOut(actions: readonly AssociationAction[]): void {
    for (const action of actions) {
      if (action.do === "write") this.#socket.write(action.bytes);
      else if (action.do === "close") this.#socket.end();
      else if (action.do === "open") this.#opened();
      else if (action.do === "data") this.#receiveFragment(action.context, action.bytes, action.last);
    }
  }

  #receiveFragment(context: number, bytes: Uint8Array, last: boolean): void {
    this.#parts.push(bytes.slice());
    if (!last) return;
    const whole = Buffer.concat(this.#parts);
    this.#parts = [];
    if (this.#command === null) {
      const command = readCommand(whole);
      if (typeof command === "string") throw new Error(command);
      if (command.hasDataset) this.#command = command;
      else this.#keep({ context, command, attributes: null });
      return;
    }
    const read = readAttributes(whole, EXPLICIT_ENCODING);
    if (typeof read === "string") throw new Error(read);
    this.#keep({ context, command: this.#command, attributes: read.attributes });
    this.#command = null;
  }

  #keep(received: ReceivedCommand): void {
    const receiver = this.#receivers.shift();
    if (receiver !== undefined) receiver(received);
    else this.#received.push(received);
  }
}
