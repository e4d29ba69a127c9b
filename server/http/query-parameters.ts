import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { type FpKind, fpForm, fpPattern, isFp } from "../../shared/api/fp.ts";
import { readInstant } from "../../shared/schema/timestamp.ts";
import { ApiError } from "./errors.ts";

// Query parameters. They are read strictly: an invalid filter is an error, since ignoring it would return all records. Each
// parameter has one definition, with its reader and its schema for the API document.

export interface Parameter<Value> {
  readonly schema: Type.TSchema;
  /** `given` is null if the request lacks the parameter. */
  readonly read: (given: string | null, name: string) => Value;
  /** The parameter without which this one is ignored. */
  readonly only?: string;
}

/** The query parameters of a route by their names. */
export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

type Values<P extends Parameters> = { [Name in keyof P]: P[Name] extends Parameter<infer Value> ? Value : never };

/** Reads the parameters of a route from a request. Throws an ApiError for the first invalid one. */
export function readParameters<P extends Parameters>(request: FastifyRequest, parameters: P): Values<P> {
  const query = request.query as Record<string, string | string[] | undefined>;
  refuseLists(query, parameters);
  const values = Object.entries(parameters).map(([name, { read, only }]) => {
    const given = (only === undefined || query[only] !== undefined ? query[name] : null) ?? null;
    if (Array.isArray(given)) throw invalid(name, given, "given once");
    return [name, read(given, name)];
  });
  if ((query["after"] ?? null) !== null && query["page"] !== undefined && Object.hasOwn(parameters, "after"))
    throw invalid("page", query["page"], "left out together with after");
  return Object.fromEntries(values) as Values<P>;
}

/**
 * Refuses `page[]=1` and `page[0]=1`, with which other servers take a list. Such a filter must not be ignored: the response would
 * hold all records.
 */
function refuseLists(query: object, parameters: Parameters): void {
  for (const given of Object.keys(query)) {
    const name = given.replace(/\[.*/s, "");
    if (name !== given && Object.hasOwn(parameters, name)) throw invalid(name, given, "given once, without brackets");
  }
}

export const PAGE_SIZE_MAX = 100;
const PAGE_SIZE_DEFAULT = 20;
const PAGE_MAX = 999_999_999;

/** Max records on a page of a list that the published specification does not have. */
export const LONG_PAGE_MAX = 500;

export const pageParameters = {
  page: positiveInteger({ otherwise: 1, max: PAGE_MAX, description: "Page number; the first page is 1." }),
  page_size: positiveInteger({
    otherwise: PAGE_SIZE_DEFAULT,
    max: PAGE_SIZE_MAX,
    description: "Greatest number of records on a page.",
  }),
};

const longPage = { otherwise: PAGE_SIZE_DEFAULT, max: LONG_PAGE_MAX };

/** `page_size` of a list that the published specification does not have. */
export const longPageSize = positiveInteger({ ...longPage, description: "Greatest number of records on a page." });

/** Max length of a text. It exceeds any name, and bounds the work of a search. */
const TEXT_CHARS_MAX = 200;

/** A text of at most 200 characters. Null if it is absent. */
export function text(description: string): Parameter<string | null> {
  return {
    schema: Type.String({ maxLength: TEXT_CHARS_MAX, description }),
    read(given, name) {
      if (given === null || given.length <= TEXT_CHARS_MAX) return given;
      throw invalid(name, given, `at most ${TEXT_CHARS_MAX} characters`);
    },
  };
}

/** The fp of a record. Null if it is absent. */
export function fingerprint(kind: FpKind, description: string): Parameter<string | null> {
  return {
    schema: Type.String({ pattern: fpPattern(kind), description }),
    read(given, name) {
      if (given === null || isFp(kind, given)) return given;
      throw invalid(name, given, fpForm(kind));
    },
  };
}

/** One of several words, case-sensitive. Null if it is absent. */
export function choice<Choice extends string>(
  choices: readonly Choice[],
  description: string,
): Parameter<Choice | null> {
  return {
    schema: Type.Enum([...choices], { type: "string", description }),
    read: (given, name) => (given === null ? null : choose(given, choices, name)),
  };
}

/** `true` or `false`, case-sensitive. False if it is absent. */
export function yesOrNo(description: string): Parameter<boolean> {
  return {
    schema: Type.Boolean({ default: false, description }),
    read: (given, name) => given !== null && choose(given, ["true", "false"], name) === "true",
  };
}

/** A time in milliseconds since 1970. A date alone is its first instant in UTC. A time without a zone is UTC. */
export function instant(description: string): Parameter<number | null> {
  return {
    schema: Type.String({
      format: "date-time",
      description: `${description} A date alone is its first instant, a time without a zone is UTC.`,
    }),
    read: (given, name) => (given === null ? null : parseInstant(given, name)),
  };
}

/** An integer from 1. Null if it is absent. */
export function wholeNumber(description: string): Parameter<number | null> {
  const { schema, read } = positiveInteger({ otherwise: 1, max: PAGE_MAX, description });
  return { schema, read: (given, name) => (given === null ? null : read(given, name)) };
}

/** The path parameter `fp`, shortened and without control characters, for a message. */
function printableFp(fp: string): string {
  return fp.slice(0, 64).replaceAll(/\p{C}/gu, "");
}

/** The 404 of a record. If the text is an invalid fp, the details show the format of a valid one. */
export function notFound(kind: FpKind, name: string, fp: string): ApiError {
  const value = printableFp(fp);
  const details = { parameter: "fp", value, rule: fpForm(kind) };
  return new ApiError("PATIENT.NOT_FOUND", `${name} ${value}`, isFp(kind, fp) ? {} : { details });
}

/** Reads a time of a query, in which an unescaped `+` arrives as a space. @returns ms since 1970; null for another text */
export function readInstantParameter(given: string): number | null {
  return readInstant(given.replace(/ (?=\d\d:?\d\d$)/, "+"));
}

function parseInstant(given: string, name: string): number {
  const read = readInstantParameter(given);
  if (read === null) throw invalid(name, given, "an ISO 8601 timestamp such as 2026-11-21T09:30:00.000Z");
  return read;
}

function choose<Choice extends string>(given: string, choices: readonly Choice[], name: string): Choice {
  const found = choices.find((one) => one === given);
  if (found === undefined) throw invalid(name, given, `one of ${choices.join(", ")}`);
  return found;
}

interface Bounds {
  otherwise: number;
  max: number;
  description: string;
}

export function positiveInteger({ otherwise, max, description }: Bounds): Parameter<number> {
  return {
    schema: Type.Integer({ minimum: 1, maximum: max, default: otherwise, description }),
    read(given, name) {
      if (given === null) return otherwise;
      const value = /^[1-9]\d*$/.test(given) ? Number(given) : Number.NaN;
      if (value <= max) return value;
      throw invalid(name, given, `a whole number from 1 to ${max}`, { min: 1, max });
    },
  };
}

/** The 400 of a query parameter. `rule` follows "expected". */
export function invalid(parameter: string, value: string | string[], rule: string, bounds: object = {}): ApiError {
  const shown = printableFp(String(value));
  return new ApiError(
    "REQUEST.INVALID_PARAMETER",
    `${parameter} is ${shown === "" ? "empty" : shown}, expected ${rule}.`,
    {
      details: { parameter, value: shown, rule, ...bounds },
    },
  );
}

const IGNORED_NAMES_MAX = 20;
const IGNORED_NAME_CHARS_MAX = 64;

/** Names the query parameters that the route does not have in X-Ignored-Parameters, so that a misspelt filter is noticed. */
export function reportIgnoredParameters(app: FastifyInstance): void {
  app.addHook("preHandler", (request, reply, done) => {
    const { parameters = {} } = request.context.route;
    const given = request.query as object;
    const isRead = ({ only }: Parameter<unknown>) => only === undefined || Object.hasOwn(given, only);
    const ignored = Object.keys(given).filter(
      (name) => !Object.hasOwn(parameters, name) || !isRead(parameters[name] as Parameter<unknown>),
    );
    if (ignored.length > 0) {
      const names = ignored.slice(0, IGNORED_NAMES_MAX);
      const shown = names.map((name) => encodeURIComponent(name).slice(0, IGNORED_NAME_CHARS_MAX));
      reply.header("x-ignored-parameters", shown.join(", "));
    }
    done();
  });
}
