import type { RefusedCaller } from "../../states/noise-state.ts";

/** Max addresses of one device. A scan of the network must not fill the memory; the oldest gives way. */
const ADDRESSES_MAX = 20;

/** Counts the connections from addresses that `allow` lacks, since the start of the agent. */
export class RefusedCallers {
  #list: readonly RefusedCaller[] = [];

  /** The latest last. */
  get list(): readonly RefusedCaller[] {
    return this.#list;
  }

  add(from: string, at: number): void {
    const address = plainAddress(from);
    const count = (this.#list.find((caller) => caller.address === address)?.count ?? 0) + 1;
    const others = this.#list.filter((caller) => caller.address !== address);
    this.#list = [...others, { address, count, at }].slice(-ADDRESSES_MAX);
  }
}

/** Removes the port of a TCP peer. A serial port has none. */
export function addressOfPeer(peer: string): string {
  return plainAddress(peer.replace(/:\d+$/, ""));
}

/** Writes an IPv4 address that a socket for both families reports as `::ffff:192.0.2.1` in its usual form. */
function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/, "");
}
