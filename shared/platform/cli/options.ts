import { InvalidArgumentError } from "commander";
import { readInstant } from "../../schema/timestamp.ts";

// Parsers of option values that both command lines have. Each throws InvalidArgumentError for a value that it does not accept.

const HOUR_MS = 3_600_000;

/** Reads a period of hours or days, such as `12h` or `90d`. @returns milliseconds */
export function parsePeriod(text: string): number {
  const [, count, unit] = /^([1-9]\d{0,4})(h|d)$/.exec(text) ?? [];
  if (count === undefined) throw new InvalidArgumentError("expected hours or days, such as 12h or 90d");
  return Number(count) * (unit === "d" ? 24 * HOUR_MS : HOUR_MS);
}

/** Reads a time, or a period before now. @returns milliseconds since 1970 */
export function parseTime(text: string): number {
  if (/^\d+[hd]$/.test(text)) return Date.now() - parsePeriod(text);
  const instant = readInstant(text);
  if (instant !== null) return instant;
  throw new InvalidArgumentError("expected hours or days ago, such as 24h, or a time such as 2026-11-21T09:30:00Z");
}

/** Reads an integer from 1 to 999 999 999. */
export function parsePositiveInteger(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("expected a whole number from 1 to 999999999");
}

/** Collects the values of a repeatable option. */
export function collect(text: string, texts: readonly string[]): string[] {
  return [...texts, text];
}
