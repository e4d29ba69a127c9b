import net from "node:net";
import { connectionFault } from "../../../shared/network/connection-fault.ts";
import { APPLICATION_CONTEXT } from "../../protocols/dicom/uids.ts";
import type { Address } from "../../transport/address.ts";
import { type Agreement, Association, type AssociationAction } from "../../protocols/dicom/network/association.ts";
import { concat } from "../../protocols/bytes.ts";
import {
  COMMAND,
  type Command,
  COMMAND_BYTES_MAX,
  encodeRequest,
  readCommand,
  type DimseRequest,
  RESPONSE,
} from "../../protocols/dicom/dimse.ts";
import { IMPLEMENTATION_CLASS_UID, IMPLEMENTATION_VERSION } from "../../protocols/dicom/part10.ts";
import { DATA_PDU_BYTES_MAX, type DataFragment, type ProposedContext } from "../../protocols/dicom/network/pdu.ts";
import { SendError } from "../../runtime/send-error.ts";

// Service class user: opens an association and sends one request after the other.

export interface ScuOptions {
  readonly address: Address;
  readonly calledAe: string;
  readonly callingAe: string;
  readonly contexts: readonly ProposedContext[];
  /** SOP classes of which the agent is the SCP on its own association (SCP/SCU Role Selection, PS3.7 §D.3.3.4). */
  readonly acceptScpScuRole?: readonly string[];
  /** Max wait for a response after the complete request is sent, in ms. */
  readonly responseMs?: number;
}

/** Max wait for the connection, and for the peer to close it at the end. */
const CONNECT_MS = 10_000;
/** A peer that sends other PDUs all the while must not hold the next request for ever. An archive may check a large image. */
const RESPONSE_MS = 5 * 60_000;

export class DicomClient {
  readonly #socket: net.Socket;
  readonly #association: Association;
  readonly #responseMs: number;
  #agreement: Agreement | null = null;
  #over: SendError | null = null;
  #cancelTimer: NodeJS.Timeout | null = null;
  /** Time of the last write that reached the peer. An image of 1 GB may take longer than the idle timeout. */
  #writtenAt = 0;
  #nextMessageId = 1;
  #command: Uint8Array[] = [];
  /** Calls that wait for the association to open or end, or for a response. */
  #opened: PendingCall<void> | null = null;
  #ended: (() => void) | null = null;
  #response: PendingCall<Command> | null = null;

  /** Opens an association. @throws SendError: transient if the peer is unreachable, unauthorized if it rejects the agent */
  static async connect(options: ScuOptions): Promise<DicomClient> {
    const client = new DicomClient(options);
    await new Promise<void>((resolve, reject) => (client.#opened = { resolve, reject }));
    return client;
  }

  private constructor({ address, calledAe, callingAe, contexts, acceptScpScuRole = [], responseMs }: ScuOptions) {
    this.#responseMs = responseMs ?? RESPONSE_MS;
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
    socket.on("error", (error) => (problem = connectionFault(error)));
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

  /** Returns the accepted context of a SOP class in a transfer syntax (null for any); null without one. */
  contextOf(abstractSyntax: string, transferSyntax: string | null = null): number | null {
    for (const [id, context] of this.#agreement?.contexts ?? []) {
      const isWanted = transferSyntax === null || context.transferSyntax === transferSyntax;
      if (context.abstractSyntax === abstractSyntax && isWanted) return id;
    }
    return null;
  }

  /**
   * Sends a request with its dataset and waits for the response. The caller waits for it before the next request.
   * @throws SendError: uncertain if the association ends first, or no response comes in time. Errors of reading the dataset
   * pass through.
   */
  async request(
    context: number,
    request: Omit<DimseRequest, "messageId" | "hasDataset">,
    dataset: AsyncIterable<Uint8Array> | Iterable<Uint8Array> | null,
  ): Promise<Command> {
    // An association may end between two requests, and nothing would reject the second one.
    if (this.#over !== null) throw this.#over;
    const messageId = this.#nextMessageId;
    this.#nextMessageId = (messageId % 0xffff) + 1;
    const response = new Promise<Command>((resolve, reject) => (this.#response = { resolve, reject }));
    response.catch(() => undefined); // may reject while the dataset is being sent
    const hasDataset = dataset !== null;
    await this.#send({
      context,
      part: "command",
      bytes: encodeRequest({ ...request, messageId, hasDataset }),
      last: true,
    });
    if (dataset !== null) {
      // The last fragment is marked, so one fragment is held back.
      let held: Uint8Array = new Uint8Array(0);
      for await (const bytes of dataset) {
        if (held.length > 0) await this.#send({ context, part: "dataset", bytes: held, last: false });
        if (this.#over !== null) break;
        held = bytes;
      }
      await this.#send({ context, part: "dataset", bytes: held, last: true });
    }
    const late = `no response within ${this.#responseMs / 1000} s`;
    const deadline = setTimeout(() => this.#carryOut(this.#association.abort(late)), this.#responseMs);
    return response.finally(() => clearTimeout(deadline));
  }

  /** Releases the association. Never rejects. */
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

  /** Sends a fragment. Resolves when the socket accepts more. */
  async #send(fragment: DataFragment): Promise<void> {
    this.#carryOut(this.#association.send(fragment));
    if (!this.#socket.writableNeedDrain) return;
    await new Promise<void>((resolve) => {
      const proceed = () => {
        this.#socket.off("drain", proceed).off("close", proceed);
        resolve();
      };
      this.#socket.on("drain", proceed).on("close", proceed);
    });
  }

  #carryOut(actions: readonly AssociationAction[]): void {
    for (const action of actions) {
      switch (action.do) {
        case "write":
          this.#socket.write(action.bytes, () => (this.#writtenAt = performance.now()));
          break;
        case "timer":
          this.#startTimer(action.ms);
          break;
        case "close":
          this.#socket.end();
          // The timeout frees the socket if the peer does not close it.
          this.#socket.setTimeout(CONNECT_MS, () => this.#socket.destroy());
          break;
        case "open":
          this.#agreement = action.agreement;
          this.#opened?.resolve();
          break;
        case "data":
          this.#receiveFragment(action);
          break;
        case "over":
          this.#end(failureOf(action, this.#agreement !== null));
          break;
      }
    }
  }

  #startTimer(ms: number | null): void {
    if (this.#cancelTimer !== null) clearTimeout(this.#cancelTimer);
    this.#cancelTimer = null;
    if (ms === null) return;
    const armedAt = performance.now();
    this.#cancelTimer = setTimeout(() => {
      const isMoving = this.#socket.writableLength > 0 && this.#writtenAt > armedAt;
      if (isMoving) this.#startTimer(ms);
      else this.#carryOut(this.#association.timeout());
    }, ms);
  }

  #receiveFragment({ part, bytes, last }: DataFragment): void {
    if (part === "dataset") return; // the status of a response is enough
    if (bytes.length > 0) this.#command.push(bytes.slice());
    if (this.#command.reduce((sum, { length }) => sum + length, 0) > COMMAND_BYTES_MAX) {
      return this.#carryOut(this.#association.abort(`a command of more than ${COMMAND_BYTES_MAX} bytes`));
    }
    if (!last) return;
    const command = readCommand(concat(this.#command));
    this.#command = [];
    if (typeof command === "string") return this.#carryOut(this.#association.abort(command));
    if ((command.field & RESPONSE) === 0 || command.field === COMMAND.cCancelRequest) {
      return this.#carryOut(this.#association.abort("expected a response, got a request"));
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

interface PendingCall<Value> {
  readonly resolve: (value: Value) => void;
  readonly reject: (error: Error) => void;
}

function failureOf({ reason, rejected }: AssociationAction & { do: "over" }, wasOpen: boolean): SendError {
  if (rejected === true) return new SendError("unauthorized", reason ?? ""); // a user has to allow the agent at the peer
  return new SendError(wasOpen ? "uncertain" : "transient", reason ?? "the association is released");
}
