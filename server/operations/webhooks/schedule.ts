const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Time after each failed attempt until the next one, as Standard Webhooks recommends. About three days in all. */
const DELAYS_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];

/** Share by which a retry may be later, so that events of one outage do not all return in one second. */
const SPREAD = 0.2;

/**
 * @returns what follows an attempt; `number` counts from 1, `random` is from 0 to 1, `leastMs` is the wait that the receiver wants, which
 * makes a retry later and never earlier
 */
export function nextStep(
  isDelivered: boolean,
  number: number,
  { now, random, leastMs }: { readonly now: number; readonly random: number; readonly leastMs: number },
): { state: "delivered" | "retrying" | "given-up"; nextAt: number } {
  if (isDelivered) return { state: "delivered", nextAt: now };
  const delay = DELAYS_MS[number - 1];
  if (delay === undefined) return { state: "given-up", nextAt: now };
  return { state: "retrying", nextAt: now + Math.round(Math.max(delay, leastMs) * (1 + SPREAD * random)) };
}
