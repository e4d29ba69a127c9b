import type { Dice } from "../../support/runner/dice.ts";

// The clock and the scheduler of a simulated world. Everything that takes time is an event in one queue, so one seed gives one
// order of events. Product code that calls setTimeout or Date.now gets the virtual ones, which look real to it.

/** A machine with a wall clock of its own. The wall clock may jump; timers follow the monotonic clock alone. */
export interface Machine {
  readonly name: string;
  /** Milliseconds since 1970 at the start of the world. */
  wallAtStart: number;
}

/** A running program. Its timers and callbacks end with it. */
export class Process {
  readonly machine: Machine;
  isAlive = true;

  constructor(machine: Machine) {
    this.machine = machine;
  }
}

interface Event {
  readonly at: number;
  readonly process: Process;
  /** The promise of run() settles before any other event, with real immediates: it takes no virtual time. */
  readonly isAwaited: boolean;
  readonly run: () => unknown;
}

const real = {
  setTimeout,
  clearTimeout,
  setInterval,
  clearInterval,
  setImmediate,
  clearImmediate,
  Date,
  random: Math.random,
  abortAfter: AbortSignal.timeout.bind(AbortSignal),
};

export class Clock {
  /** Milliseconds since the start of the world. */
  now = 0;
  events = 0;
  /** Work in threads of Node, such as gzip. No event runs before its end, because its duration is real. */
  realWork = 0;
  /** Errors that left a callback of a program. */
  readonly uncaught: string[] = [];
  readonly #dice: Dice;
  /** The next event is the last one. */
  readonly #queue: Event[] = [];
  #current: Process | null = null;
  /** The current event awaits real callbacks, so setImmediate() is the real one. */
  #isAwaiting = false;

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  /** The process whose callback runs; null outside the world. */
  get process(): Process | null {
    return this.#current;
  }

  /** Runs `run` after `ms`, unless the process has ended. */
  schedule(process: Process, ms: number, run: () => void): Event {
    return this.#add({ at: this.now + Math.max(0, ms), process, isAwaited: false, run });
  }

  /** Runs `run` after `ms`, and awaits its promise before any other event. */
  scheduleAwaited(process: Process, ms: number, run: () => unknown): void {
    this.#add({ at: this.now + Math.max(0, ms), process, isAwaited: true, run });
  }

  #add(event: Event): Event {
    let index = this.#queue.length;
    while (index > 0 && this.#queue[index - 1]!.at <= event.at) index -= 1;
    this.#queue.splice(index, 0, event);
    return event;
  }

  cancel(event: Event): void {
    const index = this.#queue.indexOf(event);
    if (index >= 0) this.#queue.splice(index, 1);
  }

  wall({ wallAtStart }: Machine): number {
    return Math.floor(wallAtStart + this.now);
  }

  /** Runs events until `isDone`, or until `ms` have passed. @returns whether it is done */
  async run(ms: number, isDone: () => boolean): Promise<boolean> {
    const restore = this.#replaceGlobals();
    const until = this.now + ms;
    try {
      while (!isDone()) {
        const event = this.#queue.at(-1);
        if (event === undefined || event.at > until) return false;
        this.#queue.pop();
        if (event.process.isAlive) await this.#runEvent(event);
      }
      return true;
    } finally {
      restore();
    }
  }

  async #runEvent({ at, process, isAwaited, run }: Event): Promise<void> {
    this.now = at;
    this.events += 1;
    this.#current = process;
    this.#isAwaiting = isAwaited;
    try {
      const result = run();
      if (isAwaited) await result;
    } catch (error) {
      this.uncaught.push(`${process.machine.name}: ${error instanceof Error ? error.stack : String(error)}`);
    }
    this.#isAwaiting = false;
    // All promises of this event have run when a real immediate does.
    do await new Promise((resolve) => real.setImmediate(resolve));
    while (this.realWork > 0);
    this.#current = null;
  }

  #replaceGlobals(): () => void {
    const { performance } = globalThis;
    const now = performance.now.bind(performance);
    const current = () => this.#current;
    const virtualNow = () => {
      const process = current();
      return process === null ? real.Date.now() : this.wall(process.machine);
    };
    class VirtualDate extends real.Date {
      constructor(...given: readonly unknown[]) {
        super(...((given.length === 0 ? [virtualNow()] : given) as [number]));
      }
      static override now = virtualNow;
    }
    const timer =
      (isRepeated: boolean) =>
      (fire: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
        const process = current();
        if (process === null) return (isRepeated ? real.setInterval : real.setTimeout)(fire, ms, ...args);
        return new VirtualTimer(this, process, ms ?? 1, isRepeated, () => fire(...args));
      };
    const clear = (given: unknown) => {
      if (given instanceof VirtualTimer) given.close();
      else real.clearTimeout(given as NodeJS.Timeout);
    };
    const immediate = (fire: (...args: unknown[]) => void, ...args: unknown[]) => {
      const process = current();
      if (process === null || this.#isAwaiting) return real.setImmediate(fire, ...args);
      const event = this.schedule(process, 0, () => fire(...args));
      return { ref: () => undefined, unref: () => undefined, event };
    };
    const abortAfter = (ms: number) => {
      const process = current();
      if (process === null || this.#isAwaiting) return real.abortAfter(ms);
      const controller = new AbortController();
      this.schedule(process, ms, () => controller.abort());
      return controller.signal;
    };
    const startedAt = now();
    const set = (values: object) => Object.assign(globalThis, values);
    set({ setTimeout: timer(false), setInterval: timer(true), clearTimeout: clear, clearInterval: clear });
    set({ setImmediate: immediate, Date: VirtualDate });
    // From 1, since a program may take 0 for "never".
    performance.now = () => (current() === null ? startedAt + now() - startedAt : this.now + 1);
    Math.random = () => this.#dice(2 ** 30) / 2 ** 30;
    AbortSignal.timeout = abortAfter;
    return () => {
      const { random, abortAfter: realAbortAfter, ...globals } = real;
      set(globals);
      performance.now = now;
      Math.random = random;
      AbortSignal.timeout = realAbortAfter;
    };
  }
}

class VirtualTimer {
  readonly #clock: Clock;
  readonly #process: Process;
  readonly #ms: number;
  readonly #isRepeated: boolean;
  readonly #fire: () => void;
  #event: Event;

  constructor(clock: Clock, process: Process, ms: number, isRepeated: boolean, fire: () => void) {
    this.#clock = clock;
    this.#process = process;
    this.#ms = ms >= 1 ? ms : 1;
    this.#isRepeated = isRepeated;
    this.#fire = fire;
    this.#event = this.#schedule();
  }

  refresh(): this {
    this.close();
    this.#event = this.#schedule();
    return this;
  }

  close(): void {
    this.#clock.cancel(this.#event);
  }

  unref(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  #schedule(): Event {
    return this.#clock.schedule(this.#process, this.#ms, () => {
      if (this.#isRepeated) this.#event = this.#schedule();
      this.#fire();
    });
  }
}
