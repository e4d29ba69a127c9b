import {
  CLOCK_LAG_MS,
  type Cost,
  type CounterResult,
  type Counters,
  type SharedCounters,
  type Window,
} from "../../records/clinics/rate-limit-counters.ts";

/** Max names that are counted, about 20 MB. Beyond it the name with the oldest window is evicted and starts again. */
const NAMES_MAX = 100_000;

/** Rate-limit counters in the memory of a single server. */
export function memoryCounters(): SharedCounters {
  return { keys: new MemoryCounters(NAMES_MAX), addresses: new MemoryCounters(NAMES_MAX) };
}

interface MutableCount {
  used: number;
  endsAt: number;
}

export class MemoryCounters implements Counters {
  readonly #namesMax: number;
  /** Counts by name, in the order in which their longest windows started and will end. */
  readonly #counts = new Map<string, MutableCount[]>();

  constructor(namesMax: number) {
    this.#namesMax = namesMax;
  }

  get size(): number {
    return this.#counts.size;
  }

  async take(name: string, windows: readonly Window[], now: number, cost: Cost = 1): Promise<CounterResult> {
    const counts = this.#counts.get(name) ?? windows.map(() => ({ used: 0, endsAt: 0 }));
    let taken = true;
    for (let index = 0; index < windows.length; index += 1) {
      const { ms, limit } = windows[index] as Window;
      const count = counts[index] as MutableCount;
      // As the shared counters: a clock that was set back must not lengthen a window by more.
      if (count.endsAt <= now || count.endsAt - now > ms + CLOCK_LAG_MS) {
        count.used = 0;
        count.endsAt = now + ms;
        if (index === windows.length - 1) this.#begin(name, counts, now);
      }
      taken &&= cost <= 0 || count.used < limit;
    }
    if (taken) for (const count of counts) count.used = Math.max(0, count.used + cost);
    return { taken, counts };
  }

  /** Moves a name to the end of the order. Evicts ended names, or the oldest one if none has ended. */
  #begin(name: string, counts: MutableCount[], now: number): void {
    this.#counts.delete(name);
    for (const [oldest, others] of this.#counts) {
      const ended = (others.at(-1)?.endsAt ?? 0) <= now;
      if (!ended && this.#counts.size < this.#namesMax) break;
      this.#counts.delete(oldest);
    }
    this.#counts.set(name, counts);
  }
}
