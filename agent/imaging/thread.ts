import path from "node:path";
import type { Worker } from "node:worker_threads";
import type { Commitments, OpenLine } from "./storage-commitment.ts";
import { encodeAttributes } from "../protocols/dicom/attributes.ts";
import type { ServiceRequest } from "../protocols/dicom/scp.ts";
import type { DicomEvents } from "./scp-server.ts";
import type { Served, Talk } from "./services.ts";
import type { DicomFunctions, DicomThreadOptions, MainFunctions, WorkerData } from "./worker.ts";
import type { Removed } from "./retention.ts";
import type { DeviceConnection } from "../connection/device-service.ts";
import type { Spool } from "../spool/spool.ts";
import { ThreadRpc } from "../runtime/thread-rpc.ts";
import { startWorker } from "../runtime/start-worker.ts";

/**
 * Keeps the young generation small, so that socket buffers are freed at the next scavenge. A larger one holds tens of
 * megabytes of images that are already written.
 */
const YOUNG_MB_MAX = 2;

/** Services of the main thread for a device whose sockets and files are in the imaging thread. */
export interface DicomProvider extends DicomEvents {
  /** Never rejects. */
  serve(request: ServiceRequest, talk: Talk): Promise<Served>;
  readonly commitments: Pick<Commitments, "join" | "leave" | "wake">;
}

interface Provided {
  readonly provider: DicomProvider;
  /** Associations that are open. */
  open: number;
  /** Where the device may be told, by the thread's numbers. */
  readonly lines: Map<number, OpenLine>;
}

/** The thread of the imaging devices, seen from the main one. */
export class DicomThread {
  readonly #worker: Worker;
  readonly #thread: ThreadRpc<MainFunctions, DicomFunctions>;
  readonly #provided = new Map<string, Provided>();

  /** The folder of images is there: see tidyImages(). */
  constructor(options: DicomThreadOptions, spool: Pick<Spool, "openPort">) {
    const port = spool.openPort();
    const workerData: WorkerData = { ...options, data: path.resolve(options.data), spool: port };
    this.#worker = startWorker(import.meta.url, "./worker", {
      workerData,
      transferList: [port],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB_MAX },
    });
    // As the spool's: an agent that cannot take images any more must not look as if it did.
    this.#worker.on("error", (error) => {
      throw error;
    });
    this.#thread = new ThreadRpc<MainFunctions, DicomFunctions>(this.#worker, {
      serve: (device, request, talk) =>
        this.#of(device).provider.serve(request, {
          pending: (status, dataset) => this.#thread.call("pending", talk, status, dataset),
        }),
      join: (device, callingAe, encoding, number) => {
        const { lines, provider } = this.#of(device);
        const line: OpenLine = {
          callingAe,
          report: (request, event) => this.#thread.call("report", number, request, encodeAttributes(event, encoding)),
        };
        lines.set(number, line);
        provider.commitments.join(line);
      },
      leave: (device, number) => {
        const { lines, provider } = this.#of(device);
        provider.commitments.leave(lines.get(number)!);
        lines.delete(number);
      },
      wake: (device) => this.#of(device).provider.commitments.wake(),
      connected: (device, peer) => {
        const provided = this.#of(device);
        provided.open += 1;
        provided.provider.connected(peer);
      },
      disconnected: (device) => {
        const provided = this.#of(device);
        provided.open -= 1;
        provided.provider.disconnected();
      },
      stands: (device, state) => this.#of(device).provider.lineChanged(state),
      bytes: (device, count) => this.#of(device).provider.bytes(count),
      warning: (device, reason, noise) => this.#of(device).provider.warning(reason, noise),
      kept: (device, receivedAt) => this.#of(device).provider.kept(receivedAt),
      fault: (device, error) => this.#of(device).provider.fault(error),
    });
  }

  /** One of the devices that the thread was made for. */
  serve(device: string, provider: DicomProvider): DeviceConnection {
    const provided: Provided = { provider, open: 0, lines: new Map() };
    this.#provided.set(device, provided);
    return {
      get connected() {
        return provided.open > 0;
      },
      open: () => this.#thread.call("open", device),
      close: () => this.#thread.call("close", device),
    };
  }

  /** See retention. What is removed and what comes again take their names in the thread, one after the other. */
  removeOld(): Promise<Removed> {
    return this.#thread.call("removeOld");
  }

  /** After its devices are closed. */
  async stop(): Promise<void> {
    await this.#thread.call("stop");
    this.#worker.removeAllListeners();
    await this.#worker.terminate();
  }

  #of(device: string): Provided {
    return this.#provided.get(device)!;
  }
}
