import net from "node:net";
import { APPLICATION_CONTEXT } from "../protocols/dicom/uids.ts";
import type { Address } from "../transport/address.ts";
import { type Agreement, Association, type AssociationAction } from "../protocols/dicom/association.ts";
import { concat } from "../protocols/bytes.ts";
import {
  COMMAND,
  type Command,
  COMMAND_BYTES_MAX,
  encodeRequest,
  readCommand,
  type Request,
  RESPONSE,
} from "../protocols/dicom/dimse.ts";
import { IMPLEMENTATION_CLASS_UID, IMPLEMENTATION_VERSION } from "../protocols/dicom/part10.ts";
import { DATA_PDU_BYTES_MAX, type DataFragment, type ProposedContext } from "../protocols/dicom/pdu.ts";
import { SendError } from "../runtime/send-error.ts";

// An association that we open: one request after the other, each with the answer of the peer.

export interface Called {
  readonly address: Address;
  readonly calledAe: string;
  readonly callingAe: string;
  readonly contexts: readonly ProposedContext[];
  /** SOP classes of which we are the provider, although it is we who call. */
  readonly acceptScpScuRole?: readonly string[];
}

const CONNECT_MS = 10_000;

export class DicomClient {
  readonly #socket: net.Socket;
  readonly #association: Association;
  #agreement: Agreement | null = null;
  #over: SendError | null = null;
  #cancelTimer: NodeJS.Timeout | null = null;
  /** When the peer took bytes of ours last: an image of a gigabyte takes longer than a silence may. */
  #takenAt = 0;
  #nextMessageId = 1;
  #command: Uint8Array[] = [];
  /** Pending calls: they wait for the association to open or end, or for a response. */
  #opened: Waiting<void> | null = null;
  #ended: (() => void) | null = null;
  #response: Waiting<Command> | null = null;

  /** @throws SendError: transient where nobody is there, unauthorized where the peer will not have us */
  static async connect(called: Called): Promise<DicomClient> {
    const client = new DicomClient(called);
    await new Promise<void>((resolve, reject) => (client.#opened = { resolve, reject }));
    return client;
  }

  private constructor({ address, calledAe, callingAe, contexts, acceptScpScuRole = [] }: Called) {
    this.#association = Association.requestor({
      protocolVersion: 1,
      calledAe,
      callingAe,
      applicationContext: APPLICATION_CONTEXT,
      contexts,
      acceptScpScuRole,
      maxPduLength: DATA_PDU_BYTES_MAX,
      implementationClassUid: IMPLEMENTATION_CLASS_UID,
      implementationVersion: IMPLEMENTATION_VERSION,
    });
    // Without noDelay a peer's delayed acknowledgement costs 40 ms an image.
    const socket = net.connect({ ...address, noDelay: true, timeout: CONNECT_MS });
    this.#socket = socket;
    let problem: string | null = null;
    socket.once("timeout", () => socket.destroy(new Error(`no connection within ${CONNECT_MS / 1000} s`)));
    socket.on("error", (error) => (problem = error.message));
    socket.once("connect", () => {
      socket.setTimeout(0);
      this.#carryOut(this.#association.start());
    });
    socket.on("data", (chunk) => this.#carryOut(this.#association.receive(chunk)));
    socket.once("close", () => {
      const kind = this.#agreement === null ? "transient" : "uncertain";
      if (problem !== null) this.#end(new SendError(kind, `${address.host}:${address.port}: ${problem}`));
      this.#carryOut(this.#association.closed());
      this.#ended?.();
    });
  }

  /** The context that the peer accepted for that class with that transfer syntax; null: it takes none. */
  contextOf(abstractSyntax: string, transferSyntax: string | null = null): number | null {
    for (const [id, context] of this.#agreement?.contexts ?? []) {
      const isRight = transferSyntax === null || context.transferSyntax === transferSyntax;
      if (context.abstractSyntax === abstractSyntax && isRight) return id;
    }
    return null;
  }

  /**
   * Sends a request with its dataset and waits for the response. One at a time.
   * @throws SendError uncertain when the association ends before it; whatever reading the dataset throws
   */
  async request(
    context: number,
    request: Omit<Request, "messageId" | "hasDataset">,
    dataset: AsyncIterable<Uint8Array> | Iterable<Uint8Array> | null,
  ): Promise<Command> {
    const messageId = this.#nextMessageId;
    this.#nextMessageId = (messageId % 0xffff) + 1;
    const response = new Promise<Command>((resolve, reject) => (this.#response = { resolve, reject }));
    response.catch(() => undefined); // it may fail while the dataset is still on its way
    const hasDataset = dataset !== null;
    await this.#send({
      ...{ context, part: "command", last: true },
      bytes: encodeRequest({ ...request, messageId, hasDataset }),
    });
    if (dataset !== null) {
      // The last piece has to say that it is.
      let held: Uint8Array = new Uint8Array(0);
      for await (const bytes of dataset) {
        if (held.length > 0) await this.#send({ context, part: "dataset", bytes: held, last: false });
        if (this.#over !== null) break;
        held = bytes;
      }
      await this.#send({ context, part: "dataset", bytes: held, last: true });
    }
    return response;
  }

  /** Parts in peace; never rejects. */
  async release(): Promise<void> {
    if (this.#over === null) this.#carryOut(this.#association.release());
    await this.#closed();
  }

  async abort(reason: string): Promise<void> {
    this.#carryOut(this.#association.abort(reason));
    await this.#closed();
  }

  async #closed(): Promise<void> {
    if (!this.#socket.closed) await new Promise<void>((resolve) => (this.#ended = resolve));
  }

  /** Resolves when the peer can take more. */
  async #send(fragment: DataFragment): Promise<void> {
    this.#carryOut(this.#association.send(fragment));
    if (!this.#socket.writableNeedDrain) return;
    await new Promise<void>((resolve) => {
      const goOn = () => {
        this.#socket.off("drain", goOn).off("close", goOn);
        resolve();
      };
      this.#socket.on("drain", goOn).on("close", goOn);
    });
  }

  #carryOut(actions: readonly AssociationAction[]): void {
    for (const action of actions) {
      switch (action.do) {
        case "write":
          this.#socket.write(action.bytes, () => (this.#takenAt = performance.now()));
          break;
        case "timer":
          this.#arm(action.ms);
          break;
        case "close":
          this.#socket.end();
          // A peer that does not hang up in its turn keeps no socket of ours.
          this.#socket.setTimeout(CONNECT_MS, () => this.#socket.destroy());
          break;
        case "open":
          this.#agreement = action.agreement;
          this.#opened?.resolve();
          break;
        case "data":
          this.#take(action);
          break;
        case "over":
          this.#end(failureOf(action, this.#agreement !== null));
          break;
      }
    }
  }

  #arm(ms: number | null): void {
    if (this.#cancelTimer !== null) clearTimeout(this.#cancelTimer);
    this.#cancelTimer = null;
    if (ms === null) return;
    const armedAt = performance.now();
    this.#cancelTimer = setTimeout(() => {
      const moving = this.#socket.writableLength > 0 && this.#takenAt > armedAt;
      if (moving) this.#arm(ms);
      else this.#carryOut(this.#association.timeout());
    }, ms);
  }

  #take({ part, bytes, last }: DataFragment): void {
    if (part === "dataset") return; // of a response: its status says all that we need
    this.#command.push(bytes.slice());
    if (this.#command.reduce((sum, { length }) => sum + length, 0) > COMMAND_BYTES_MAX) {
      return this.#carryOut(this.#association.abort(`a command of more than ${COMMAND_BYTES_MAX} bytes`));
    }
    if (!last) return;
    const command = readCommand(concat(this.#command));
    this.#command = [];
    if (typeof command === "string") return this.#carryOut(this.#association.abort(command));
    if ((command.field & RESPONSE) === 0 || command.field === COMMAND.cCancelRequest) {
      return this.#carryOut(this.#association.abort("a request came where we expect responses"));
    }
    this.#response?.resolve(command);
    this.#response = null;
  }

  #end(failure: SendError): void {
    this.#over ??= failure;
    this.#opened?.reject(this.#over);
    this.#response?.reject(this.#over);
    this.#response = null;
  }
}

interface Waiting<Value> {
  readonly resolve: (value: Value) => void;
  readonly reject: (error: Error) => void;
}

function failureOf({ reason, rejected }: AssociationAction & { do: "over" }, wasOpen: boolean): SendError {
  if (rejected === true) return new SendError("unauthorized", reason ?? ""); // a person has to let us in there
  return new SendError(wasOpen ? "uncertain" : "transient", reason ?? "the association is released");
}
