import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";

// A process with stopped clock and intervals, and random numbers from a counter, so that each run of it writes the same bytes.

/** Length of a PostgreSQL connection's nonce. The number of connections differs between runs. */
const NONCE_BYTES = 18;

/** The longest interval of a timer. */
const NEVER_MS = 2 ** 31 - 1;

export interface FrozenClock {
  now: number;
}

/** Runs the work with a stopped clock and counted random numbers. */
export async function frozen<Result>(at: number, work: (clock: FrozenClock) => Promise<Result>): Promise<Result> {
  const clock = { now: at };
  const { Date: RealDate, setInterval: realInterval } = globalThis;
  const real = { randomBytes: crypto.randomBytes, randomInt: crypto.randomInt, randomUUID: crypto.randomUUID };
  const getRandomValues = crypto.webcrypto.getRandomValues.bind(crypto.webcrypto);
  let count = 0;
  const bytes = (size: number): Buffer => {
    const blocks = Array.from({ length: Math.ceil(size / 32) }, () =>
      crypto
        .createHash("sha256")
        .update(`block ${(count += 1)}`)
        .digest(),
    );
    return Buffer.concat(blocks).subarray(0, size);
  };
  class StandingDate extends RealDate {
    constructor(...values: readonly unknown[]) {
      super(...((values.length === 0 ? [clock.now] : values) as [number]));
    }
    static override now(): number {
      return clock.now;
    }
  }
  globalThis.Date = StandingDate as DateConstructor;
  globalThis.setInterval = (run: () => void) => realInterval(run, NEVER_MS).unref();
  Object.assign(crypto, {
    randomBytes: (size: number) => (size === NONCE_BYTES ? real.randomBytes(size) : bytes(size)),
    // A number from a min on is the step of a version on PostgreSQL alone: it takes none of the counted numbers, which both engines share.
    randomInt: (min: number, max?: number) => (max === undefined ? bytes(4).readUInt32BE() % min : min),
    randomUUID: () =>
      bytes(16)
        .toString("hex")
        .replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"),
  });
  globalThis.crypto.getRandomValues = (array) => {
    const view = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    view.set(view.length === NONCE_BYTES ? real.randomBytes(NONCE_BYTES) : bytes(view.length));
    return array;
  };
  syncBuiltinESMExports();
  try {
    return await work(clock);
  } finally {
    globalThis.Date = RealDate;
    globalThis.setInterval = realInterval;
    Object.assign(crypto, real);
    globalThis.crypto.getRandomValues = getRandomValues;
    syncBuiltinESMExports();
  }
}
