import type { TLocalizedValidationError } from "typebox/error";
import { Settings } from "typebox/system";
import { storedText, wellFormed } from "../runtime/stored-text.ts";
import { formOf } from "./text-form.ts";
import type { Check } from "./compile-later.ts";

// Turns a failed validation into sentences: "expected X, got Y".

/** Max faults that are reported. All faults of a file are, so that a user can correct them together. */
const FAULTS_MAX = 1000;

/** `CUT`: the check ended before the last fault. */
export type FaultCode = "MISSING" | "UNEXPECTED" | "INVALID" | "CUT";

export interface Fault {
  readonly code: FaultCode;
  /** The path from the root of the value to the part with the fault. */
  readonly steps: readonly string[];
  /** The part as the sentence names it, such as `results/0/value`. */
  readonly place: string;
  /** The problem with it, such as `is missing`. */
  readonly words: string;
}

/** Returns one sentence for each fault, such as `results/0/value is "7,1", expected a number`. */
export function problems(validator: Check, value: unknown, faultsMax = FAULTS_MAX): string[] {
  return faults(validator, value, faultsMax).map(({ place, words }) => `${place} ${words}`);
}

/** After `faultsMax` faults the check ends, with `CUT` as the last one. */
export function faults(validator: Check, value: unknown, faultsMax = FAULTS_MAX): Fault[] {
  Settings.Set({ maxErrors: faultsMax });
  const all = validator.Errors(value);
  const byPath = new Map<string, TLocalizedValidationError[]>();
  for (const error of all) byPath.set(error.instancePath, [...(byPath.get(error.instancePath) ?? []), error]);
  const isCut = all.length >= faultsMax;
  // The end of the check may cut off some faults of the last path.
  const complete = isCut && byPath.size > 1 ? [...byPath].slice(0, -1) : [...byPath];
  const found = complete.flatMap(([path, errors]) => faultsAt(path, errors, value));
  if (found.length === 0 && complete.length > 0) {
    found.push({ code: "INVALID", ...ROOT, words: `is ${shown(value)}, expected another form` });
  }
  if (!isCut) return found;
  const words = `ended after ${faultsMax} faults: there may be more`;
  return [...found, { code: "CUT", steps: [], place: "the check", words }];
}

const ROOT = { steps: [], place: "the value" };

/** A fault of a validation for programs: its path such as `results/0/value`, the rule, and what was expected. */
export interface RuleFault {
  readonly path: string;
  /** Keyword of JSON Schema. */
  readonly rule: string;
  readonly expected: string;
  readonly got: string;
}

/** Returns the faults of a value, one for each path: the rule of its type only if no other one is broken. */
export function ruleFaults(validator: Check, value: unknown, faultsMax = FAULTS_MAX): RuleFault[] {
  Settings.Set({ maxErrors: faultsMax });
  const found = new Map<string, RuleFault>();
  const note = (steps: readonly string[], rule: string, expected: string) => {
    const path = steps.join("/");
    const before = found.get(path);
    if (before !== undefined && (before.rule !== "type" || rule === "type")) return;
    found.set(path, { path, rule, expected, got: shown(at(steps, value)) });
  };
  for (const error of validator.Errors(value)) {
    const { instancePath, keyword } = error;
    const steps = stepsOf(instancePath);
    if (keyword === "required") {
      for (const name of error.params.requiredProperties) note([...steps, name], keyword, "a value");
    } else if (keyword === "additionalProperties") {
      for (const name of error.params.additionalProperties) note([...steps, name], keyword, "no such field");
    } else if (keyword !== "boolean" && keyword !== "anyOf") {
      note(steps, keyword, expectation(error));
    }
  }
  return [...found.values()];
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

function faultsAt(path: string, errors: TLocalizedValidationError[], value: unknown): Fault[] {
  const found: Fault[] = [];
  const inner = (name: string) => ({
    steps: [...stepsOf(path), name],
    place: path === "" ? name : `${path.slice(1)}/${name}`,
  });
  const expected = new Set<string>();
  for (const error of errors) {
    if (error.keyword === "required") {
      for (const name of error.params.requiredProperties) {
        found.push({ code: "MISSING", ...inner(name), words: "is missing" });
      }
    } else if (error.keyword === "additionalProperties") {
      for (const name of error.params.additionalProperties) {
        found.push({ code: "UNEXPECTED", ...inner(name), words: "is not expected" });
      }
    } else if (error.keyword !== "boolean" && error.keyword !== "anyOf") {
      // These two keywords repeat the errors next to them.
      expected.add(expectation(error));
    }
  }
  if (expected.size > 0) {
    const steps = stepsOf(path);
    const words = `is ${shown(at(steps, value))}, expected ${[...expected].join(" or ")}`;
    found.push({ code: "INVALID", ...(path === "" ? ROOT : { steps, place: path.slice(1) }), words });
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

/** Returns the steps of a JSON pointer (RFC 6901). */
function stepsOf(path: string): string[] {
  const escaped = path.split("/").slice(1);
  return escaped.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function at(steps: readonly string[], value: unknown): unknown {
  let inner = value;
  for (const step of steps) {
    if (typeof inner !== "object" || inner === null) return undefined;
    inner = (inner as Record<string, unknown>)[step];
  }
  return inner;
}
