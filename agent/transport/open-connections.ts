import type { GaveWay } from "../states/line-state.ts";

// A bound on the open connections of one listener. A peer that holds many connections must not lock out the device.
//
// A connected device may be silent for hours. A connection with a complete message therefore never gives way to one without.
// Single bytes do not protect a connection, because any peer can send them. Each of the two groups has its own bound, and in each
// the connection with the longest silence gives way. A device that never closes its connections displaces its own oldest ones.

export interface OpenConnection {
  /** The address of the peer, without its port. */
  readonly address: string;
  destroy(): void;
}

export class OpenConnections {
  readonly #max: number;
  readonly #gaveWay: (gaveWay: GaveWay) => void;
  /** Both groups in the order of their last open or chunk. */
  readonly #withoutMessage = new Map<string, OpenConnection>();
  readonly #withMessage = new Map<string, OpenConnection>();
  #displaced = 0;

  /** `max` bounds each of the two groups. `gaveWay` is called after each displaced connection. */
  constructor(max: number, gaveWay: (gaveWay: GaveWay) => void) {
    this.#max = max;
    this.#gaveWay = gaveWay;
  }

  /** Adds a connection. `peer` is its address with the port, unique among open connections. */
  add(peer: string, connection: OpenConnection): void {
    this.#put(this.#withoutMessage, peer, connection);
  }

  /** Notes that the peer has sent bytes. */
  heard(peer: string): void {
    for (const group of [this.#withoutMessage, this.#withMessage]) {
      const connection = group.get(peer);
      if (connection === undefined) continue;
      group.delete(peer);
      group.set(peer, connection);
    }
  }

  /** Notes that the peer has sent a complete message. */
  heardMessage(peer: string): void {
    const connection = this.#withoutMessage.get(peer);
    if (connection === undefined) return;
    this.#withoutMessage.delete(peer);
    this.#put(this.#withMessage, peer, connection);
  }

  remove(peer: string, connection: OpenConnection): void {
    for (const group of [this.#withoutMessage, this.#withMessage]) {
      if (group.get(peer) === connection) group.delete(peer);
    }
  }

  destroyAll(): void {
    for (const group of [this.#withoutMessage, this.#withMessage]) {
      for (const connection of group.values()) connection.destroy();
    }
  }

  #put(group: Map<string, OpenConnection>, peer: string, connection: OpenConnection): void {
    const [longestSilent] = group;
    if (group.size === this.#max && longestSilent !== undefined) {
      const [silentPeer, silent] = longestSilent;
      group.delete(silentPeer);
      silent.destroy();
      this.#displaced += 1;
      this.#gaveWay({ connections: this.#displaced, lastAddress: silent.address });
    }
    group.set(peer, connection);
  }
}
