import assert from "node:assert/strict";
import { errorMessage } from "../../shared/runtime/error-message.ts";

/** A numbered check of the read API or of the sync API. Its number never changes; README.md lists all of them. */
export type Check<Context> = {
  readonly number: number;
  readonly title: string;
} & (
  | { readonly run: (context: Context) => Promise<void> }
  /** The test file that shows it, since HTTP cannot. */
  | { readonly shownIn: string }
);

export type CheckOutcome =
  | { kind: "passed" }
  | { kind: "failed"; reason: string }
  /** Not counted. */
  | { kind: "not checked"; reason: string };

class NotChecked extends Error {}

/** Ends a check that this server does not allow. */
export function notChecked(reason: string): never {
  throw new NotChecked(reason);
}

export async function runCheck<Context>(check: Check<Context>, context: Context): Promise<CheckOutcome> {
  if ("shownIn" in check) return { kind: "not checked", reason: `shown in ${check.shownIn}` };
  try {
    await check.run(context);
    return { kind: "passed" };
  } catch (error) {
    if (error instanceof NotChecked) return { kind: "not checked", reason: error.message };
    return { kind: "failed", reason: errorMessage(error) };
  }
}

/** Whether a value of a response is as documented. */
export type Rule = (value: unknown) => boolean;

/** Asserts that a value has exactly the keys of a shape, and that each value matches its rule. */
export function assertShape(value: unknown, shape: Readonly<Record<string, Rule>>, name: string): void {
  assert.ok(isObject(value), `${name} is ${JSON.stringify(value)}, expected an object`);
  assert.deepEqual(Object.keys(value).toSorted(), Object.keys(shape).toSorted(), `the keys of ${name}`);
  for (const [key, rule] of Object.entries(shape)) {
    assert.ok(rule(value[key]), `${key} of ${name} is ${JSON.stringify(value[key])}`);
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
