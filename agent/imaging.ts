import type { Logger } from "pino";
import { type CommitmentDevice, type CommitmentEvents, Commitments } from "./commitment.ts";
import { type Config, type DeviceConfig, DICOM, parseAddress, readTls } from "./config.ts";
import { realTimer } from "./connection.ts";
import { type DicomDevice, DicomServer } from "./dicom-server.ts";
import { DicomServices } from "./dicom-services.ts";
import { type Destination, Forward } from "./forward.ts";
import { Headers } from "./headers.ts";
import { type ImageDevice, ImageFiling } from "./image-filing.ts";
import { ImageStore } from "./image-store.ts";
import { type Devices, serve, type Surroundings } from "./served.ts";
import { listenTransport, type Transport } from "./transport.ts";

// The devices that send images: each one's port, and the way of its images to a study and to other archives.

export async function createImaging(around: Surroundings): Promise<Devices> {
  const { config, spool, directory, log, queued } = around;
  const devices = imagingOf(config);
  const headers = new Headers();
  const lookup = { spool, directory, matchByName: config.matchByName ?? false };
  const stages = { data: config.data, headers, deviceById: (id: string) => devices.get(id), lookup };
  const filing = new ImageFiling(stages, {
    settled(device, studies, instances) {
      log.info({ stage: "study", device, studies, instances }, "a study of images was settled");
      queued();
    },
    fault: (error) => log.error({ stage: "read", err: error }, "our own fault: images quarantined"),
  });
  await spool.call(
    "setDestinations",
    config.destinations.map(({ id }) => id),
  );
  const forwards = config.destinations.map((destination) => forwardTo(destination, around));
  const store = await ImageStore.open(config.data, spool, headers, config.images.freeBytes);
  const services = new DicomServices(spool, directory, {
    examined: () => filing.wake(),
  });
  const commitments = new Map(
    [...devices.values()].map((device) => {
      const events = commitmentEvents(log.child({ device: device.id }));
      return [device.id, new Commitments(config.data, spool, device, events)];
    }),
  );

  const serveModality = (configured: DeviceConfig) => {
    const device = devices.get(configured.id)!;
    return serve(around, device.id, DICOM, (events, received, child) => {
      const parts = { store, services, commitments: commitments.get(device.id)! };
      return new DicomServer(device, transportOf(configured), parts, {
        ...events,
        kept(at) {
          received(at);
          filing.wake(at + device.quietMs);
          for (const forward of forwards) forward.wake();
        },
        fault: (error) => child.error({ stage: "message", err: error }, "our own fault"),
      });
    });
  };

  const senders = [...forwards, ...commitments.values()];
  const wake = () => {
    for (const sender of senders) sender.wake();
  };
  return {
    served: config.devices.filter(({ id }) => devices.has(id)).map(serveModality),
    async resume() {
      filing.wake();
      wake();
    },
    wake,
    async stop() {
      await filing.stop();
      await Promise.all(senders.map((sender) => sender.stop()));
      await headers.close();
      await store.close();
    },
  };
}

function forwardTo(destination: Destination, { config, spool, metrics, log }: Surroundings): Forward {
  const child = log.child({ destination: destination.id });
  return new Forward(
    config.data,
    spool,
    destination,
    {
      sent: () => metrics.forwarded.inc({ destination: destination.id, outcome: "sent" }),
      refused(message, reason) {
        metrics.forwarded.inc({ destination: destination.id, outcome: "refused" });
        child.error({ stage: "push", message, reason }, "an image was refused: kept, and not offered again");
      },
      failed: (kind, reason) =>
        child.error({ stage: "push", kind, reason }, "images cannot be forwarded: kept, and tried again"),
      recovered: () => child.info({ stage: "push" }, "images are forwarded again"),
    },
    { setTimer: realTimer, random: Math.random },
  );
}

function commitmentEvents(log: Logger): CommitmentEvents {
  return {
    reported: (transaction, failures) =>
      log.info({ stage: "message", transaction, failures }, "the device was told which of its images we have"),
    givenUp: (transaction) =>
      log.warn({ stage: "message", transaction }, "the device never took the answer to its storage commitment"),
    fault: (error) => log.error({ stage: "message", err: error }, "our own fault"),
  };
}

type ImagingDevice = DicomDevice & ImageDevice & CommitmentDevice;

/** A study is whole when nothing came of it for so long. */
const QUIET_SECONDS = 60;

/** The configured imaging devices by their ids. */
export function imagingOf({ devices, timeZone }: Config): ReadonlyMap<string, ImagingDevice> {
  const imaging = devices.filter(({ profile }) => profile === DICOM);
  return new Map(imaging.map((device) => [device.id, readImaging(device, timeZone)]));
}

function readImaging(device: DeviceConfig, timeZone: string): ImagingDevice {
  return {
    id: device.id,
    aeTitle: device.aeTitle ?? "VETWIRE",
    callingAeTitles: device.callingAeTitles ?? [],
    quietMs: (device.quietSeconds ?? QUIET_SECONDS) * 1000,
    timeZone: device.timeZone ?? timeZone,
    modality: device.modality ?? null,
    reportTo: device.reportTo === undefined ? null : parseAddress(device.reportTo),
  };
}

/** Devices that call open more than one line each, and lines that say nothing are closed only after a while. */
const IMAGING_LINES_MAX = 128;

function transportOf({ connection, allow, tls }: DeviceConfig): Transport {
  const address = parseAddress(connection.listen ?? "");
  if (address === null) throw new Error("a DICOM device without an address: the configuration was not checked");
  return listenTransport(address, allow ?? [], tls === undefined ? null : readTls(tls), IMAGING_LINES_MAX);
}
