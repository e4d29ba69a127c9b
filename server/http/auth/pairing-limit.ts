import { ApiError } from "../errors.ts";
import { networkOf } from "../../../shared/runtime/network-address.ts";
import type { SharedCounters } from "../../store/rate-limit-counters.ts";

// Limits tries of pairing codes, by address and overall. The arithmetic:
//
// - A code has 40 bits: a selector of 15 and a secret of 25. At most CODES_OPEN_MAX codes are open at once.
// - Who knows a selector has five tries at the secret: 5 / 2^25, one chance in 6.7 million for each code that is made.
// - Who knows none must guess all: each try finds an open code with a chance of 100 / 2^40. All addresses of the world
//   together have 300 tries in 15 minutes, so 300 * 100 / 2^40 = 2.7e-8 in a window. A year has 35 040 windows: an attack that
//   never pauses, with 100 codes open at all times, succeeds once in a thousand years. With one open code it is 100 000 years.
// - 300 wrong tries of strangers stop all pairing for the rest of the window, and nothing else. An address has 20 of them, so
//   that one address cannot do that.

const WINDOW_MS = 15 * 60_000;
const limits = { address: 20, all: 300 };

/** Max open codes of all clinics. */
export const CODES_OPEN_MAX = 100;

export type PairingLimit = (address: string, now: number) => Promise<void>;

/** @returns a function that counts a try and throws 429 if there are too many */
export function createPairingLimit({ addresses }: SharedCounters): PairingLimit {
  return async (address, now) => {
    // The address first: one beyond its limit spends nothing of the limit of all.
    const names = { address: networkOf(address), all: "" };
    for (const [kind, limit] of Object.entries(limits) as [keyof typeof limits, number][]) {
      const window = { name: "window", ms: WINDOW_MS, limit };
      const { taken } = await addresses.take(`pairing ${kind} ${names[kind]}`, [window], now);
      if (!taken) throw new ApiError("PAIRING.TOO_MANY_ATTEMPTS");
    }
  };
}
