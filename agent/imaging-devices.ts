import type { Logger } from "pino";
import { type Config, type DeviceConfig, DICOM } from "./config/values/schema.ts";
import { readTls } from "./config/values/tls-files.ts";
import type { DicomDevice, ListeningDevice } from "./imaging/contract.ts";
import { recoverImageFolder } from "./imaging/files/image-folder.ts";
import { parseAddress } from "./transport/address.ts";
import { type CommitmentDevice, type CommitmentEvents, Commitments } from "./imaging/archive/storage-commitment.ts";
import type { Destination } from "./config/values/destination.ts";
import { DicomServices, type ServiceDevice } from "./imaging/services.ts";
import { DicomThread } from "./imaging/thread.ts";
import { ForwardQueue } from "./imaging/archive/forwarding.ts";
import { HeaderReader } from "./imaging/files/header-reader.ts";
import { PreviewUpload } from "./imaging/preview-upload.ts";
import { type ImageDevice, StudyAssembly } from "./imaging/study-assembly.ts";
import { removeOld, type RetentionResult } from "./imaging/retention.ts";
import { type AgentContext, type DeviceGroup, type RunningDevice, startDevice } from "./connection/device-service.ts";
import type { ServerClient } from "./push/server-client.ts";
import { realTimer } from "./runtime/timer.ts";

// Starts the imaging devices, with the stages from images to studies and archives.

export interface ImagingDevices extends DeviceGroup {
  /** Removes images beyond the configured limits. */
  removeOld(agreed: number | null): Promise<RetentionResult>;
  /** This machine's clock is that far ahead of the right time, in ms. */
  clockIsAhead(ms: number): void;
  /** Sends the pictures of a study that the server acknowledged. */
  acknowledged(): void;
}

/** Dependencies shared by all imaging devices. */
interface ImagingContext extends AgentContext {
  readonly imaging: ReadonlyMap<string, ImagingDevice>;
  readonly headers: HeaderReader;
  readonly filing: StudyAssembly;
  readonly forwards: readonly ForwardQueue[];
  readonly previews: PreviewUpload;
  readonly services: DicomServices;
  readonly commitments: ReadonlyMap<string, Commitments>;
}

export async function createImaging(agent: AgentContext, server: ServerClient): Promise<ImagingDevices> {
  const { config, spool, directory, log } = agent;
  const imaging = imagingOf(config);
  const headers = new HeaderReader();
  const filing = createImageFiling(agent, imaging, headers);
  const destinations = config.destinations.map(({ id }) => id);
  await spool.call("setDestinations", destinations);
  const forwards = config.destinations.map((destination) => forwardTo(destination, agent));
  await recoverImageFolder(config.data, spool);
  const fault = (error: unknown) => log.error({ stage: "message", err: error }, "internal error");
  const services = new DicomServices(spool, directory, { mppsCompleted: () => filing.wake(), fault });
  const commitments = new Map([...imaging.values()].map((device) => [device.id, commitmentsOf(device, agent)]));
  const previews = previewsTo(server, agent);
  const context = { ...agent, imaging, headers, filing, forwards, previews, services, commitments };
  const thread = imaging.size === 0 ? null : startThread(context);
  const devices = thread === null ? [] : [...imaging.values()].map((device) => startModality(device, thread, context));
  return imagingGroup(context, thread, devices);
}

function createImageFiling(
  { config, spool, directory, log, queued }: AgentContext,
  imaging: ImagingContext["imaging"],
  headers: HeaderReader,
): StudyAssembly {
  const lookup = { spool, directory, matchPatientsByName: config.matchPatientsByName ?? false };
  const stages = { data: config.data, headers, deviceById: (id: string) => imaging.get(id), lookup };
  return new StudyAssembly(stages, {
    settled(device, studies, instances) {
      log.info({ stage: "study", device, studies, instances }, "a study of images was settled");
      queued();
    },
    fault: (error) => log.error({ stage: "read", err: error }, "internal error: images quarantined"),
  });
}

function commitmentsOf(device: ImagingDevice, { config, spool, log }: AgentContext): Commitments {
  return new Commitments(config.data, spool, device, commitmentEvents(log.child({ device: device.id })));
}

/** Starts the thread that holds the sockets and files of all imaging devices. */
function startThread({ config, imaging, spool }: ImagingContext): DicomThread {
  const configured = config.devices.filter(({ id }) => imaging.has(id));
  const devices = configured.map((device) => listeningDevice(device, imaging.get(device.id)!));
  return new DicomThread(
    { data: config.data, images: config.images, devices, deviceCount: config.devices.length },
    spool,
  );
}

function startModality(device: ImagingDevice, thread: DicomThread, context: ImagingContext): RunningDevice {
  const { filing, forwards, services, commitments } = context;
  return startDevice(context, device.id, DICOM, (session) =>
    thread.addDevice(device.id, {
      ...session,
      handleRequest: (request, responses) => services.handleRequest(request, device, responses),
      commitments: commitments.get(device.id)!,
      stored(at) {
        session.received(at);
        filing.wake(at + device.quietMs);
        for (const forward of forwards) forward.wake();
      },
      fault: (error) => session.log.error({ stage: "message", err: error }, "internal error"),
    }),
  );
}

function imagingGroup(
  context: ImagingContext,
  thread: DicomThread | null,
  devices: readonly RunningDevice[],
): ImagingDevices {
  const { config, spool, imaging, headers, filing, forwards, previews, commitments } = context;
  const senders = [...forwards, ...commitments.values(), previews];
  const wake = () => {
    for (const sender of senders) sender.wake();
  };
  return {
    devices,
    async resume() {
      filing.wake();
      wake();
    },
    wake,
    rematch: () => filing.rematch([...imaging.keys()]),
    async stop() {
      const filed = filing.stop();
      headers.close();
      await filed;
      await Promise.all(senders.map((sender) => sender.stop()));
      await thread?.stop();
    },
    // The thread names new images, so it also removes old ones: a new image must not take a name about to be removed.
    removeOld: (agreed) => thread?.removeOld(agreed) ?? removeOld(config.data, spool, config.images, agreed),
    clockIsAhead: (ms) => thread?.clockIsAhead(ms),
    acknowledged: () => previews.wake(),
  };
}

function forwardTo(destination: Destination, { config, spool, metrics, log }: AgentContext): ForwardQueue {
  const child = log.child({ destination: destination.id });
  return new ForwardQueue(
    config.data,
    spool,
    destination,
    {
      sent: () => metrics.forwarded.inc({ destination: destination.id, outcome: "sent" }),
      refused(message, reason) {
        metrics.forwarded.inc({ destination: destination.id, outcome: "refused" });
        child.error(
          { stage: "push", message, reason },
          "an archive refused an image: the agent keeps it and does not send it again",
        );
      },
      failed: (kind, reason) =>
        child.error({ stage: "push", kind, reason }, "images cannot be forwarded: the agent keeps them and retries"),
      recovered: () => child.info({ stage: "push" }, "images are forwarded again"),
    },
    { setTimer: realTimer, random: Math.random },
  );
}

/** No result waits for a picture, so its failure does not warn. */
function previewsTo(server: ServerClient, { config, spool, log }: AgentContext): PreviewUpload {
  return new PreviewUpload(
    config.data,
    spool,
    (path, png) => server.putPng(path, png),
    {
      failed: (kind, reason) =>
        log.info({ stage: "push", kind, reason }, "pictures cannot be sent: the agent keeps them and retries"),
      recovered: () => log.info({ stage: "push" }, "pictures are sent again"),
    },
    { setTimer: realTimer, random: Math.random },
  );
}

function commitmentEvents(log: Logger): CommitmentEvents {
  return {
    reported: (transaction, failures) =>
      log.info({ stage: "message", transaction, failures }, "storage commitment reported to the device"),
    givenUp: (transaction) =>
      log.warn({ stage: "message", transaction }, "storage commitment report given up: the device never accepted it"),
    fault: (error) => log.error({ stage: "message", err: error }, "internal error"),
  };
}

type ImagingDevice = DicomDevice & ImageDevice & CommitmentDevice & ServiceDevice;

/** Idle time after which a study counts as complete. */
const QUIET_SECONDS = 60;

/** @returns the configured imaging devices by id */
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
  if (address === null) throw new Error("DICOM device without an address: expected a checked configuration");
  const { id, aeTitle, callingAeTitles, quietMs } = device;
  return {
    id,
    aeTitle,
    callingAeTitles,
    quietMs,
    address,
    allow: allow ?? [],
    security: tls === undefined ? null : readTls(tls),
  };
}
