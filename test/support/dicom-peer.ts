import net from "node:net";
import { Association, type AssociationAction } from "../../agent/protocols/dicom/association.ts";
import { type Attributes, encodeAttributes, readAttributes } from "../../agent/protocols/dicom/attributes.ts";
import { encodingOf } from "../../agent/protocols/dicom/dataset.ts";
import {
  type Command,
  encodeRequest,
  encodeResponse,
  readCommand,
  type Request,
} from "../../agent/protocols/dicom/dimse.ts";
import type { AssociateRequest } from "../../agent/protocols/dicom/pdu.ts";
import { associateRequest, encodeCancelRequest, EXPLICIT } from "./dicom.ts";

export interface Heard {
  readonly context: number;
  readonly command: Command;
  readonly attributes: Attributes | null;
}

const EXPLICIT_ENCODING = encodingOf(EXPLICIT)!;

/** A device that says what the test wants, in Explicit VR Little Endian, and keeps what it hears. */
export class TestPeer {
  readonly #socket: net.Socket;
  readonly #association: Association;
  readonly #heard: Heard[] = [];
  readonly #waiting: ((heard: Heard) => void)[] = [];
  #opened: () => void = () => undefined;
  #parts: Uint8Array[] = [];
  #command: Command | null = null;
  /** What was proposed to it, where it was called. */
  request: AssociateRequest | null = null;

  static async connect(port: number, sopClass: string, callingAe = "DX1"): Promise<TestPeer> {
    const request = associateRequest([[sopClass, EXPLICIT]], { callingAe });
    const peer = new TestPeer(net.connect(port, "127.0.0.1"), Association.requestor(request));
    await new Promise<void>((resolve) => (peer.#opened = resolve));
    return peer;
  }

  /** Is called by whoever connects to that port; every context is accepted. */
  static listen(port: number): Promise<{ readonly called: Promise<TestPeer>; close(): Promise<void> }> {
    return new Promise((resolve) => {
      let accept: (peer: TestPeer) => void;
      const called = new Promise<TestPeer>((taken) => (accept = taken));
      const server = net.createServer((socket) => {
        const association: Association = Association.acceptor((request) => {
          peer.request = request;
          const contexts = request.contexts.map(({ id, transferSyntaxes: [transferSyntax = ""] }) => ({
            ...{ id, result: "acceptance" as const, transferSyntax },
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

  ask(request: Omit<Request, "hasDataset">, attributes: Attributes): void {
    this.#send("command", encodeRequest({ ...request, hasDataset: true }), 1);
    this.#send("dataset", encodeAttributes(attributes, EXPLICIT_ENCODING), 1);
  }

  /** Asks, and says in the same write that the answer is not wanted: nothing can be answered in between. */
  askAndCancel(request: Omit<Request, "hasDataset">, attributes: Attributes): void {
    this.#socket.cork();
    this.ask(request, attributes);
    this.#send("command", encodeCancelRequest(request.messageId), 1);
    this.#socket.uncork();
  }

  answer({ context, command }: Heard, status: number): void {
    this.#send("command", encodeResponse(command, status, null), context);
  }

  /** The next command, with its dataset. */
  hear(): Promise<Heard> {
    const heard = this.#heard.shift();
    return heard !== undefined ? Promise.resolve(heard) : new Promise((resolve) => this.#waiting.push(resolve));
  }

  async release(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#socket.once("close", () => resolve()));
    this.#carryOut(this.#association.release());
    await closed;
  }

  cut(): void {
    this.#socket.destroy();
  }

  #send(part: "command" | "dataset", bytes: Uint8Array, context: number): void {
    this.#carryOut(this.#association.send({ context, part, bytes, last: true }));
  }

  #carryOut(actions: readonly AssociationAction[]): void {
    for (const action of actions) {
      if (action.do === "write") this.#socket.write(action.bytes);
      else if (action.do === "close") this.#socket.end();
      else if (action.do === "open") this.#opened();
      else if (action.do === "data") this.#take(action.context, action.bytes, action.last);
    }
  }

  #take(context: number, bytes: Uint8Array, last: boolean): void {
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

  #keep(heard: Heard): void {
    const waiting = this.#waiting.shift();
    if (waiting !== undefined) waiting(heard);
    else this.#heard.push(heard);
  }
}
