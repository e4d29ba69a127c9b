import {
  EXPLICIT_LITTLE_ENDIAN,
  IMPLICIT_LITTLE_ENDIAN,
  STORAGE_COMMITMENT,
  STORAGE_COMMITMENT_INSTANCE,
} from "../protocols/dicom/uids.ts";
import type { Address } from "../transport/address.ts";
import { type Attributes, encodeAttributes } from "../protocols/dicom/attributes.ts";
import { encodingOf } from "../protocols/dicom/dataset.ts";
import { COMMAND, type Request, STATUS } from "../protocols/dicom/dimse.ts";
import { DicomClient } from "./scu.ts";
import { isWhole } from "./instance-store.ts";
import type { Commitment, InstanceReference } from "../spool/queries/images/commitments.ts";
import type { Spool } from "../spool/spool.ts";
import { type Backoff, backoffMs } from "../runtime/backoff.ts";
import { realTimer, type SetTimer } from "../runtime/timer.ts";

// Tells a device which of its images we have for good (PS3.4 annex J): it may delete its own then, so the answer comes from
// the bytes on the disk, and is offered until the device took it.

/** An association of a device that is open and on which it may be told. */
export interface OpenLine {
  readonly callingAe: string;
  /** Tells it; whether it took it. */
  report(request: Omit<Request, "messageId">, event: Attributes): Promise<boolean>;
}

export interface CommitmentDevice {
  readonly id: string;
  readonly aeTitle: string;
  /** Where the device takes associations; null: it is told on those that it opens. */
  readonly commitmentScp: Address | null;
}

export interface CommitmentEvents {
  reported(transaction: string, failures: number): void;
  /** Nobody wanted to hear it for days. */
  givenUp(transaction: string): void;
  fault(error: unknown): void;
}

const RETRY: Backoff = { firstMs: 10_000, lastMs: 60 * 60_000, jitter: 0 };
const KEEP_MS = 7 * 24 * 60 * 60_000;
/** The one instance of the service (PS3.4 §J.3.5). */
/** Event types (PS3.4 table J.3-2). */
const ALL_HELD = 1;
const SOME_NOT_HELD = 2;

export class Commitments {
  readonly #data: string;
  readonly #spool: Spool;
  readonly #device: CommitmentDevice;
  readonly #events: CommitmentEvents;
  readonly #setTimer: SetTimer;
  /** The device's open associations. */
  readonly #lines = new Set<OpenLine>();
  #running: Promise<void> = Promise.resolve();
  #cancelTimer: (() => void) | null = null;
  #stopped = false;

  constructor(
    data: string,
    spool: Spool,
    device: CommitmentDevice,
    events: CommitmentEvents,
    setTimer: SetTimer = realTimer,
  ) {
    this.#data = data;
    this.#spool = spool;
    this.#device = device;
    this.#events = events;
    this.#setTimer = setTimer;
  }

  /** The device may be told on this association until it is left. */
  join(line: OpenLine): void {
    this.#lines.add(line);
    this.wake();
  }

  leave(line: OpenLine): void {
    this.#lines.delete(line);
  }

  /** There may be something to report. */
  wake(): void {
    if (this.#stopped) return;
    this.#running = this.#running.then(() => this.#reportDue()).catch((error: unknown) => this.#events.fault(error));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelTimer?.();
    await this.#running;
  }

  async #reportDue(): Promise<void> {
    // A device that is here again is told at once, whenever its next turn was to be.
    const until = this.#lines.size > 0 ? Number.MAX_SAFE_INTEGER : Date.now();
    for (const commitment of await this.#spool.call("dueCommitments", this.#device.id, until)) {
      if (this.#stopped) return;
      await this.#report(commitment);
    }
    const next = await this.#spool.call("nextCommitmentAt", this.#device.id);
    this.#cancelTimer?.();
    if (next === null || this.#stopped) return;
    this.#cancelTimer = this.#setTimer(Math.max(1_000, next - Date.now()), () => this.wake());
  }

  async #report(commitment: Commitment): Promise<void> {
    const { id, transaction, at, attempts } = commitment;
    const { event, failures } = await this.#assess(commitment);
    const request = {
      field: COMMAND.nEventReportRequest,
      sopClass: STORAGE_COMMITMENT,
      sopInstance: STORAGE_COMMITMENT_INSTANCE,
      typeId: failures === 0 ? ALL_HELD : SOME_NOT_HELD,
      hasDataset: true,
    };
    const now = Date.now();
    if ((await this.#onOpenLine(commitment, request, event)) || (await this.#dial(commitment, request, event))) {
      await this.#spool.call("endCommitment", id, failures === 0 ? "held" : `${failures} not held`, now);
      this.#events.reported(transaction, failures);
    } else if (now - at > KEEP_MS) {
      await this.#spool.call("endCommitment", id, "the device never took the report", now);
      this.#events.givenUp(transaction);
    } else {
      await this.#spool.call("delayCommitment", id, now + backoffMs(attempts + 1, RETRY));
    }
  }

  async #assess({ transaction, references }: Commitment): Promise<{ event: Attributes; failures: number }> {
    // Before it is looked at: what is found stays.
    const sopInstances = references.map(({ sopInstance }) => sopInstance);
    await this.#spool.call("markCommitted", sopInstances);
    const held: Attributes[] = [];
    const failed: Attributes[] = [];
    for (const reference of references) {
      const { sopClass, sopInstance } = reference;
      const named = { ReferencedSOPClassUID: [sopClass], ReferencedSOPInstanceUID: [sopInstance] };
      const reason = await this.#failureOf(reference);
      if (reason === null) held.push(named);
      else failed.push({ ...named, FailureReason: [String(reason)] });
    }
    const event: Attributes = {
      TransactionUID: [transaction],
      ...(held.length > 0 ? { ReferencedSOPSequence: held } : {}),
      ...(failed.length > 0 ? { FailedSOPSequence: failed } : {}),
    };
    return { event, failures: failed.length };
  }

  /** Why we cannot answer for an instance; null: its bytes are here, as they came. */
  async #failureOf({ sopClass, sopInstance }: InstanceReference): Promise<number | null> {
    const instances = await this.#spool.call("instanceFiles", sopInstance);
    if (instances.length === 0) return STATUS.noSuchInstance;
    const ofClass = instances.filter((instance) => instance.sopClass === sopClass);
    if (ofClass.length === 0) return STATUS.classInstanceConflict;
    for (const instance of ofClass) if (!(await isWhole(this.#data, instance))) return STATUS.processingFailure;
    return null;
  }

  async #onOpenLine({ callingAe }: Commitment, request: Omit<Request, "messageId">, event: Attributes) {
    for (const line of this.#lines) {
      if (line.callingAe === callingAe && (await line.report(request, event))) return true;
    }
    return false;
  }

  async #dial({ callingAe }: Commitment, request: Omit<Request, "messageId">, event: Attributes): Promise<boolean> {
    const { commitmentScp, aeTitle } = this.#device;
    if (commitmentScp === null) return false;
    try {
      const client = await DicomClient.connect({
        address: commitmentScp,
        calledAe: callingAe,
        callingAe: aeTitle,
        contexts: [EXPLICIT_LITTLE_ENDIAN, IMPLICIT_LITTLE_ENDIAN].map((syntax, index) => ({
          ...{ id: index * 2 + 1, abstractSyntax: STORAGE_COMMITMENT, transferSyntaxes: [syntax] },
        })),
        acceptScpScuRole: [STORAGE_COMMITMENT],
      });
      try {
        for (const syntax of [EXPLICIT_LITTLE_ENDIAN, IMPLICIT_LITTLE_ENDIAN]) {
          const context = client.contextOf(STORAGE_COMMITMENT, syntax);
          const encoding = encodingOf(syntax);
          if (context === null || encoding === null) continue;
          const { status } = await client.request(context, request, [encodeAttributes(event, encoding)]);
          return status === STATUS.success;
        }
        return false;
      } finally {
        await client.release();
      }
    } catch {
      return false; // tried again
    }
  }
}
