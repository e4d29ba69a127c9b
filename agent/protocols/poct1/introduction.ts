import { type Dialect, dialectOf } from "./dialect.ts";
import type { Hello, Status } from "./message.ts";
import type { PendingTopic } from "./outgoing-topics.ts";
import { type OperatorBook, operatorParts } from "./topics.ts";

// Facts that a device states in its HELLO and status, and the topics that follow from them.

/** Max difference between the device's clock and the agent's; then the agent sets the device's clock. */
const CLOCK_SKEW_MAX_MS = 60_000;

export interface Introduction {
  readonly hello: Hello;
  readonly document: Uint8Array;
  readonly dialect: Dialect;
}

export function introductionOf(hello: Hello, document: Uint8Array): Introduction {
  return { hello, document, dialect: dialectOf(hello) };
}

/** Returns the topics after the first status: the clock if it is wrong, then continuous mode or the end. */
export function openingTopics({ hello }: Introduction, status: Status, now: string): PendingTopic[] {
  const supports = (directive: string) => hello.directives.includes(directive);
  const setsTime = supports("SET_TIME") && Math.abs(clockSkewMs(status, now)) > CLOCK_SKEW_MAX_MS;
  return [
    ...(setsTime ? [{ is: "set time" } as const] : []),
    { is: supports("START_CONTINUOUS") ? "start continuous" : "end" },
  ];
}

/**
 * Returns the clinic's operator list for a device that supports it and has another one, else null.
 * @param operatorsAt time of the device's last list, as sent
 */
export function operatorTopic(
  { hello }: Introduction,
  operatorsAt: string,
  operators: OperatorBook,
  now: string,
): PendingTopic | null {
  const current = operators.current();
  if (current === null) return null;
  // Some devices report 2000-01-01 without a list, or after a reset.
  const known = operatorsAt.startsWith("2000-01-01") ? null : operators.acceptedBy(hello.name);
  const offer = {
    full: hello.topics.includes("OP_LST"),
    incremental: hello.topics.includes("OP_LST_I"),
    bytesMax: hello.bytesMax,
  };
  const all = operatorParts(current, known, offer, now);
  return all.length === 0 ? null : { is: "operators", all, left: all, list: current };
}

export function statusContent(status: Status, now: string): object {
  const skewMs = clockSkewMs(status, now);
  return {
    condition: status.condition,
    new_observations: status.observations,
    new_events: status.events,
    clock_skew_s: Number.isNaN(skewMs) ? null : Math.round(skewMs / 1000),
  };
}

/** Returns how far the device's clock is ahead, NaN without a time. A time without an offset is in the configured zone. */
function clockSkewMs({ createdAt }: Status, now: string): number {
  const hasOffset = /(?:Z|[+-]\d\d:\d\d)$/.test(createdAt);
  return Date.parse(hasOffset ? createdAt : createdAt + now.slice(-"+00:00".length)) - Date.parse(now);
}
