import type { GaveWay } from "../states/line-state.ts";

// The open connections of one listener, bounded without a lock-out: a peer that holds all of them must not keep the device out.
//
// A device may stay connected in silence for hours, so a connection that has sent a whole message never gives way to one that
// has sent none. Single bytes do not protect a connection, because any peer can send them. The two groups are bounded apart, and
// in each the connection that has been silent the longest gives way. A device that never closes its connections therefore
// displaces its own oldest ones.

export interface OpenConnection {
  /** The address of the peer, without its port. */
  readonly address: string;
  destroy(): void;
}

export class OpenConnections {
  readonly #max: number;
  readonly #gaveWay: (gaveWay: GaveWay) => void;
  /** Each group in the order in which its connections opened or last sent something. */
  readonly #withoutMessage = new Map<string, OpenConnection>();
  readonly #withMessage = new Map<string, OpenConnection>();
  #displaced = 0;

  /** `max` bounds each of the two groups. `gaveWay` is called after each connection that is closed for another one. */
  constructor(max: number, gaveWay: (gaveWay: GaveWay) => void) {
    this.#max = max;
    this.#gaveWay = gaveWay;
  }

  /** `peer` is unique among open connections: the address with the port. */
  add(peer: string, connection: OpenConnection): void {
    this.#put(this.#withoutMessage, peer, connection);
  }

  /** The peer has sent bytes. */
  heard(peer: string): void {
    for (const group of [this.#withoutMessage, this.#withMessage]) {
      const connection = group.get(peer);
      if (connection === undefined) continue;
      group.delete(peer);
      group.set(peer, connection);
    }
  }

  /** The peer has sent a whole message. */
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
