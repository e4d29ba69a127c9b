import type { Transport, Wire, WireHandler } from "../transport/transport.ts";
import type { DicomDevice } from "./contract.ts";
import { type DicomEvents, ScpAssociation, type ScpDependencies } from "./scp-association.ts";

// Listens for one DICOM device and limits its associations.

const ASSOCIATIONS_MAX = 16;
const ASSOCIATIONS_OF_PEER_MAX = 4;

export class DicomServer {
  readonly #device: DicomDevice;
  readonly #transport: Transport;
  readonly #dependencies: ScpDependencies;
  readonly #events: DicomEvents;
  /** Calling AE titles of the open associations. */
  readonly #open: string[] = [];
  /** Stores and requests in progress. */
  readonly #tasks = new Set<Promise<void>>();

  constructor(device: DicomDevice, transport: Transport, dependencies: ScpDependencies, events: DicomEvents) {
    this.#device = device;
    this.#transport = transport;
    this.#dependencies = dependencies;
    this.#events = events;
  }

  get connected(): boolean {
    return this.#open.length > 0;
  }

  open(): void {
    this.#transport.open(
      (wire) => this.#accept(wire),
      (reason) => this.#events.warning(reason),
      (state) => this.#events.lineChanged(state),
      (address) => this.#events.refused(address),
    );
  }

  /** Closes all connections, and waits for the instances that are being stored. */
  async close(): Promise<void> {
    await this.#transport.close();
    await Promise.all(this.#tasks);
  }

  #accept(wire: Wire): WireHandler {
    const association = new ScpAssociation(this.#device, wire, this.#dependencies, {
      ...this.#events,
      admits: (callingAe) =>
        this.#open.length < ASSOCIATIONS_MAX &&
        this.#open.filter((title) => title === callingAe).length < ASSOCIATIONS_OF_PEER_MAX,
      opened: (callingAe) => {
        this.#open.push(callingAe);
        this.#events.connected(`${callingAe} at ${wire.peer}`);
      },
      over: (callingAe) => {
        this.#open.splice(this.#open.indexOf(callingAe), 1);
        this.#events.disconnected();
      },
      track: (task) => this.#track(task),
    });
    return {
      chunk: (bytes) => {
        this.#events.bytes(bytes.length);
        association.chunk(bytes);
      },
      closed: () => association.closed(),
    };
  }

  #track(task: Promise<void>): void {
    const tracked = task
      .catch((error: unknown) => this.#events.fault(error))
      .finally(() => this.#tasks.delete(tracked));
    this.#tasks.add(tracked);
  }
}
