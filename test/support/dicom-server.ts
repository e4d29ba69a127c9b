import { beforeEach } from "vitest";
import { DicomServer, type DicomDevice } from "../../agent/dicom-server.ts";
import { DicomServices } from "../../agent/dicom-services.ts";
import { Commitments } from "../../agent/commitment.ts";
import { Directory } from "../../agent/directory.ts";
import { Headers } from "../../agent/headers.ts";
import { ImageStore } from "../../agent/image-store.ts";
import { httpServer } from "../../agent/server.ts";
import { type Address, listenTransport } from "../../agent/transport.ts";
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
  readonly reportTo: Address;
  readonly reported: string[];
  /** Of what is reported later. */
  readonly clock: TestClock;
}

/** A real DICOM device on loopback before each test of a file, whose server has nothing to add to the spool. */
export function useDicomServer(used: ReturnType<typeof useSpool>): ServedDevice {
  const served = {
    port: 0,
    warnings: [] as string[],
    examined: [] as string[][],
    reported: [] as string[],
    clock: new TestClock(),
    reportTo: { host: "127.0.0.1", port: 0 },
  };
  beforeEach(async () => {
    const server = await scriptedServer(() => ({ status: 404 }));
    const directory = new Directory(
      used.spool,
      httpServer(server.url, () => "sk_live_test"),
    );
    served.port = await freePort();
    served.warnings = [];
    served.examined = [];
    served.reported = [];
    served.clock = new TestClock();
    const headers = new Headers();
    const store = await ImageStore.open(used.folder, used.spool, headers);
    const services = new DicomServices(used.spool, directory, {
      examined: (studies) => served.examined.push([...studies]),
    });
    const device: DicomDevice = {
      ...{ id: "xray", aeTitle: "VETWIRE", callingAeTitles: [], timeZone: "Europe/Istanbul", quietMs: 60_000 },
    };
    const transport = listenTransport({ host: "127.0.0.1", port: served.port }, []);
    served.reportTo.port = await freePort();
    const commitments = new Commitments(
      used.folder,
      used.spool,
      { ...device, reportTo: served.reportTo },
      {
        reported: (transaction, failures) => served.reported.push(`${transaction}: ${failures} failures`),
        givenUp: (transaction) => served.reported.push(`${transaction}: given up`),
        fault: (error) => served.warnings.push(`our own fault: ${String(error)}`),
      },
      served.clock.setTimer,
    );
    const dicom = new DicomServer(
      device,
      transport,
      { store, services, commitments },
      {
        connected: () => undefined,
        disconnected: () => undefined,
        warning: (reason) => served.warnings.push(reason),
        kept: () => undefined,
        fault: (error) => served.warnings.push(`our own fault: ${String(error)}`),
      },
    );
    dicom.open();
    return async () => {
      await dicom.close();
      await commitments.stop();
      await headers.close();
      await store.close();
      await server.close();
    };
  });
  return served;
}
