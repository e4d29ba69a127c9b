import fs from "node:fs";
import { errorCode, errorMessage } from "../../../shared/runtime/error-message.ts";
import type { Destination } from "../../config/values/destination.ts";
import { hex } from "../../protocols/dicom/bytes.ts";
import { COMMAND, STATUS } from "../../protocols/dicom/dimse.ts";
import type { ProposedContext } from "../../protocols/dicom/network/pdu.ts";
import { imageFile, isPartial } from "../files/image-folder.ts";
import { DicomClient } from "./scu.ts";
import { DeliveryLoop, type DeliveryEvents, type DeliveryTiming } from "../../runtime/delivery-loop.ts";
import type { InstanceFile } from "../../spool/queries/images/instance-file.ts";
import { SendError } from "../../runtime/send-error.ts";
import type { SetTimer } from "../../runtime/timer.ts";
import type { Spool } from "../../spool/spool.ts";
import { messageReason } from "../../page/types/message-codes.ts";
import { SET_ASIDE, Tries } from "../../spool/tries.ts";
import { storeInBucket } from "./s3-archive.ts";
import { stow } from "./stow-rs.ts";

// Forwards every instance to one destination without transcoding. Each destination has its own queue in the spool, so that
// an unreachable one delays no other.

export interface ForwardEvents extends DeliveryEvents {
  sent(): void;
  /** Reports an instance that the destination refused permanently. */
  refused(message: string, reason: string): void;
}

/** Instances per association. Each may need a presentation context of its own, and 128 are allowed. */
const BATCH = 100;
const READ_BYTES = 128 * 1024;
/** Time after which an instance is sent again whose sending ended the agent twice. */
const ASIDE_MS = 60 * 60_000;

export class ForwardQueue {
  readonly #data: string;
  readonly #spool: Spool;
  readonly #destination: Destination;
  readonly #events: ForwardEvents;
  readonly #loop: DeliveryLoop;
  readonly #tries: Tries;
  readonly #setTimer: SetTimer;
  /** Instances that are set aside, with what cancels their timers. */
  readonly #aside = new Map<string, () => void>();
  readonly #stopping = new AbortController();

  constructor(data: string, spool: Spool, destination: Destination, events: ForwardEvents, timing: DeliveryTiming) {
    this.#data = data;
    this.#spool = spool;
    this.#destination = destination;
    this.#events = events;
    this.#tries = new Tries(spool, "forward");
    this.#setTimer = timing.setTimer;
    this.#loop = new DeliveryLoop(() => this.#sendNext(), events, timing);
  }

  /** Sends the queued instances. */
  wake(): void {
    this.#loop.wake();
  }

  /** Stops after the instance that is being sent. A store goes on with its parts after the next start. */
  stop(): Promise<void> {
    this.#stopping.abort();
    for (const cancel of this.#aside.values()) cancel();
    return this.#loop.stop();
  }

  /** Sends one batch. @returns false if the queue is empty */
  async #sendNext(): Promise<boolean> {
    const queued = await this.#spool.call("queuedForwards", this.#destination.id, BATCH);
    // A partial instance is skipped. wake() is called once it is stored.
    const batch = queued.filter(({ message }) => !isPartial(this.#data, message) && !this.#aside.has(message));
    if (batch.length === 0) return false;
    if (this.#destination.way === "store") await this.#sendByStore(this.#destination, batch);
    else for (const instance of batch) await this.#sendByHttp(this.#destination, instance);
    return true;
  }

  async #sendByStore(
    { address, aeTitle, callingAeTitle }: Destination & { way: "store" },
    batch: readonly InstanceFile[],
  ): Promise<void> {
    const contexts = contextsFor(batch);
    const client = await DicomClient.connect({ address, calledAe: aeTitle, callingAe: callingAeTitle, contexts });
    try {
      for (const instance of batch) {
        if (this.#loop.stopped) break;
        await this.#send(instance, () => storeOne(client, this.#data, instance));
      }
    } finally {
      await client.release();
    }
  }

  async #sendByHttp(target: Destination & { way: "stow" | "s3" }, instance: InstanceFile): Promise<void> {
    if (this.#loop.stopped) return;
    const { signal } = this.#stopping;
    await this.#send(instance, () =>
      target.way === "stow"
        ? stow(target, imageFile(this.#data, instance.message), instance)
        : storeInBucket(target, this.#data, instance, signal),
    );
  }

  /** Sends an instance. A permanent failure is recorded; a transient one delays the queue. @throws a transient failure */
  async #send({ message }: InstanceFile, send: () => Promise<void>): Promise<void> {
    const { id } = this.#destination;
    const item = `${id} ${message}`;
    try {
      if ((await this.#tries.run(item, async () => send().then(() => "sent"))) === null)
        return this.#setAside(item, message);
    } catch (error) {
      const reason = errorMessage(error);
      if (isPermanent(error)) {
        await this.#spool.call("settleForward", id, message, "refused", reason, Date.now());
        return this.#events.refused(message, reason);
      }
      // An upload that the stop interrupts has not failed.
      if (this.#loop.stopped && this.#destination.way === "s3") return;
      // The instance moves to the end of the queue, in case it breaks the destination.
      await this.#spool.call("delayForward", id, message, { reason });
      throw error;
    }
    await this.#spool.call("settleForward", id, message, "sent", null, Date.now());
    this.#events.sent();
    this.#loop.succeeded();
  }

  /**
   * Sends all others first, and this instance once the agent has run for an hour. It is not refused: a slow archive and two power cuts
   * look like an instance that ends the agent.
   */
  async #setAside(item: string, message: string): Promise<void> {
    const why = { code: SET_ASIDE, reason: null };
    await this.#spool.call("delayForward", this.#destination.id, message, why);
    this.#events.failed("transient", messageReason(why) ?? "");
    const cancel = this.#setTimer(ASIDE_MS, () => {
      this.#aside.delete(message);
      this.#tries.end(item);
      this.wake();
    });
    this.#aside.set(message, cancel);
  }
}

/** Returns whether a retry cannot succeed. A missing file does not come back. */
function isPermanent(error: unknown): boolean {
  if (error instanceof SendError) return error.kind === "permanent";
  return errorCode(error) === "ENOENT";
}

/** Proposes a context per SOP class and transfer syntax, because nothing is transcoded. */
function contextsFor(batch: readonly InstanceFile[]): ProposedContext[] {
  const pairs = new Map(
    batch.map(({ sopClass, transferSyntax }) => [`${sopClass} ${transferSyntax}`, { sopClass, transferSyntax }]),
  );
  return [...pairs.values()].map(({ sopClass, transferSyntax }, index) => ({
    id: index * 2 + 1,
    abstractSyntax: sopClass,
    transferSyntaxes: [transferSyntax],
  }));
}

async function storeOne(client: DicomClient, data: string, instance: InstanceFile): Promise<void> {
  const { message, sopClass, sopInstance, transferSyntax, head } = instance;
  const context = client.contextOf(sopClass, transferSyntax);
  if (context === null) {
    throw new SendError("permanent", `the peer does not accept ${sopClass} with transfer syntax ${transferSyntax}`);
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
  const reason = `the peer responded with status ${hex(status, 4)}${comment === "" ? "" : `: ${comment}`}`;
  throw new SendError(isTransient(status) ? "transient" : "permanent", reason);
}

/** Returns whether the peer stored the instance. Warnings (PS3.4 table B.2-1) count as success. */
function isStored(status: number): boolean {
  return status === STATUS.success || status >>> 12 === 0xb;
}

/** Returns whether a retry may succeed: out of resources, processing failure. */
function isTransient(status: number): boolean {
  return status >>> 8 === 0xa7 || status === STATUS.processingFailure;
}
