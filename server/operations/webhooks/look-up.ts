import type { LookupAddress } from "node:dns";
import { lookup as dnsLookup } from "node:dns/promises";

// A look-up of the system holds one of the four threads of the process for as long as a name server is silent, also after the deadline of
// its request. The files of pages and the passwords of users need these threads too.

type Find = (host: string) => Promise<readonly LookupAddress[]>;

/** A place of a look-up that runs: for any name, or for one that was found soon the last time. */
type Place = "any" | "soon";

/** Look-ups at a time. One place is kept from names whose name servers are silent, so that they hold up no other receiver. */
const PLACES: readonly Place[] = ["any", "any", "soon"];
const SOON_MS = 1000;

/** Looks names up: each once at a time, whoever waits for it, and two of them at a time, with a third that was found soon before. */
export class LookUps {
  readonly #find: Find;
  readonly #running = new Map<string, Promise<readonly LookupAddress[]>>();
  readonly #free = [...PLACES];
  readonly #waiting: { readonly isSoon: boolean; readonly take: (place: Place) => void }[] = [];
  /** The names whose last look-up took little time. */
  readonly #soon = new Set<string>();

  constructor(find: Find = async (host) => dnsLookup(host, { all: true })) {
    this.#find = find;
  }

  async of(host: string): Promise<readonly LookupAddress[]> {
    const running = this.#running.get(host) ?? this.#start(host).finally(() => this.#running.delete(host));
    this.#running.set(host, running);
    return running;
  }

  async #start(host: string): Promise<readonly LookupAddress[]> {
    const isSoon = this.#soon.has(host);
    const place =
      this.#takePlace(isSoon) ?? (await new Promise<Place>((take) => void this.#waiting.push({ isSoon, take })));
    const begun = performance.now();
    try {
      return await this.#find(host);
    } finally {
      if (performance.now() - begun < SOON_MS) this.#soon.add(host);
      else this.#soon.delete(host);
      this.#leave(place);
    }
  }

  /** @returns undefined if no place is free */
  #takePlace(isSoon: boolean): Place | undefined {
    const found = this.#free.findIndex((place) => isSoon || place === "any");
    return found < 0 ? undefined : this.#free.splice(found, 1)[0];
  }

  #leave(place: Place): void {
    const next = this.#waiting.findIndex(({ isSoon }) => isSoon || place === "any");
    if (next < 0) this.#free.push(place);
    else this.#waiting.splice(next, 1)[0]?.take(place);
  }
}
