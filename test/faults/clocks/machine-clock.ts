import fs from "node:fs";
import path from "node:path";

// The clock of the machine of one program, which the test sets while the program runs.
//
// The program preloads setClocks() in each of its threads. It reads two numbers from a file: how far the wall clock is ahead of the
// right time, and how much time has passed besides the real one. A jump changes the wall clock alone, as on a machine. Time that
// passes changes both, and fires the timers that became due, so that hours of retention take milliseconds.

/** Variable of the program. */
const FILE = "TEST_CLOCK_FILE";

export class MachineClock {
  readonly #file: string;
  readonly #preload: string;
  #aheadMs = 0;
  #passedMs = 0;

  constructor(folder: string, name: string) {
    this.#file = path.join(folder, `${name}.clock`);
    this.#preload = path.join(folder, `${name}-clock.cjs`);
    fs.writeFileSync(this.#preload, `(${setClocks.toString()})(process.env.${FILE});`);
    this.#write();
  }

  /** The environment of the program, with options of Node in addition to the preload. */
  env(...options: readonly string[]): NodeJS.ProcessEnv {
    return { [FILE]: this.#file, NODE_OPTIONS: [`--require ${this.#preload}`, ...options].join(" ") };
  }

  /** Sets the wall clock that far ahead of the right time. */
  set(aheadMs: number): void {
    this.#aheadMs = aheadMs;
    this.#write();
  }

  /** Lets time pass besides the real time. */
  pass(ms: number): void {
    this.#passedMs += ms;
    this.#write();
  }

  /** The right time. */
  get right(): number {
    return Date.now() + this.#passedMs;
  }

  #write(): void {
    const numbers = Float64Array.of(this.#aheadMs, this.#passedMs);
    const bytes = Buffer.from(numbers.buffer);
    if (!fs.existsSync(this.#file)) return fs.writeFileSync(this.#file, bytes);
    // In place and in one call: a program reads the old clock or the new one.
    const descriptor = fs.openSync(this.#file, "r+");
    fs.writeSync(descriptor, bytes, 0, bytes.length, 0);
    fs.closeSync(descriptor);
  }
}

/** Replaces the clocks of a thread. Its text is the preload, so it uses nothing from outside. */
function setClocks(file: string): void {
  const { openSync, readSync } = process.getBuiltinModule("node:fs");
  const { ServerResponse } = process.getBuiltinModule("node:http");
  /** Shorter timers wait for real. */
  const LONG_MS = 5_000;
  const POLL_MS = 50;
  const descriptor = openSync(file, "r");
  const numbers = new Float64Array(2);
  const read = (index: 0 | 1): number => {
    readSync(descriptor, numbers, 0, 16, 0);
    return numbers[index]!;
  };

  const RealDate = Date;
  const realNow = Date.now;
  const now = () => {
    readSync(descriptor, numbers, 0, 16, 0);
    return realNow() + Math.round(numbers[0]! + numbers[1]!);
  };
  RealDate.now = now;
  globalThis.Date = new Proxy(RealDate, {
    construct: (date, given, target) => Reflect.construct(date, given.length === 0 ? [now()] : given, target) as object,
    apply: () => new RealDate(now()).toString(),
  });

  const realRunning = performance.now.bind(performance);
  const running = () => realRunning() + read(1);
  performance.now = running;

  const { setTimeout: realTimeout, setInterval: realInterval, clearInterval: realClear } = globalThis;
  const timer =
    (isRepeated: boolean) =>
    (fire: (...args: unknown[]) => void, ms = 1, ...args: unknown[]) => {
      if (!(ms >= LONG_MS)) return (isRepeated ? realInterval : realTimeout)(fire, ms, ...args);
      let dueAt = running() + ms;
      const handle = realInterval(() => {
        if (running() < dueAt) return;
        dueAt += ms;
        if (!isRepeated) realClear(handle);
        fire(...args);
      }, POLL_MS);
      const refresh = handle.refresh.bind(handle);
      handle.refresh = () => {
        dueAt = running() + ms;
        return refresh();
      };
      return handle;
    };
  Object.assign(globalThis, { setTimeout: timer(false), setInterval: timer(true) });

  // Node's own header follows the real clock.
  const writeHead = Reflect.get(ServerResponse.prototype, "writeHead") as (...args: unknown[]) => unknown;
  ServerResponse.prototype.writeHead = function (this: object, ...args: unknown[]) {
    const response = this as InstanceType<typeof ServerResponse>;
    if (!response.hasHeader("date")) response.setHeader("date", new RealDate(now()).toUTCString());
    return Reflect.apply(writeHead, this, args) as typeof response;
  } as typeof ServerResponse.prototype.writeHead;
}
