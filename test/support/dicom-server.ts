import { beforeEach } from "vitest";
import { DicomServer, type DicomDevice } from "../../agent/dicom-server.ts";
import { DicomServices } from "../../agent/dicom-services.ts";
import { Directory } from "../../agent/directory.ts";
import { Headers } from "../../agent/headers.ts";
import { ImageStore } from "../../agent/image-store.ts";
import { httpServer } from "../../agent/server.ts";
import { listenTransport } from "../../agent/transport.ts";
import { scriptedServer } from "./scripted-server.ts";
import { freePort } from "./processes.ts";
import type { useSpool } from "./spool.ts";

export interface ServedDevice {
  readonly port: number;
  /** What went wrong, in order. */
  readonly warnings: string[];
  /** Studies of which the device said that they are whole. */
  readonly examined: string[][];
}

/** A real DICOM device on loopback before each test of a file, whose server has nothing to add to the spool. */
export function useDicomServer(used: ReturnType<typeof useSpool>): ServedDevice {
  const served = { port: 0, warnings: [] as string[], examined: [] as string[][] };
  beforeEach(async () => {
    const server = await scriptedServer(() => ({ status: 404 }));
    const directory = new Directory(
      used.spool,
      httpServer(server.url, () => "sk_live_test"),
    );
    served.port = await freePort();
    served.warnings = [];
    served.examined = [];
    const headers = new Headers();
    const store = await ImageStore.open(used.folder, used.spool, headers);
    const services = new DicomServices(used.spool, directory, {
      examined: (studies) => served.examined.push([...studies]),
      commitmentAsked: () => undefined,
    });
    const device: DicomDevice = {
      ...{ id: "xray", aeTitle: "VETWIRE", callingAeTitles: [], timeZone: "Europe/Istanbul", quietMs: 60_000 },
    };
    const transport = listenTransport({ host: "127.0.0.1", port: served.port }, []);
    const dicom = new DicomServer(device, transport, store, services, {
      connected: () => undefined,
      disconnected: () => undefined,
      warning: (reason) => served.warnings.push(reason),
      kept: () => undefined,
      fault: (error) => served.warnings.push(`our own fault: ${String(error)}`),
    });
    dicom.open();
    return async () => {
      await dicom.close();
      await headers.close();
      await server.close();
    };
  });
  return served;
}
