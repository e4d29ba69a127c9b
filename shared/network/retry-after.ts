import type { IncomingHttpHeaders } from "node:http";

/** No response holds its sender up for longer: a receiver may name any time, also by a wrong clock. */
const LONGEST_MS = 3_600_000;

/**
 * Reads Retry-After (RFC 9110 §10.2.3), in seconds or as a date. A date counts from the Date of the response, since the clock of this
 * machine may be another one. @returns ms, an hour at most; null without a time ahead, and for any other text
 */
export function readRetryAfter(headers: IncomingHttpHeaders, now = Date.now()): number | null {
  const text = headers["retry-after"]?.trim() ?? "";
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : httpDate(text) - (httpDate(headers.date ?? "") || now);
  return ms > 0 ? Math.min(ms, LONGEST_MS) : null;
}

/** Reads a date of HTTP (RFC 9110 §5.6.7), also in its two obsolete forms. @returns ms since 1970; NaN for any other text */
function httpDate(text: string): number {
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return Number.NaN;
  return Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
}
