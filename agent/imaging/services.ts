import { createHash, randomUUID } from "node:crypto";
import type { Patient } from "../../shared/api/patient.ts";
import type { Attributes } from "../protocols/dicom/attribute-table.ts";
import { encodeAttributes, type ReadAttributes, readAttributes } from "../protocols/dicom/attributes.ts";
import { COMMAND, type DimseOutcome, isUid, STATUS } from "../protocols/dicom/dimse.ts";
import { matches, worklistResponse } from "../protocols/dicom/matching.ts";
import type { ServiceRequest } from "../protocols/dicom/network/scp.ts";
import { MODALITY_PERFORMED_PROCEDURE_STEP, MODALITY_WORKLIST, STORAGE_COMMITMENT } from "../protocols/dicom/uids.ts";
import { worklistEntry } from "../protocols/dicom/worklist.ts";
import type { Directory } from "../study/patient-directory.ts";
import type { InstanceReference } from "../spool/queries/images/commitments.ts";
import type { StepState, WorklistRow } from "../spool/queries/images/procedure-steps.ts";
import type { Spool } from "../spool/spool.ts";
import { StorageError } from "../spool/thread/storage-error.ts";
import { dayOf, writeTime } from "../report/device-time.ts";

// Responds to the worklist, MPPS and storage commitment requests of modalities.

export interface ServiceDevice {
  readonly id: string;
  readonly timeZone: string;
}

/** Pending responses of a C-FIND request. */
export interface PendingResponses {
  /** Sends a response. Resolves when the next one may follow. @returns false if the peer cancelled or left */
  send(status: number, dataset: Uint8Array): Promise<boolean>;
}

export interface ServiceEvents {
  /** Reports the studies of a completed MPPS whose images are all stored. */
  mppsCompleted(studies: readonly string[]): void;
  /** Reports an internal error. */
  fault(error: unknown): void;
}

const DAY_MS = 24 * 60 * 60_000;
/** Max age of an order without images. An older one is not in the worklist. */
const ORDER_AGE_MS_MAX = 7 * DAY_MS;
/** Age of the patient directory at which a query refreshes it, so that it finds a patient who was just registered. */
const REFRESH_AGE_MS = 10_000;
/** Max wait of a query for that refresh, because a technician waits for the worklist. */
const REFRESH_WAIT_MS = 1_000;

const DONE: DimseOutcome = { status: STATUS.success, comment: null };

export class DicomServices {
  readonly #spool: Spool;
  readonly #directory: Directory;
  readonly #events: ServiceEvents;

  constructor(spool: Spool, directory: Directory, events: ServiceEvents) {
    this.#spool = spool;
    this.#directory = directory;
    this.#events = events;
  }

  /** Handles a request. Never rejects. */
  async handleRequest(
    request: ServiceRequest,
    device: ServiceDevice,
    responses: PendingResponses,
  ): Promise<DimseOutcome> {
    try {
      return await this.#dispatch(request, device, responses);
    } catch (error) {
      if (!(error instanceof StorageError)) this.#events.fault(error);
      return { status: STATUS.processingFailure, comment: "temporarily unavailable" };
    }
  }

  #dispatch(request: ServiceRequest, device: ServiceDevice, responses: PendingResponses): Promise<DimseOutcome> {
    const read = readAttributes(request.dataset, request.encoding);
    if (typeof read === "string") return Promise.resolve({ status: STATUS.cannotUnderstand, comment: read });
    switch (request.command.affectedSopClass) {
      case MODALITY_WORKLIST:
        return this.#findWorklist(request, read, device, responses);
      case MODALITY_PERFORMED_PROCEDURE_STEP:
        return request.command.field === COMMAND.nCreateRequest
          ? this.#createMpps(request, read.attributes, device)
          : this.#updateMpps(request, read.attributes, device);
      case STORAGE_COMMITMENT:
        return this.#requestCommitment(request, read.attributes, device);
      default:
        throw new Error(`unsupported SOP class ${request.command.affectedSopClass}`);
    }
  }

  async #findWorklist(
    { encoding, callingAe }: ServiceRequest,
    { attributes: keys, someUnknown }: ReadAttributes,
    device: ServiceDevice,
    responses: PendingResponses,
  ): Promise<DimseOutcome> {
    const [stepKeys, ...others] = keys.ScheduledProcedureStepSequence ?? [];
    if (others.length > 0) {
      return { status: STATUS.datasetMismatch, comment: `${1 + others.length} items in (0040,0100), at most 1` };
    }
    await this.#directory.refresh(REFRESH_AGE_MS, REFRESH_WAIT_MS);
    const now = Date.now();
    const today = dayOf(now, device.timeZone);
    const rows = await this.#spool.call("scheduledSteps", {
      device: device.id,
      ...today,
      openFrom: now - ORDER_AGE_MS_MAX,
      now,
    });
    // The worklist belongs to the calling modality, so its own AE title and modality apply.
    const [modality = ""] = stepKeys?.Modality ?? [];
    const station = { stationAe: callingAe, modality: /[*?]/.test(modality) ? "" : modality };
    const status = someUnknown ? STATUS.pendingWithoutSomeKeys : STATUS.pending;
    const [charset = ""] = keys.SpecificCharacterSet ?? [];
    const accessions: string[] = [];
    for (const row of rows) {
      const entry = worklistEntry({ ...scheduledStep(row, device.timeZone), ...station });
      if (!matches(keys, entry)) continue;
      const isWanted = await responses.send(status, encodeAttributes(worklistResponse(keys, entry), encoding, charset));
      if (!isWanted) return { status: STATUS.cancelled, comment: null };
      accessions.push(row.accession);
    }
    this.#spool.callLater("noteSentOrders", accessions, device.id, now);
    return DONE;
  }

  async #createMpps(
    { command }: ServiceRequest,
    attributes: Attributes,
    { id: device }: ServiceDevice,
  ): Promise<DimseOutcome> {
    const sopInstance = command.affectedSopInstance || uidOf(randomUUID().replaceAll("-", ""));
    if (!isUid(sopInstance)) return { status: STATUS.invalidInstance, comment: "invalid SOP Instance UID" };
    const [state] = attributes.PerformedProcedureStepStatus ?? [];
    if (state !== "IN PROGRESS") {
      return { status: STATUS.invalidAttributeValue, comment: `expected status IN PROGRESS, got ${state ?? "none"}` };
    }
    const isNew = await this.#spool.call("createStep", { sopInstance, device, state, attributes, at: Date.now() });
    if (!isNew) return { status: STATUS.duplicateInstance, comment: "duplicate SOP Instance UID" };
    return { ...DONE, sopInstance };
  }

  async #updateMpps(
    { command }: ServiceRequest,
    attributes: Attributes,
    { id: device }: ServiceDevice,
  ): Promise<DimseOutcome> {
    const sopInstance = command.affectedSopInstance;
    const [status] = attributes.PerformedProcedureStepStatus ?? [];
    const state = status === undefined ? null : (STEP_STATES.find((known) => known === status) ?? "unknown");
    if (state === "unknown") return { status: STATUS.invalidAttributeValue, comment: `unknown status ${status}` };
    const at = Date.now();
    const step = await this.#spool.call("updateStep", { sopInstance, device, state, attributes, at });
    if (step === "unknown") return { status: STATUS.noSuchInstance, comment: "unknown procedure step" };
    // Error comment as in PS3.4 §F.7.2.2.2.
    if (step === "ended") return { status: STATUS.processingFailure, comment: "the step may no longer be updated" };
    if (state === "COMPLETED") await this.#completeMpps(step, at);
    return DONE;
  }

  /** Ends the wait for a study if all images that the step references are stored. Otherwise the idle time decides. */
  async #completeMpps(step: Attributes, at: number): Promise<void> {
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
    this.#events.mppsCompleted(studies);
  }

  async #requestCommitment(
    { command, callingAe }: ServiceRequest,
    { TransactionUID, ReferencedSOPSequence }: Attributes,
    { id: device }: ServiceDevice,
  ): Promise<DimseOutcome> {
    const [transaction = ""] = TransactionUID ?? [];
    const references = (ReferencedSOPSequence ?? []).map(reference);
    if (command.typeId !== REQUEST_COMMITMENT) {
      return { status: STATUS.noSuchAction, comment: `unknown action type ${command.typeId}` };
    }
    if (!isUid(transaction)) return { status: STATUS.invalidAttributeValue, comment: "invalid Transaction UID" };
    if (references.length === 0) return { status: STATUS.invalidAttributeValue, comment: "no referenced instances" };
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

function scheduledStep({ accession, startAt, tests, body }: WorklistRow, timeZone: string) {
  return {
    patient: JSON.parse(body) as Patient,
    accession,
    studyUid: studyUidOf(accession),
    start: writeTime(startAt, timeZone),
    procedures: tests,
  };
}

/** Returns the Study Instance UID of an accession number. It is the same at every query, so that one study results. */
export function studyUidOf(accession: string): string {
  const digits = createHash("sha256").update(`study of ${accession}`).digest("hex");
  return uidOf(`${digits.slice(0, 12)}8${digits.slice(12, 15)}8${digits.slice(15, 30)}`); // as a version 8 UUID
}

/** Returns a UUID as a UID (PS3.5 §B.2). */
function uidOf(hexDigits: string): string {
  return `2.25.${BigInt(`0x${hexDigits}`)}`;
}
