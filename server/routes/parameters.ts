import type { FastifyRequest } from "fastify";
import { DateTime } from "luxon";
import { ApiError } from "../errors.ts";

// Query parameters, read strictly: a filter that is misread must not answer with all records (api.md 42, 49).

export const PAGE_SIZE_MAX = 100;
const PAGE_SIZE_DEFAULT = 20;

/** `page` and `page_size` (specification, section 8; api.md 40-42). */
export function pageParameters(request: FastifyRequest): { page: number; pageSize: number } {
  return {
    page: positiveInteger(request, "page", 1, null),
    pageSize: positiveInteger(request, "page_size", PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX),
  };
}

/** A text parameter as it came; null when it was not given. */
export function textParameter(request: FastifyRequest, name: string): string | null {
  const value = (request.query as Record<string, string | string[] | undefined>)[name];
  if (value === undefined) return null;
  if (typeof value === "string") return value;
  throw invalid(name, value, "given once");
}

/** One of a few words, in exactly this spelling; null when it was not given (api.md 111, 122). */
export function choiceParameter<Choice extends string>(
  request: FastifyRequest,
  name: string,
  choices: readonly Choice[],
): Choice | null {
  const text = textParameter(request, name);
  if (text === null) return null;
  const choice = choices.find((one) => one === text);
  if (choice === undefined) throw invalid(name, text, `one of ${choices.join(", ")}`);
  return choice;
}

/** An instant in milliseconds; date only means the first of that day in UTC, and so does a time without a zone mean UTC (api.md 48). */
export function instantParameter(request: FastifyRequest, name: string): number | null {
  const text = textParameter(request, name);
  if (text === null) return null;
  // A `+` that was not escaped arrives as a space.
  const repaired = text.replace(/ (?=\d\d:?\d\d$)/, "+");
  const instant = ISO_8601.test(repaired) ? DateTime.fromISO(repaired, { zone: "utc" }) : null;
  if (instant === null || !instant.isValid) {
    throw invalid(name, text, "an ISO 8601 timestamp such as 2026-11-21T09:30:00.000Z");
  }
  return instant.toMillis();
}

/** The path parameter `fp`, fit to be repeated in a message (api.md 62). */
export function printableFp(fp: string): string {
  return fp.slice(0, 64).replaceAll(/\p{C}/gu, "");
}

// Luxon also reads weeks, ordinals, bare years and bare times, which as a bound of a sync would be a guess.
const ISO_8601 = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]([01]\d|2[0-3]):?[0-5]\d)?)?$/;

const POSITIVE_INTEGER = /^[1-9]\d{0,8}$/;

function positiveInteger(request: FastifyRequest, name: string, otherwise: number, max: number | null): number {
  const text = textParameter(request, name);
  if (text === null) return otherwise;
  const value = POSITIVE_INTEGER.test(text) ? Number(text) : null;
  if (value === null || (max !== null && value > max)) {
    const rule = max === null ? "a whole number, at least 1" : `a whole number from 1 to ${max}`;
    throw invalid(name, text, rule, { min: 1, ...(max !== null && { max }) });
  }
  return value;
}

function invalid(parameter: string, value: string | string[], rule: string, bounds: object = {}): ApiError {
  const shown = printableFp(String(value));
  return new ApiError(
    "REQUEST.INVALID_PARAMETER",
    `${parameter} is ${shown === "" ? "empty" : shown}, expected ${rule}.`,
    {
      details: { parameter, value: shown, rule, ...bounds },
    },
  );
}
