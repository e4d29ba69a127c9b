import { beforeEach } from "vitest";
import type { Address } from "../../agent/transport/address.ts";
import { DicomServices } from "../../agent/imaging/services.ts";
import { DicomThread } from "../../agent/imaging/thread.ts";
import { Commitments } from "../../agent/imaging/storage-commitment.ts";
import { Directory } from "../../agent/study/patient-directory.ts";
import { tidyImages } from "../../agent/imaging/instance-store.ts";
import { createServerClient } from "../../agent/push/server-client.ts";
import { TestClock } from "./wire.ts";
import { scriptedServer } from "./scripted-server.ts";
import { freePort } from "./processes.ts";
import type { useSpool } from "./spool.ts";

export interface ServedDevice {
  readonly port: number;
  /** What went wrong, in order. */
  readonly warnings: string[];
  /** Studies of which the device said that they are whole. */
  readonly examined: string[][];
  /** Where the device takes reports, of its own: nobody listens there until a test does. */
  readonly commitmentScp: Address;
  readonly reported: string[];
  /** Of what is reported later. */
  readonly clock: TestClock;
}

/** A real DICOM device on loopback, with its thread, before each test of a file; its server has nothing to add to the spool. */
export function useDicomServer(used: ReturnType<typeof useSpool>): ServedDevice {
  const served = {
    port: 0,
    warnings: [] as string[],
    examined: [] as string[][],
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
    served.examined = [];
    served.reported = [];
    served.clock = new TestClock();
    await tidyImages(used.folder, used.spool);
    const fault = (error: unknown) => served.warnings.push(`our own fault: ${String(error)}`);
    const services = new DicomServices(used.spool, directory, {
      examined: (studies) => served.examined.push([...studies]),
      fault,
    });
    const device = { id: "xray", aeTitle: "VETWIRE", timeZone: "Europe/Istanbul" };
    const listening = {
      ...{ ...device, callingAeTitles: [], quietMs: 60_000 },
      ...{ address: { host: "127.0.0.1", port: served.port }, allow: [], security: null },
    };
    const images = { keepMs: null, bytesMax: null, freeBytes: null };
    const thread = new DicomThread({ data: used.folder, images, devices: [listening] }, used.spool);
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
    const dicom = thread.serve(device.id, {
      connected: () => undefined,
      disconnected: () => undefined,
      lineChanged: () => undefined,
      bytes: () => undefined,
      warning: (reason) => served.warnings.push(reason),
      kept: () => undefined,
      fault,
      serve: (request, talk) => services.serve(request, device, talk),
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
