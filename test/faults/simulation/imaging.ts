import type { DeviceConfig } from "../../../agent/config/values/schema.ts";
import { DICOM } from "../../../agent/config/values/schema.ts";
import { type AgentContext, type RunningDevice, startDevice } from "../../../agent/connection/device-service.ts";
import type { HeaderReader } from "../../../agent/imaging/files/header-reader.ts";
import type { HeaderResult } from "../../../agent/imaging/files/file-thread.ts";
import { recoverImageFolder } from "../../../agent/imaging/files/image-folder.ts";
import { ImageStore } from "../../../agent/imaging/instance-store.ts";
import { parseHeader } from "../../../agent/imaging/files/parse-header.ts";
import { DicomServer } from "../../../agent/imaging/scp-server.ts";
import { StudyAssembly } from "../../../agent/imaging/study-assembly.ts";
import { imagingOf } from "../../../agent/imaging-devices.ts";
import { readHeader } from "../../../agent/protocols/dicom/reports/header.ts";
import { STATUS } from "../../../agent/protocols/dicom/dimse.ts";
import type { Transport } from "../../../agent/transport/transport.ts";
import { errorMessage } from "../../../shared/runtime/error-message.ts";

// The imaging devices as imaging-devices.ts and the imaging thread connect them, in one thread. The border: headers are parsed in
// place and not in a thread with limits; the queue of the archive is filled and never sent; no worklist and no storage commitment.

/** Name of the archive whose queue the images enter. */
const ARCHIVE = "archive";

export interface SimulatedImaging {
  readonly devices: readonly RunningDevice[];
  resume(): void;
  rematch(): Promise<void>;
  stop(): Promise<void>;
}

/** Parses in place, since the duration of a thread is real. */
const headers = {
  read: async (request: Parameters<HeaderReader["read"]>[0]): Promise<HeaderResult> => {
    try {
      return { header: parseHeader(request, readHeader) };
    } catch (error) {
      return { problem: errorMessage(error) };
    }
  },
} as unknown as HeaderReader;

export async function createImages(
  context: AgentContext,
  transportOf: (device: DeviceConfig) => Transport,
  fault: (error: unknown) => void,
): Promise<SimulatedImaging> {
  const { config, spool, directory, queued, now } = context;
  const imaging = imagingOf(config);
  if (imaging.size === 0) {
    const nothing = async () => undefined;
    return { devices: [], resume: () => undefined, rematch: nothing, stop: nothing };
  }
  await spool.call("setDestinations", [ARCHIVE]);
  await recoverImageFolder(config.data, spool);
  const lookup = { spool, directory, matchPatientsByName: false };
  const stages = { data: config.data, headers, deviceById: (id: string) => imaging.get(id), lookup };
  const filing = new StudyAssembly(stages, { settled: () => queued(), fault });
  const store = new ImageStore(config.data, spool, headers, 0, now);
  const devices = config.devices
    .filter(({ profile }) => profile === DICOM)
    .map((configured) => {
      const device = imaging.get(configured.id)!;
      return startDevice(context, device.id, DICOM, (session) => {
        const server = new DicomServer(
          device,
          transportOf(configured),
          {
            store,
            handleRequest: async () => ({ status: STATUS.processingFailure, comment: "not simulated" }),
            commitments: { join: () => undefined, leave: () => undefined, wake: () => undefined },
          },
          {
            ...session,
            stored(at) {
              session.received(at);
              filing.wake(at + device.quietMs);
            },
            fault,
          },
        );
        return {
          get connected() {
            return server.connected;
          },
          get isWithinMessage() {
            return server.connected;
          },
          open: () => server.open(),
          close: () => server.close(),
        };
      });
    });
  return {
    devices,
    resume: () => filing.wake(),
    rematch: () => filing.rematch([...imaging.keys()]),
    async stop() {
      await filing.stop();
      store.close();
    },
  };
}
