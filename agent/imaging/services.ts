import { createHash, randomUUID } from "node:crypto";
import type { Patient } from "../../shared/api/patient.ts";
import {
  type Attributes,
  encodeAttributes,
  type ReadAttributes,
  readAttributes,
} from "../protocols/dicom/attributes.ts";
import { COMMAND, isUid, STATUS } from "../protocols/dicom/dimse.ts";
import { worklistResponse, matches } from "../protocols/dicom/matching.ts";
import type { ServiceRequest } from "../protocols/dicom/scp.ts";
import { MODALITY_WORKLIST, MODALITY_PERFORMED_PROCEDURE_STEP, STORAGE_COMMITMENT } from "../protocols/dicom/uids.ts";
import { worklistEntry } from "../protocols/dicom/worklist.ts";
import type { Directory } from "../study/patient-directory.ts";
import type { InstanceReference } from "../spool/queries/images/commitments.ts";
import type { StepState, WorklistRow } from "../spool/queries/images/procedure-steps.ts";
import type { Spool } from "../spool/spool.ts";
import { StorageError } from "../spool/storage-error.ts";
import { dayOf, writeTime } from "../report/device-time.ts";

// Requests of a modality other than C-STORE: worklist, MPPS and storage commitment.

export interface ServiceDevice {
  readonly id: string;
  readonly timeZone: string;
}

/** The association a request came on. */
export interface Talk {
  /** One of several answers; settled when the next may follow. false: it was not said, for nobody waits for an answer any more. */
  pending(status: number, dataset: Uint8Array): Promise<boolean>;
}

export interface Served {
  readonly status: number;
  readonly comment: string | null;
  /** The name we gave to what the request made. */
  readonly sopInstance?: string;
}

export interface ServiceEvents {
  /** Studies of which a device says that they are whole. */
  examined(studies: readonly string[]): void;
  /** Our own fault. */
  fault(error: unknown): void;
}

const DAY_MS = 24 * 60 * 60_000;
/** An order without images leaves the worklist after that, as one without a result leaves those of analyzers. */
const OPEN_MS = 7 * DAY_MS;
/** A patient registered a moment ago is asked for, but a technician waits. */
const REFRESH_AGE_MS = 10_000;
const REFRESH_WAIT_MS = 1_000;

const DONE: Served = { status: STATUS.success, comment: null };

export class DicomServices {
  readonly #spool: Spool;
  readonly #directory: Directory;
  readonly #events: ServiceEvents;

  constructor(spool: Spool, directory: Directory, events: ServiceEvents) {
    this.#spool = spool;
    this.#directory = directory;
    this.#events = events;
  }

  /** Never rejects. */
  async serve(request: ServiceRequest, device: ServiceDevice, talk: Talk): Promise<Served> {
    try {
      return await this.#serve(request, device, talk);
    } catch (error) {
      if (!(error instanceof StorageError)) this.#events.fault(error);
      return { status: STATUS.processingFailure, comment: "cannot be done now" };
    }
  }

  #serve(request: ServiceRequest, device: ServiceDevice, talk: Talk): Promise<Served> {
    const read = readAttributes(request.dataset, request.encoding);
    if (typeof read === "string") return Promise.resolve({ status: STATUS.cannotUnderstand, comment: read });
    switch (request.command.affectedSopClass) {
      case MODALITY_WORKLIST:
        return this.#find(request, read, device, talk);
      case MODALITY_PERFORMED_PROCEDURE_STEP:
        return request.command.field === COMMAND.nCreateRequest
          ? this.#createStep(request, read.attributes, device)
          : this.#updateStep(request, read.attributes, device);
      case STORAGE_COMMITMENT:
        return this.#askCommitment(request, read.attributes, device);
      default:
        throw new Error(`a request on ${request.command.affectedSopClass}, which no service of ours has`);
    }
  }

  async #find(
    { encoding, callingAe }: ServiceRequest,
    { attributes: keys, someUnknown }: ReadAttributes,
    device: ServiceDevice,
    talk: Talk,
  ): Promise<Served> {
    const [asked, ...others] = keys.ScheduledProcedureStepSequence ?? [];
    if (others.length > 0) return { status: STATUS.datasetMismatch, comment: "more than one item in (0040,0100)" };
    await this.#directory.refresh(REFRESH_AGE_MS, REFRESH_WAIT_MS);
    const now = Date.now();
    const today = dayOf(now, device.timeZone);
    const rows = await this.#spool.call("scheduledSteps", {
      device: device.id,
      ...today,
      openFrom: now - OPEN_MS,
      now,
    });
    // The worklist is this machine's own: what it calls itself is right.
    const [modality = ""] = asked?.Modality ?? [];
    const machine = { stationAe: callingAe, modality: /[*?]/.test(modality) ? "" : modality };
    const status = someUnknown ? STATUS.pendingWithoutSomeKeys : STATUS.pending;
    const [charset = ""] = keys.SpecificCharacterSet ?? [];
    const accessions: string[] = [];
    for (const row of rows) {
      const entry = worklistEntry({ ...scheduled(row, device.timeZone), ...machine });
      if (!matches(keys, entry)) continue;
      const isWanted = await talk.pending(status, encodeAttributes(worklistResponse(keys, entry), encoding, charset));
      if (!isWanted) return { status: STATUS.cancelled, comment: null };
      accessions.push(row.accession);
    }
    this.#spool.callLater("noteOrders", accessions, "sent");
    return DONE;
  }

  async #createStep(
    { command }: ServiceRequest,
    attributes: Attributes,
    { id: device }: ServiceDevice,
  ): Promise<Served> {
    const sopInstance = command.affectedSopInstance || newUid();
    if (!isUid(sopInstance)) return { status: STATUS.invalidInstance, comment: "invalid SOP Instance UID" };
    const [state] = attributes.PerformedProcedureStepStatus ?? [];
    if (state !== "IN PROGRESS") {
      return { status: STATUS.invalidAttributeValue, comment: `a step begins IN PROGRESS, not ${state ?? "nameless"}` };
    }
    const isNew = await this.#spool.call("createStep", { sopInstance, device, state, attributes, at: Date.now() });
    if (!isNew) return { status: STATUS.duplicateInstance, comment: "there is a step of that name" };
    return { ...DONE, sopInstance };
  }

  async #updateStep({ command }: ServiceRequest, news: Attributes, { id: device }: ServiceDevice): Promise<Served> {
    const sopInstance = command.affectedSopInstance;
    const [word] = news.PerformedProcedureStepStatus ?? [];
    const state = word === undefined ? null : (STEP_STATES.find((known) => known === word) ?? "unknown");
    if (state === "unknown") return { status: STATUS.invalidAttributeValue, comment: `${word} is no status of a step` };
    const at = Date.now();
    const step = await this.#spool.call("updateStep", { sopInstance, device, state, attributes: news, at });
    if (step === "unknown") return { status: STATUS.noSuchInstance, comment: "no such step" };
    // Error comment as in PS3.4 §F.7.2.2.2.
    if (step === "ended") return { status: STATUS.processingFailure, comment: "the step may no longer be updated" };
    if (state === "COMPLETED") await this.#examined(step, at);
    return DONE;
  }

  /** Ends the wait for a study if all images that the step names are here. Otherwise the idle time decides. */
  async #examined(step: Attributes, at: number): Promise<void> {
    const scheduledAs = step.ScheduledStepAttributesSequence ?? [];
    const accessions = scheduledAs.flatMap(({ AccessionNumber = [] }) => AccessionNumber);
    this.#spool.callLater("noteOrders", accessions, "resulted");
    const references = (step.PerformedSeriesSequence ?? []).flatMap((series) => [
      ...(series.ReferencedImageSequence ?? []),
      ...(series.ReferencedNonImageCompositeSOPInstanceSequence ?? []),
    ]);
    for (const { sopInstance } of references.map(reference)) {
      if ((await this.#spool.call("instanceFiles", sopInstance)).length === 0) return;
    }
    const studies = scheduledAs.flatMap(({ StudyInstanceUID = [] }) => StudyInstanceUID);
    await this.#spool.call("scheduleImageStudiesEarlier", studies, at);
    this.#events.examined(studies);
  }

  async #askCommitment(
    { command, callingAe }: ServiceRequest,
    { TransactionUID, ReferencedSOPSequence }: Attributes,
    { id: device }: ServiceDevice,
  ): Promise<Served> {
    const [transaction = ""] = TransactionUID ?? [];
    const references = (ReferencedSOPSequence ?? []).map(reference);
    if (command.typeId !== REQUEST_COMMITMENT) {
      return { status: STATUS.noSuchAction, comment: `${command.typeId} is no action of storage commitment` };
    }
    if (!isUid(transaction)) return { status: STATUS.invalidAttributeValue, comment: "no Transaction UID" };
    if (references.length === 0) return { status: STATUS.invalidAttributeValue, comment: "no instance is named" };
    await this.#spool.call("addCommitment", { transaction, device, callingAe, references, at: Date.now() });
    return DONE;
  }
}

const STEP_STATES: readonly StepState[] = ["IN PROGRESS", "COMPLETED", "DISCONTINUED"];
/** Action Type ID (PS3.4 table J.3-1). */
const REQUEST_COMMITMENT = 1;

function reference({ ReferencedSOPClassUID, ReferencedSOPInstanceUID }: Attributes): InstanceReference {
  return { sopClass: ReferencedSOPClassUID?.[0] ?? "", sopInstance: ReferencedSOPInstanceUID?.[0] ?? "" };
}

function scheduled({ accession, startAt, tests, body }: WorklistRow, timeZone: string) {
  return {
    patient: JSON.parse(body) as Patient,
    accession,
    studyUid: studyUidOf(accession),
    start: writeTime(startAt, timeZone),
    procedures: tests,
  };
}

/** The same at every query: what is imaged under this accession is one study. */
export function studyUidOf(accession: string): string {
  const digits = createHash("sha256").update(`study of ${accession}`).digest("hex");
  return uidOf(`${digits.slice(0, 12)}8${digits.slice(12, 15)}8${digits.slice(15, 30)}`); // as UUIDs of version 8 are
}

function newUid(): string {
  return uidOf(randomUUID().replaceAll("-", ""));
}

/** A UUID as a UID (PS3.5 §B.2). */
function uidOf(hexDigits: string): string {
  return `2.25.${BigInt(`0x${hexDigits}`)}`;
}
