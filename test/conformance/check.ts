import assert from "node:assert/strict";
import { reasonOf } from "../../shared/runtime/error-message.ts";

// The list of checks: each a numbered line of section 2 of the API guide, run over HTTP alone.

export type Outcome =
  | { kind: "passed" }
  | { kind: "failed"; reason: string }
  /** Not counted: why it is not checked here. */
  | { kind: "not built" | "not checked"; reason: string };

export interface Check<Context> {
  readonly number: number;
  readonly title: string;
  readonly run: (context: Context) => Promise<void>;
}

class NotCounted extends Error {
  readonly kind: "not built" | "not checked";
  constructor(kind: "not built" | "not checked", reason: string) {
    super(reason);
    this.kind = kind;
  }
}

/** Ends a check that cannot be made over HTTP, or not on this server. */
export function notChecked(reason: string): never {
  throw new NotCounted("not checked", reason);
}

export async function runCheck<Context>({ run }: Check<Context>, context: Context): Promise<Outcome> {
  try {
    await run(context);
    return { kind: "passed" };
  } catch (error) {
    if (error instanceof NotCounted) return { kind: error.kind, reason: error.message };
    return { kind: "failed", reason: reasonOf(error) };
  }
}

/** What a value must be: a predicate, or the value itself. */
export type Rule = (value: unknown) => boolean;

/** Exactly these keys, each as its rule says; `where` opens the sentence that tells what is wrong. */
export function assertShape(value: unknown, shape: Readonly<Record<string, Rule>>, where: string): void {
  assert.ok(isObject(value), `${where} is ${JSON.stringify(value)}, expected an object`);
  assert.deepEqual(Object.keys(value).toSorted(), Object.keys(shape).toSorted(), `the keys of ${where}`);
  for (const [key, rule] of Object.entries(shape)) {
    assert.ok(rule(value[key]), `${key} of ${where} is ${JSON.stringify(value[key])}`);
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
