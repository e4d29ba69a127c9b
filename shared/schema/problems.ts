import type { Validator } from "typebox/compile";
import type { TLocalizedValidationError } from "typebox/error";
import { Settings } from "typebox/system";
import { storedText, wellFormed } from "../runtime/stored-text.ts";
import { formOf } from "./text-form.ts";

// Turns a failed validation into sentences: "expected X, got Y".

/** Max faults that are reported. All faults of a file are, so that a user can correct them at once. */
const FAULTS_MAX = 1000;

/**
 * Returns one sentence for each fault, such as `results/0/value is "7,1", expected a number`. After `faultsMax` faults the
 * check ends, and the last sentence says so.
 */
export function problems(validator: Validator, value: unknown, faultsMax = FAULTS_MAX): string[] {
  Settings.Set({ maxErrors: faultsMax });
  const faults = validator.Errors(value);
  const byPath = new Map<string, TLocalizedValidationError[]>();
  for (const error of faults) byPath.set(error.instancePath, [...(byPath.get(error.instancePath) ?? []), error]);
  const isCut = faults.length >= faultsMax;
  // The end of the check may cut off some faults of the last path.
  const complete = isCut && byPath.size > 1 ? [...byPath].slice(0, -1) : [...byPath];
  const found = complete.flatMap(([path, errors]) => sentences(path, errors, value));
  if (found.length === 0 && complete.length > 0) found.push(`the value is ${shown(value)}, expected another form`);
  return isCut ? [...found, `the check ended after ${faultsMax} faults: there may be more`] : found;
}

/**
 * Returns one sentence for each text and name that a database would not give back as it is. `asJson`: the value is stored as JSON,
 * which escapes NUL.
 */
export function textProblems(value: unknown, { asJson = false } = {}): string[] {
  const isKept = asJson ? (text: string) => wellFormed(text) === text : (text: string) => storedText(text) === text;
  const found: string[] = [];
  const note = (text: string, what: string): void => {
    if (isKept(text)) return;
    const fault = text.includes("\0") && !asJson ? "NUL" : "half of a surrogate pair";
    found.push(`${what} is ${shown(text)}, expected text without ${fault}`);
  };
  const look = (inner: unknown, path: string): void => {
    if (typeof inner === "string") note(inner, path.slice(1) || "the value");
    if (typeof inner !== "object" || inner === null) return;
    for (const [name, one] of Object.entries(inner)) {
      note(name, "a name");
      look(one, `${path}/${name}`);
    }
  };
  look(value, "");
  return found;
}

/** Formats a value for a sentence: short, and on one line. */
export function shown(value: unknown): string {
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "object" && value !== null) return "an object";
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

function sentences(path: string, errors: TLocalizedValidationError[], value: unknown): string[] {
  const found: string[] = [];
  const expected = new Set<string>();
  for (const error of errors) {
    if (error.keyword === "required") {
      found.push(...error.params.requiredProperties.map((name) => `${join(path, name)} is missing`));
    } else if (error.keyword === "additionalProperties") {
      found.push(...error.params.additionalProperties.map((name) => `${join(path, name)} is not expected`));
    } else if (error.keyword !== "boolean" && error.keyword !== "anyOf") {
      // These two keywords repeat the errors beside them.
      expected.add(expectation(error));
    }
  }
  if (expected.size > 0) {
    const name = path === "" ? "the value" : path.slice(1);
    found.push(`${name} is ${shown(at(path, value))}, expected ${[...expected].join(" or ")}`);
  }
  return found;
}

interface ErrorParameters {
  type?: string | string[];
  allowedValue?: unknown;
  allowedValues?: unknown[];
  pattern?: string;
  limit?: number;
}

function expectation({ keyword, params, message }: TLocalizedValidationError): string {
  const { type, allowedValue, allowedValues, pattern, limit } = params as ErrorParameters;
  const unit = keyword.endsWith("Length") ? " characters" : "";
  if (type !== undefined) return [type].flat().map(withArticle).join(" or ");
  if (allowedValue !== undefined) return shown(allowedValue);
  if (Array.isArray(allowedValues)) return `one of ${allowedValues.join(", ")}`;
  if (pattern !== undefined) return formOf(pattern);
  if (limit !== undefined) return `${keyword.startsWith("min") ? "at least" : "at most"} ${limit}${unit}`;
  return `a value that ${message}`;
}

function withArticle(type: string): string {
  return type === "null" ? type : `${/^[aio]/.test(type) ? "an" : "a"} ${type}`;
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path.slice(1)}/${name}`;
}

// JSON pointer (RFC 6901).
function at(path: string, value: unknown): unknown {
  let inner = value;
  for (const step of path.split("/").slice(1)) {
    if (typeof inner !== "object" || inner === null) return undefined;
    inner = (inner as Record<string, unknown>)[step.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return inner;
}
