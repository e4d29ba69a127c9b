import type { LookupAddress } from "node:dns";
import { lookup as dnsLookup } from "node:dns/promises";

// A look-up of the system holds one of the four threads of the process for as long as a name server is silent, also after the deadline of
// its request. The files of pages and the passwords of users need these threads too.

type Find = (host: string) => Promise<readonly LookupAddress[]>;

const LOOK_UPS_MAX = 3;

/** Looks names up: each once at a time, whoever waits for it, and three of them at a time. */
export class LookUps {
  readonly #find: Find;
  readonly #running = new Map<string, Promise<readonly LookupAddress[]>>();
  readonly #waiting: (() => void)[] = [];
  #free = LOOK_UPS_MAX;

  constructor(find: Find = async (host) => dnsLookup(host, { all: true })) {
    this.#find = find;
  }

  async of(host: string): Promise<readonly LookupAddress[]> {
    const running = this.#running.get(host) ?? this.#start(host).finally(() => this.#running.delete(host));
    this.#running.set(host, running);
    return running;
  }

  async #start(host: string): Promise<readonly LookupAddress[]> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    try {
      return await this.#find(host);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
