import type { Attributes } from "../../protocols/dicom/attribute-table.ts";
import {
  EXPLICIT_LITTLE_ENDIAN,
  IMPLICIT_LITTLE_ENDIAN,
  STORAGE_COMMITMENT,
  STORAGE_COMMITMENT_INSTANCE,
} from "../../protocols/dicom/uids.ts";
import type { Address } from "../../transport/address.ts";
import { encodeAttributes } from "../../protocols/dicom/attributes.ts";
import { encodingOf } from "../../protocols/dicom/dataset.ts";
import { COMMAND, type DimseRequest, STATUS } from "../../protocols/dicom/dimse.ts";
import { isWhole } from "../files/image-folder.ts";
import { DicomClient } from "./scu.ts";
import type { Commitment, InstanceReference } from "../../spool/queries/images/commitments.ts";
import type { Spool } from "../../spool/spool.ts";
import { type Backoff, backoffMs } from "../../runtime/backoff.ts";
import { realTimer, type SetTimer } from "../../runtime/timer.ts";

// Reports to a device which of its images are stored (PS3.4 annex J). The device may then delete its own, so each report
// verifies the files on the disk. A report is sent again until the device accepts it.

/** Open association of a device that accepts event reports. */
export interface AssociationHandle {
  readonly callingAe: string;
  /** Sends an event report. @returns whether the device accepted it */
  report(request: Omit<DimseRequest, "messageId">, event: Attributes): Promise<boolean>;
}

export interface CommitmentDevice {
  readonly id: string;
  readonly aeTitle: string;
  /** Address at which the device accepts associations; null for reports on its own associations only. */
  readonly commitmentScp: Address | null;
}

export interface CommitmentEvents {
  /** Reports a transaction that the device accepted, with the number of missing instances. */
  reported(transaction: string, failures: number): void;
  /** Reports a transaction that the device did not accept within KEEP_MS. */
  givenUp(transaction: string): void;
  /** Reports an internal error. */
  fault(error: unknown): void;
}

/** Backoff between two attempts of a report. */
const RETRY: Backoff = { firstMs: 10_000, lastMs: 60 * 60_000, jitter: 0 };
/** Max age of a report; an older one is given up. A clock that jumps ahead leaves it these attempts at least. */
const KEEP_MS = 7 * 24 * 60 * 60_000;
const ATTEMPTS_MIN = 24;
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
  readonly #associations = new Set<AssociationHandle>();
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

  /** Uses the association for reports until leave(). */
  join(association: AssociationHandle): void {
    this.#associations.add(association);
    this.wake();
  }

  leave(association: AssociationHandle): void {
    this.#associations.delete(association);
  }

  /** Sends the due reports. */
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
    // An open association gets all reports, even before their retry is due.
    const until = this.#associations.size > 0 ? Number.MAX_SAFE_INTEGER : Date.now();
    for (const commitment of await this.#spool.call("dueCommitments", this.#device.id, until, RETRY.lastMs)) {
      if (this.#stopped) return;
      await this.#report(commitment);
    }
    const next = await this.#spool.call("nextCommitmentAt", this.#device.id);
    this.#cancelTimer?.();
    if (next === null || this.#stopped) return;
    this.#cancelTimer = this.#setTimer(Math.min(RETRY.lastMs, Math.max(1_000, next - Date.now())), () => this.wake());
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
    if (
      (await this.#reportOnOpenAssociation(commitment, request, event)) ||
      (await this.#reportOnNewAssociation(commitment, request, event))
    ) {
      await this.#spool.call("endCommitment", id, failures === 0 ? "held" : `${failures} not held`, now);
      this.#events.reported(transaction, failures);
    } else if (now - at > KEEP_MS && attempts >= ATTEMPTS_MIN) {
      await this.#spool.call("endCommitment", id, "the device never accepted the report", now);
      this.#events.givenUp(transaction);
    } else {
      await this.#spool.call("delayCommitment", id, now + backoffMs(attempts + 1, RETRY));
    }
  }

  async #assess({ transaction, references }: Commitment): Promise<{ event: Attributes; failures: number }> {
    // The promise comes first, so that retention removes no instance between the check and the report.
    const sopInstances = references.map(({ sopInstance }) => sopInstance);
    await this.#spool.call("markCommitted", sopInstances);
    const held: Attributes[] = [];
    const failed: Attributes[] = [];
    for (const reference of references) {
      const { sopClass, sopInstance } = reference;
      const named = { ReferencedSOPClassUID: [sopClass], ReferencedSOPInstanceUID: [sopInstance] };
      const reason = await this.#failureReason(reference);
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

  /** Returns the failure reason of an instance; null if its file is complete. */
  async #failureReason({ sopClass, sopInstance }: InstanceReference): Promise<number | null> {
    const instances = await this.#spool.call("instanceFiles", sopInstance);
    if (instances.length === 0) return STATUS.noSuchInstance;
    const ofClass = instances.filter((instance) => instance.sopClass === sopClass);
    if (ofClass.length === 0) return STATUS.classInstanceConflict;
    for (const instance of ofClass) if (!(await isWhole(this.#data, instance))) return STATUS.processingFailure;
    return null;
  }

  async #reportOnOpenAssociation(
    { callingAe }: Commitment,
    request: Omit<DimseRequest, "messageId">,
    event: Attributes,
  ) {
    for (const association of this.#associations) {
      if (association.callingAe === callingAe && (await association.report(request, event))) return true;
    }
    return false;
  }

  async #reportOnNewAssociation(
    { callingAe }: Commitment,
    request: Omit<DimseRequest, "messageId">,
    event: Attributes,
  ): Promise<boolean> {
    const { commitmentScp, aeTitle } = this.#device;
    if (commitmentScp === null) return false;
    try {
      const client = await DicomClient.connect({
        address: commitmentScp,
        calledAe: callingAe,
        callingAe: aeTitle,
        contexts: [EXPLICIT_LITTLE_ENDIAN, IMPLICIT_LITTLE_ENDIAN].map((syntax, index) => ({
          id: index * 2 + 1,
          abstractSyntax: STORAGE_COMMITMENT,
          transferSyntaxes: [syntax],
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
      return false; // reportDue() retries later
    }
  }
}
