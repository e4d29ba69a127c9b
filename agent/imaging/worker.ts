import { parentPort, workerData } from "node:worker_threads";
import type { NoiseRun } from "../protocols/link.ts";
import { ReceiptClock } from "./receipt-clock.ts";
import { removeOld } from "./retention.ts";
import { RemoteSpool } from "../spool/remote-spool.ts";
import { ThreadRpc } from "../runtime/thread-rpc.ts";
import type { LineState } from "../states/line-state.ts";
import { connectionsOfGroup } from "../runtime/connection-share.ts";
import { listenTransport } from "../transport/tcp.ts";
import type { ImagingThreadFunctions, ImagingWorkerData, MainThreadFunctions } from "./contract.ts";
import { HeaderReader } from "./files/header-reader.ts";
import { ImageStore } from "./instance-store.ts";
import type { ReportChannel, ScpDependencies } from "./scp-association.ts";
import { DicomServer } from "./scp-server.ts";
import type { PendingResponses } from "./services.ts";

// The imaging thread. It owns the sockets and files of all imaging devices, and its own port to the spool. No byte of an image
// passes through the main thread. Worklist, MPPS and storage commitment requests are forwarded to the main thread.

/** Max connections of a device. One device may open several, and silent connections close only after a timeout. */
const CONNECTIONS_MAX = 128;

/** Interval in milliseconds between two reports of received bytes. */
const BYTES_EVERY_MS = 1_000;

/** Interval in milliseconds between two looks for the image folder. The error ends the agent, and its next start makes a folder. */
const FOLDER_LOOK_MS = 1_000;

/** Returns a counter that reports its sum once per interval. */
function batchedCounter(report: (count: number) => void): (count: number) => void {
  let sum = 0;
  return (count) => {
    if (sum === 0) {
      setTimeout(() => {
        report(sum);
        sum = 0;
      }, BYTES_EVERY_MS).unref();
    }
    sum += count;
  };
}

/** Reports what happens at a device to the main thread. */
function eventsOf(id: string, main: ThreadRpc<ImagingThreadFunctions, MainThreadFunctions>) {
  return {
    connected: (peer: string) => main.notify("connected", id, peer),
    disconnected: () => main.notify("disconnected", id),
    lineChanged: (state: LineState) => main.notify("stands", id, state),
    bytes: batchedCounter((count) => main.notify("bytes", id, count)),
    warning: (reason: string, noise?: NoiseRun, peer?: string) => main.notify("warning", id, reason, noise, peer),
    refusal: (reason: string) => main.notify("refusal", id, reason),
    refused: (caller: string) => main.notify("refused", id, caller),
    stored: (receivedAt: number) => main.notify("stored", id, receivedAt),
    fault: (error: unknown) => main.notify("fault", id, error),
  };
}

function runWorker(): void {
  if (parentPort === null) throw new Error("imaging/worker.ts not started as a worker thread");
  const { data, images, devices, deviceCount, spool: port } = workerData as ImagingWorkerData;
  const spool = new RemoteSpool(port);
  const headers = new HeaderReader();
  const clock = new ReceiptClock();
  const store = new ImageStore(data, spool, headers, images.freeBytes, () => clock.now());
  const look = setInterval(() => store.requireFolder(), FOLDER_LOOK_MS).unref();
  const responsesByNumber = new Map<number, PendingResponses>();
  const channelByNumber = new Map<number, ReportChannel>();
  const servers = new Map<string, DicomServer>();

  const main = new ThreadRpc<ImagingThreadFunctions, MainThreadFunctions>(parentPort, {
    async open(device) {
      servers.get(device)?.open();
      await new Promise((resolve) => setImmediate(resolve)); // the port listens from the next turn on
    },
    close: async (device) => servers.get(device)?.close(),
    sendPending: async (request, status, dataset) =>
      (await responsesByNumber.get(request)?.send(status, dataset)) ?? false,
    report: async (channel, request, dataset) =>
      (await channelByNumber.get(channel)?.report(request, dataset)) ?? false,
    removeOld: (agreed) => removeOld(data, spool, images, agreed),
    clockIsAhead: (ms) => clock.isAhead(ms),
    async stop() {
      clearInterval(look);
      headers.close();
      store.close();
    },
  });

  let lastNumber = 0;
  const dependenciesOf = (device: string): ScpDependencies => {
    const numbers = new Map<ReportChannel, number>();
    return {
      store,
      async handleRequest(request, responses) {
        const number = ++lastNumber;
        responsesByNumber.set(number, responses);
        const outcome = await main.call("handleRequest", device, request, number);
        responsesByNumber.delete(number);
        return outcome;
      },
      commitments: {
        join(channel) {
          const number = ++lastNumber;
          numbers.set(channel, number);
          channelByNumber.set(number, channel);
          main.notify("join", device, channel.callingAe, channel.encoding, number);
        },
        leave(channel) {
          const number = numbers.get(channel)!;
          numbers.delete(channel);
          channelByNumber.delete(number);
          main.notify("leave", device, number);
        },
        wake: () => main.notify("wake", device),
      },
    };
  };
  const connectionsMax = connectionsOfGroup(deviceCount, CONNECTIONS_MAX);
  for (const device of devices) {
    const { id, address, allow, security } = device;
    const transport = listenTransport(address, allow, security, connectionsMax);
    servers.set(id, new DicomServer(device, transport, dependenciesOf(id), eventsOf(id, main)));
  }
}

runWorker();
