import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import type { Address } from "../transport/address.ts";
import type { ImageLimits } from "../config/image-limits.ts";
import type { Encoding } from "../protocols/dicom/dataset.ts";
import type { Request } from "../protocols/dicom/dimse.ts";
import type { ServiceRequest } from "../protocols/dicom/scp.ts";
import { listenTransport } from "../transport/tcp.ts";
import type { Security } from "../transport/tls.ts";
import { type DicomDevice, type DicomParts, DicomServer, type ReportLine } from "./scp-server.ts";
import type { Served, Talk } from "./services.ts";
import { Headers } from "./header-reader.ts";
import { ImageStore } from "./instance-store.ts";
import type { LineState } from "../states/line-state.ts";
import type { NoiseRun } from "../protocols/link.ts";
import { type Removed, removeOld } from "./retention.ts";
import { RemoteSpool } from "../spool/remote-spool.ts";
import { ThreadRpc } from "../runtime/thread-rpc.ts";

// The thread of the imaging devices: it has their sockets and the files of their images, and a way of its own to the spool, so
// that no byte of an image passes the main thread. What is no image (worklists, examinations, commitments) is asked for there.

export interface DicomThreadOptions {
  readonly data: string;
  readonly images: ImageLimits;
  readonly devices: readonly ListeningDevice[];
}

export interface ListeningDevice extends DicomDevice {
  readonly address: Address;
  /** As listenTransport's. */
  readonly allow: readonly string[];
  readonly security: Security | null;
}

export interface WorkerData extends DicomThreadOptions {
  /** See Spool.openPort(). */
  readonly spool: MessagePort;
}

/** Functions that the main thread calls in this one. */
export interface DicomFunctions {
  /** Settled when the device's port listens, or cannot: that is tried again. */
  open(device: string): Promise<void>;
  close(device: string): Promise<void>;
  /** An answer within a talk: see Talk. */
  pending(talk: number, status: number, dataset: Uint8Array): Promise<boolean>;
  /** See ReportLine. */
  report(line: number, request: Omit<Request, "messageId">, dataset: Uint8Array): Promise<boolean>;
  removeOld(): Promise<Removed>;
  /** The devices are closed before. */
  stop(): Promise<void>;
}

/** Functions that this thread calls in the main one; talks and lines have numbers. */
export interface MainFunctions {
  serve(device: string, request: ServiceRequest, talk: number): Promise<Served>;
  join(device: string, callingAe: string, encoding: Encoding, line: number): void;
  leave(device: string, line: number): void;
  wake(device: string): void;
  connected(device: string, peer: string): void;
  disconnected(device: string): void;
  stands(device: string, state: LineState): void;
  bytes(device: string, count: number): void;
  warning(device: string, reason: string, noise?: NoiseRun): void;
  kept(device: string, receivedAt: number): void;
  fault(device: string, error: unknown): void;
}

/** Devices that call open more than one line each, and lines that say nothing are closed only after a while. */
const LINES_MAX = 128;

/** How often the main thread is told how many bytes came. */
const BYTES_EVERY_MS = 1_000;

/** Adds up what comes, and tells it now and then. */
function counted(tell: (count: number) => void): (count: number) => void {
  let sum = 0;
  return (count) => {
    if (sum === 0) {
      setTimeout(() => {
        tell(sum);
        sum = 0;
      }, BYTES_EVERY_MS).unref();
    }
    sum += count;
  };
}

function serve(): void {
  if (parentPort === null) throw new Error("dicom-worker runs as a worker thread");
  const { data, images, devices, spool: port } = workerData as WorkerData;
  const spool = new RemoteSpool(port);
  const headers = new Headers();
  const store = new ImageStore(data, spool, headers, images.freeBytes);
  const talks = new Map<number, Talk>();
  const lines = new Map<number, ReportLine>();
  const servers = new Map<string, DicomServer>();

  const main = new ThreadRpc<DicomFunctions, MainFunctions>(parentPort, {
    async open(device) {
      servers.get(device)?.open();
      await new Promise((resolve) => setImmediate(resolve)); // it listens from the next turn on
    },
    close: async (device) => servers.get(device)?.close(),
    pending: async (talk, status, dataset) => (await talks.get(talk)?.pending(status, dataset)) ?? false,
    report: async (line, request, dataset) => (await lines.get(line)?.report(request, dataset)) ?? false,
    removeOld: () => removeOld(data, spool, images),
    async stop() {
      await headers.close();
      store.close();
    },
  });

  let made = 0;
  const partsOf = (device: string): DicomParts => {
    const numbers = new Map<ReportLine, number>();
    return {
      store,
      async serve(request, talk) {
        const number = ++made;
        talks.set(number, talk);
        const served = await main.call("serve", device, request, number);
        talks.delete(number);
        return served;
      },
      commitments: {
        join(line) {
          const number = ++made;
          numbers.set(line, number);
          lines.set(number, line);
          main.notify("join", device, line.callingAe, line.encoding, number);
        },
        leave(line) {
          const number = numbers.get(line)!;
          numbers.delete(line);
          lines.delete(number);
          main.notify("leave", device, number);
        },
        wake: () => main.notify("wake", device),
      },
    };
  };
  for (const device of devices) {
    const { id, address, allow, security } = device;
    const events = {
      connected: (peer: string) => main.notify("connected", id, peer),
      disconnected: () => main.notify("disconnected", id),
      lineChanged: (state: LineState) => main.notify("stands", id, state),
      bytes: counted((count) => main.notify("bytes", id, count)),
      warning: (reason: string, noise?: NoiseRun) => main.notify("warning", id, reason, noise),
      kept: (receivedAt: number) => main.notify("kept", id, receivedAt),
      fault: (error: unknown) => main.notify("fault", id, error),
    };
    const transport = listenTransport(address, allow, security, LINES_MAX);
    servers.set(id, new DicomServer(device, transport, partsOf(id), events));
  }
}

serve();
