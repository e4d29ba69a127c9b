import path from "node:path";
import { Worker } from "node:worker_threads";
import type { DeviceConnection } from "../connection/device-service.ts";
import type { Spool } from "../spool/spool.ts";
import { ThreadRpc } from "../runtime/thread-rpc.ts";
import { encodeAttributes } from "../protocols/dicom/attributes.ts";
import type { DimseOutcome } from "../protocols/dicom/dimse.ts";
import type { ServiceRequest } from "../protocols/dicom/network/scp.ts";
import { moduleFile } from "../../shared/files/program-files.ts";
import type { DicomThreadOptions, ImagingThreadFunctions, ImagingWorkerData, MainThreadFunctions } from "./contract.ts";
import type { RetentionResult } from "./retention.ts";
import type { DicomEvents } from "./scp-association.ts";
import type { PendingResponses } from "./services.ts";
import type { AssociationHandle, Commitments } from "./archive/storage-commitment.ts";

/**
 * Keeps the young generation small, so that socket buffers are freed at the next scavenge. A larger one holds tens of
 * megabytes of images that are already written.
 */
const YOUNG_MB_MAX = 2;

/** Handlers of the main thread for one device of the imaging thread. */
export interface DicomDeviceHandler extends DicomEvents {
  /** Handles a request. Never rejects. */
  handleRequest(request: ServiceRequest, responses: PendingResponses): Promise<DimseOutcome>;
  readonly commitments: Pick<Commitments, "join" | "leave" | "wake">;
}

interface DeviceEntry {
  readonly handler: DicomDeviceHandler;
  open: number;
  /** Associations that accept reports of storage commitment, by the number of their channel. */
  readonly associations: Map<number, AssociationHandle>;
}

/** The imaging thread, as the main thread uses it. */
export class DicomThread {
  readonly #worker: Worker;
  readonly #thread: ThreadRpc<MainThreadFunctions, ImagingThreadFunctions>;
  readonly #devices = new Map<string, DeviceEntry>();

  /** Requires the image folder to exist (see recoverImageFolder). */
  constructor(options: DicomThreadOptions, spool: Pick<Spool, "openPort">) {
    const port = spool.openPort();
    const workerData: ImagingWorkerData = { ...options, data: path.resolve(options.data), spool: port };
    this.#worker = new Worker(moduleFile("agent/imaging/worker"), {
      workerData,
      transferList: [port],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB_MAX },
    });
    // Ends the agent: without the thread it would look healthy and store no image.
    this.#worker.on("error", (error) => {
      throw error;
    });
    this.#thread = new ThreadRpc<MainThreadFunctions, ImagingThreadFunctions>(this.#worker, {
      handleRequest: (device, request, number) =>
        this.#entry(device).handler.handleRequest(request, {
          send: (status, dataset) => this.#thread.call("sendPending", number, status, dataset),
        }),
      join: (device, callingAe, encoding, channel) => {
        const { associations, handler } = this.#entry(device);
        const association: AssociationHandle = {
          callingAe,
          report: (request, event) => this.#thread.call("report", channel, request, encodeAttributes(event, encoding)),
        };
        associations.set(channel, association);
        handler.commitments.join(association);
      },
      leave: (device, channel) => {
        const { associations, handler } = this.#entry(device);
        handler.commitments.leave(associations.get(channel)!);
        associations.delete(channel);
      },
      wake: (device) => this.#entry(device).handler.commitments.wake(),
      connected: (device, peer) => {
        const entry = this.#entry(device);
        entry.open += 1;
        entry.handler.connected(peer);
      },
      disconnected: (device) => {
        const entry = this.#entry(device);
        entry.open -= 1;
        entry.handler.disconnected();
      },
      stands: (device, state) => this.#entry(device).handler.lineChanged(state),
      bytes: (device, count) => this.#entry(device).handler.bytes(count),
      warning: (device, reason, noise, peer) => this.#entry(device).handler.warning(reason, noise, peer),
      refusal: (device, reason) => this.#entry(device).handler.refusal(reason),
      refused: (device, address) => this.#entry(device).handler.refused(address),
      stored: (device, receivedAt) => this.#entry(device).handler.stored(receivedAt),
      fault: (device, error) => this.#entry(device).handler.fault(error),
    });
  }

  /** Registers the handler of a device that the options name. */
  addDevice(device: string, handler: DicomDeviceHandler): DeviceConnection {
    const entry: DeviceEntry = { handler, open: 0, associations: new Map() };
    this.#devices.set(device, entry);
    return {
      get connected() {
        return entry.open > 0;
      },
      // An open association counts as a message, because a modality opens one only to send.
      get isWithinMessage() {
        return entry.open > 0;
      },
      open: () => this.#thread.call("open", device),
      close: () => this.#thread.call("close", device),
    };
  }

  /** Removes old images in the thread that also names new ones, so that the two never meet on a file. */
  removeOld(agreed: number | null): Promise<RetentionResult> {
    return this.#thread.call("removeOld", agreed);
  }

  /** See contract.ts. */
  clockIsAhead(ms: number): void {
    this.#thread.notify("clockIsAhead", ms);
  }

  /** Requires closed devices. */
  async stop(): Promise<void> {
    await this.#thread.call("stop");
    this.#worker.removeAllListeners();
    await this.#worker.terminate();
  }

  #entry(device: string): DeviceEntry {
    return this.#devices.get(device)!;
  }
}
