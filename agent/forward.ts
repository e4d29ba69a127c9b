import fs from "node:fs";
import type { SetTimer } from "./connection.ts";
import { hex } from "./dicom/bytes.ts";
import { COMMAND, STATUS } from "./dicom/dimse.ts";
import type { ProposedContext } from "./dicom/pdu.ts";
import { DicomClient } from "./dicom-client.ts";
import { imageFile } from "./image-store.ts";
import type { HeldInstance } from "./imaging-operations.ts";
import { type FailureKind, SendError } from "./server.ts";
import type { Spool } from "./spool.ts";
import { type StowTarget, stow } from "./stow.ts";
import type { Address } from "./transport.ts";

// Sends every instance on to one destination, as its file stands. Each destination has a queue of its own in the spool: one
// that is away delays nobody else.

export type Destination =
  | {
      readonly id: string;
      readonly way: "store";
      readonly address: Address;
      readonly aeTitle: string;
      readonly callingAeTitle: string;
    }
  | ({ readonly id: string; readonly way: "stow" } & StowTarget);

export interface ForwardEvents {
  sent(): void;
  /** The destination will not have this instance, whenever it is offered. */
  refused(message: string, reason: string): void;
  /** The destination is away: once when it goes, not once a try. */
  failed(kind: FailureKind, reason: string): void;
  recovered(): void;
}

export interface ForwardTiming {
  readonly setTimer: SetTimer;
  /** 0 to 1, for the jitter. */
  readonly random: () => number;
}

/** Full jitter over 1 s, doubled up to 5 min, for ever. */
const RETRY_BASE_MS = 1_000;
const RETRY_MAX_MS = 5 * 60_000;
/** What a person has to mend is not mended within seconds. */
const UNAUTHORIZED_RETRY_MS = 60_000;
/** On one association; a context each at most, and there are 128. */
const BATCH = 100;
const READ_BYTES = 128 * 1024;

export class Forward {
  readonly #data: string;
  readonly #spool: Spool;
  readonly #destination: Destination;
  readonly #events: ForwardEvents;
  readonly #timing: ForwardTiming;
  #running: Promise<void> | null = null;
  #again = false;
  #failures = 0;
  #cancelRetry: (() => void) | null = null;
  #stopped = false;

  constructor(data: string, spool: Spool, destination: Destination, events: ForwardEvents, timing: ForwardTiming) {
    this.#data = data;
    this.#spool = spool;
    this.#destination = destination;
    this.#events = events;
    this.#timing = timing;
  }

  /** There may be something to send. */
  wake(): void {
    if (this.#stopped || this.#cancelRetry !== null) return;
    this.#again = true;
    this.#running ??= this.#run().finally(() => (this.#running = null));
  }

  /** Ends after the instance under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelRetry?.();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#again && !this.#stopped) {
      this.#again = false;
      try {
        while ((await this.#sendNext()) && !this.#stopped);
      } catch (error) {
        this.#fail(error);
        return;
      }
    }
  }

  #fail(error: unknown): void {
    const kind = error instanceof SendError ? error.kind : "transient";
    if (this.#failures === 0) this.#events.failed(kind, error instanceof Error ? error.message : String(error));
    this.#failures += 1;
    const ceiling = Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** (this.#failures - 1));
    const told = error instanceof SendError ? error.retryAfterMs : null;
    const ms = told ?? (kind === "unauthorized" ? UNAUTHORIZED_RETRY_MS : ceiling * this.#timing.random());
    this.#cancelRetry = this.#timing.setTimer(Math.min(ms, RETRY_MAX_MS), () => {
      this.#cancelRetry = null;
      this.wake();
    });
  }

  /** Sends one batch, if there is any; whether there was. */
  async #sendNext(): Promise<boolean> {
    const batch = await this.#spool.call("queuedForwards", this.#destination.id, BATCH);
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
        if (this.#stopped) break;
        await this.#offer(instance, () => storeOne(client, this.#data, instance));
      }
    } finally {
      await client.release();
    }
  }

  async #stow(target: Destination & { way: "stow" }, instance: HeldInstance): Promise<void> {
    if (this.#stopped) return;
    const file = imageFile(this.#data, instance.message);
    await this.#offer(instance, () => stow(target, file, instance.transferSyntax));
  }

  /** What fails for good is noted and passed over, what may pass stops the queue for a while. */
  async #offer({ message }: HeldInstance, send: () => Promise<void>): Promise<void> {
    const { id } = this.#destination;
    try {
      await send();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
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
    if (this.#failures > 0) this.#events.recovered();
    this.#failures = 0;
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
  const { message, sopClass, sopInstance, transferSyntax, headBytes } = instance;
  const context = client.contextOf(sopClass, transferSyntax);
  if (context === null) {
    throw new SendError("permanent", `the peer takes no ${sopClass} with transfer syntax ${transferSyntax}`);
  }
  const file = imageFile(data, message);
  await fs.promises.access(file);
  const dataset = fs.createReadStream(file, { start: headBytes, highWaterMark: READ_BYTES });
  const { status, comment } = await client.request(
    context,
    { field: COMMAND.storeRequest, sopClass, sopInstance },
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
