import type { Logger } from "pino";
import { type Config, type DeviceConfig, DICOM } from "./config/schema.ts";
import { readTls } from "./config/tls-files.ts";
import { parseAddress } from "./transport/address.ts";
import { type CommitmentDevice, type CommitmentEvents, Commitments } from "./imaging/storage-commitment.ts";
import type { Destination } from "./config/destination.ts";
import type { DicomDevice } from "./imaging/scp-server.ts";
import { DicomServices, type ServiceDevice } from "./imaging/services.ts";
import { DicomThread } from "./imaging/thread.ts";
import type { ListeningDevice } from "./imaging/worker.ts";
import { Forward } from "./imaging/forwarding.ts";
import { Headers } from "./imaging/header-reader.ts";
import { type ImageDevice, ImageFiling } from "./imaging/study-assembly.ts";
import { tidyImages } from "./imaging/instance-store.ts";
import { type Removed, removeOld } from "./imaging/retention.ts";
import { type Devices, serve, type Surroundings } from "./connection/device-service.ts";
import { realTimer } from "./runtime/timer.ts";

// The devices that send images: each one's port, and the way of its images to a study and to other archives.

export interface ImagingDevices extends Devices {
  /** Removes images beyond the configured limits. */
  removeOld(): Promise<Removed>;
}

export async function createImaging(around: Surroundings): Promise<ImagingDevices> {
  const { config, spool, directory, log, queued } = around;
  const devices = imagingOf(config);
  const headers = new Headers();
  const lookup = { spool, directory, matchPatientsByName: config.matchPatientsByName ?? false };
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
  await tidyImages(config.data, spool);
  const ownFault = (error: unknown) => log.error({ stage: "message", err: error }, "our own fault");
  const services = new DicomServices(spool, directory, { examined: () => filing.wake(), fault: ownFault });
  const commitments = new Map(
    [...devices.values()].map((device) => {
      const events = commitmentEvents(log.child({ device: device.id }));
      return [device.id, new Commitments(config.data, spool, device, events)];
    }),
  );

  const configured = config.devices.filter(({ id }) => devices.has(id));
  const { data, images } = config;
  const listening = configured.map((device) => listeningDevice(device, devices.get(device.id)!));
  const thread = listening.length === 0 ? null : new DicomThread({ data, images, devices: listening }, spool);
  const serveModality = (modality: ImagingDevice, sockets: DicomThread) =>
    serve(around, modality.id, DICOM, (events, received, child) =>
      sockets.serve(modality.id, {
        ...events,
        serve: (request, talk) => services.serve(request, modality, talk),
        commitments: commitments.get(modality.id)!,
        kept(at) {
          received(at);
          filing.wake(at + modality.quietMs);
          for (const forward of forwards) forward.wake();
        },
        fault: (error) => child.error({ stage: "message", err: error }, "our own fault"),
      }),
    );

  const senders = [...forwards, ...commitments.values()];
  const wake = () => {
    for (const sender of senders) sender.wake();
  };
  return {
    served: thread === null ? [] : [...devices.values()].map((device) => serveModality(device, thread)),
    async resume() {
      filing.wake();
      wake();
    },
    wake,
    rematch: () => filing.rematch([...devices.keys()]),
    async stop() {
      await Promise.all([filing.stop(), headers.close()]);
      await Promise.all(senders.map((sender) => sender.stop()));
      await thread?.stop();
    },
    // Whoever gives names to images has to take them, too: see retention.
    removeOld: () => thread?.removeOld() ?? removeOld(data, spool, images),
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

type ImagingDevice = DicomDevice & ImageDevice & CommitmentDevice & ServiceDevice;

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
    commitmentScp: device.commitmentScp === undefined ? null : parseAddress(device.commitmentScp),
  };
}

function listeningDevice({ connection, allow, tls }: DeviceConfig, device: ImagingDevice): ListeningDevice {
  const address = parseAddress(connection.listen ?? "");
  if (address === null) throw new Error("a DICOM device without an address: the configuration was not checked");
  const { id, aeTitle, callingAeTitles, quietMs } = device;
  return {
    ...{ id, aeTitle, callingAeTitles, quietMs, address },
    allow: allow ?? [],
    security: tls === undefined ? null : readTls(tls),
  };
}
