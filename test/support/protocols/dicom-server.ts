import { beforeEach } from "vitest";
import { recoverImageFolder } from "../../../agent/imaging/files/image-folder.ts";
import type { Address } from "../../../agent/transport/address.ts";
import { DicomServices } from "../../../agent/imaging/services.ts";
import { DicomThread } from "../../../agent/imaging/thread.ts";
import { Commitments } from "../../../agent/imaging/archive/storage-commitment.ts";
import { Directory } from "../../../agent/study/patient-directory.ts";
import { createServerClient } from "../../../agent/push/server-client.ts";
import { TestClock } from "./wire.ts";
import { scriptedServer } from "../peers/scripted-server.ts";
import { freePort } from "../machine/processes.ts";
import type { useSpool } from "../spool.ts";

export interface ServedDevice {
  readonly port: number;
  /** Warnings and internal errors, in order. */
  readonly warnings: string[];
  /** Studies of completed procedure steps. */
  readonly completedSteps: string[][];
  /** Address for reports to the device, where only a test listens. */
  readonly commitmentScp: Address;
  /** Reports of storage commitment that were sent or given up. */
  readonly reported: string[];
  /** Clock of the later reports. */
  readonly clock: TestClock;
}

/** Starts a DICOM device with its thread on loopback before each test of a file. Its server adds nothing to the spool. */
export function useDicomServer(used: ReturnType<typeof useSpool>): ServedDevice {
  const served = {
    port: 0,
    warnings: [] as string[],
    completedSteps: [] as string[][],
    reported: [] as string[],
    clock: new TestClock(),
    commitmentScp: { host: "127.0.0.1", port: 0 },
  };
  beforeEach(async () => {
    const server = await scriptedServer(() => ({ status: 404 }));
    const directory = new Directory(
      used.spool,
      createServerClient(server.url, () => "sk_live_test"),
    );
    served.port = await freePort();
    served.warnings = [];
    served.completedSteps = [];
    served.reported = [];
    served.clock = new TestClock();
    await recoverImageFolder(used.folder, used.spool);
    const fault = (error: unknown) => served.warnings.push(`internal error: ${String(error)}`);
    const services = new DicomServices(used.spool, directory, {
      mppsCompleted: (studies) => served.completedSteps.push([...studies]),
      fault,
    });
    const device = { id: "xray", aeTitle: "VETWIRE", timeZone: "Europe/Istanbul" };
    const listening = {
      ...device,
      callingAeTitles: [],
      quietMs: 60_000,
      address: { host: "127.0.0.1", port: served.port },
      allow: [],
      security: null,
    };
    const images = { keepMs: null, bytesMax: null, freeBytes: null };
    const thread = new DicomThread({ data: used.folder, images, devices: [listening], deviceCount: 1 }, used.spool);
    served.commitmentScp.port = await freePort();
    const commitments = new Commitments(
      used.folder,
      used.spool,
      { ...device, commitmentScp: served.commitmentScp },
      {
        reported: (transaction, failures) => served.reported.push(`${transaction}: ${failures} failures`),
        givenUp: (transaction) => served.reported.push(`${transaction}: given up`),
        fault,
      },
      served.clock.setTimer,
    );
    const dicom = thread.addDevice(device.id, {
      connected: () => undefined,
      disconnected: () => undefined,
      lineChanged: () => undefined,
      bytes: () => undefined,
      refused: () => undefined,
      warning: (reason) => served.warnings.push(reason),
      refusal: (reason) => served.warnings.push(reason),
      stored: () => undefined,
      fault,
      handleRequest: (request, responses) => services.handleRequest(request, device, responses),
      commitments,
    });
    await dicom.open();
    return async () => {
      await dicom.close();
      await commitments.stop();
      await thread.stop();
      await server.close();
    };
  });
  return served;
}
