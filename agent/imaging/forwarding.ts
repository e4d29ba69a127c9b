import fs from "node:fs";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import type { Destination } from "../config/destination.ts";
import { hex } from "../protocols/dicom/bytes.ts";
import { COMMAND, STATUS } from "../protocols/dicom/dimse.ts";
import type { ProposedContext } from "../protocols/dicom/pdu.ts";
import { DicomClient } from "./scu.ts";
import { Drain, type DrainEvents, type DrainTiming } from "../runtime/delivery-loop.ts";
import { imageFile, isArriving } from "./instance-store.ts";
import type { HeldInstance } from "../spool/queries/held-instance.ts";
import { SendError } from "../runtime/send-error.ts";
import type { Spool } from "../spool/spool.ts";
import { stow } from "./stow-rs.ts";

// Sends every instance on to one destination, as its file stands. Each destination has a queue of its own in the spool: one
// that is away delays nobody else.

export interface ForwardEvents extends DrainEvents {
  sent(): void;
  /** The destination will not have this instance, whenever it is offered. */
  refused(message: string, reason: string): void;
}

/** On one association; a context each at most, and there are 128. */
const BATCH = 100;
const READ_BYTES = 128 * 1024;

export class Forward {
  readonly #data: string;
  readonly #spool: Spool;
  readonly #destination: Destination;
  readonly #events: ForwardEvents;
  readonly #drain: Drain;

  constructor(data: string, spool: Spool, destination: Destination, events: ForwardEvents, timing: DrainTiming) {
    this.#data = data;
    this.#spool = spool;
    this.#destination = destination;
    this.#events = events;
    this.#drain = new Drain(() => this.#sendNext(), events, timing);
  }

  /** There may be something to send. */
  wake(): void {
    this.#drain.wake();
  }

  /** Ends after the instance under way. */
  stop(): Promise<void> {
    return this.#drain.stop();
  }

  /** Sends one batch, if there is any; whether there was. */
  async #sendNext(): Promise<boolean> {
    const queued = await this.#spool.call("queuedForwards", this.#destination.id, BATCH);
    // Once it is here, there is a call to look again.
    const batch = queued.filter(({ message }) => !isArriving(this.#data, message));
    if (batch.length === 0) return false;
    if (this.#destination.way === "store") await this.#storeAll(this.#destination, batch);
    else for (const instance of batch) await this.#stow(this.#destination, instance);
    return true;
  }

  async #storeAll(
    { address, aeTitle, callingAeTitle }: Destination & { way: "store" },
    batch: readonly HeldInstance[],
  ): Promise<void> {
    const contexts = contextsFor(batch);
    const client = await DicomClient.connect({ address, calledAe: aeTitle, callingAe: callingAeTitle, contexts });
    try {
      for (const instance of batch) {
        if (this.#drain.stopped) break;
        await this.#offer(instance, () => storeOne(client, this.#data, instance));
      }
    } finally {
      await client.release();
    }
  }

  async #stow(target: Destination & { way: "stow" }, instance: HeldInstance): Promise<void> {
    if (this.#drain.stopped) return;
    const file = imageFile(this.#data, instance.message);
    await this.#offer(instance, () => stow(target, file, instance.transferSyntax));
  }

  /** Skips an instance that failed permanently and notes it. A passing failure stops the queue for a while. */
  async #offer({ message }: HeldInstance, send: () => Promise<void>): Promise<void> {
    const { id } = this.#destination;
    try {
      await send();
    } catch (error) {
      const reason = errorMessage(error);
      if (isPermanent(error)) {
        await this.#spool.call("settleForward", id, message, "refused", reason, Date.now());
        return this.#events.refused(message, reason);
      }
      // It goes to the end of the queue: should it be what breaks the destination, the others are sent before it.
      await this.#spool.call("delayForward", id, message, reason);
      throw error;
    }
    await this.#spool.call("settleForward", id, message, "sent", null, Date.now());
    this.#events.sent();
    this.#drain.succeeded();
  }
}

/** A file that is gone comes back at no later try either. */
function isPermanent(error: unknown): boolean {
  if (error instanceof SendError) return error.kind === "permanent";
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}

/** One for each SOP class in each transfer syntax: nothing is transcoded. */
function contextsFor(batch: readonly HeldInstance[]): ProposedContext[] {
  const pairs = new Map(
    batch.map(({ sopClass, transferSyntax }) => [`${sopClass} ${transferSyntax}`, { sopClass, transferSyntax }]),
  );
  return [...pairs.values()].map(({ sopClass, transferSyntax }, index) => ({
    id: index * 2 + 1,
    abstractSyntax: sopClass,
    transferSyntaxes: [transferSyntax],
  }));
}

async function storeOne(client: DicomClient, data: string, instance: HeldInstance): Promise<void> {
  const { message, sopClass, sopInstance, transferSyntax, head } = instance;
  const context = client.contextOf(sopClass, transferSyntax);
  if (context === null) {
    throw new SendError("permanent", `the peer takes no ${sopClass} with transfer syntax ${transferSyntax}`);
  }
  const file = imageFile(data, message);
  await fs.promises.access(file);
  const dataset = fs.createReadStream(file, { start: head.length, highWaterMark: READ_BYTES });
  const { status, comment } = await client.request(
    context,
    { field: COMMAND.cStoreRequest, sopClass, sopInstance },
    dataset as AsyncIterable<Buffer>,
  );
  if (isStored(status)) return;
  const said = `the peer answered ${hex(status, 4)}${comment === "" ? "" : `: ${comment}`}`;
  throw new SendError(isFull(status) ? "transient" : "permanent", said);
}

/** Coerced or discarded elements and such are the peer's own affair (PS3.4 table B.2-1). */
function isStored(status: number): boolean {
  return status === STATUS.success || status >>> 12 === 0xb;
}

/** Out of resources, and what else may be otherwise tomorrow. */
function isFull(status: number): boolean {
  return status >>> 8 === 0xa7 || status === STATUS.processingFailure;
}
