import { ApiError } from "../errors.ts";
import { networkOf } from "../../../shared/network/network-address.ts";
import type { SharedCounters } from "../../records/clinics/rate-limit-counters.ts";

// Limits tries of pairing codes by address, and by nothing else: what all strangers share, one of them can use up. The arithmetic:
//
// - A code has 60 bits and 15 minutes. At most CODES_OPEN_MAX codes are open.
// - A try from addresses without number finds an open code with a chance of 100 / 2^60. A server responds to less than 2000 a
//   second. An attack that never pauses, with 100 codes open at all times, succeeds once in 180 000 years.
// - Who knows the three characters by which a code is found still lacks 45 bits: 15 minutes of 2000 tries a second find it with a
//   chance of one in 20 million.

const WINDOW_MS = 15 * 60_000;
const TRIES_MAX = 20;

/** Max open codes of all clinics. */
export const CODES_OPEN_MAX = 100;

export type PairingLimit = (address: string, now: number) => Promise<void>;

/** @returns a function that counts a try and throws 429 if there are too many */
export function createPairingLimit({ addresses }: SharedCounters): PairingLimit {
  return async (address, now) => {
    const window = { name: "window", ms: WINDOW_MS, limit: TRIES_MAX };
    const { taken } = await addresses.take(`pairing ${networkOf(address)}`, [window], now);
    if (!taken) throw new ApiError("PAIRING.TOO_MANY_ATTEMPTS");
  };
}
