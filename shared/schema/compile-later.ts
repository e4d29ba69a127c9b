import type { Static, TSchema } from "typebox";
import { Compile } from "typebox/compile";
import type { TLocalizedValidationError } from "typebox/error";

/** A check of values against a schema. */
export interface Check<T = unknown> {
  Check(value: unknown): value is T;
  /** @returns the faults of a value; none if it matches */
  Errors(value: unknown): TLocalizedValidationError[];
}

/** Makes the check of a schema. It is compiled at its first value, since a start would take longer with the checks of all parts. */
export function compileLater<const T extends TSchema>(schema: T): Check<Static<T>> {
  let compiled: Check<Static<T>> | undefined;
  const check = () => (compiled ??= Compile(schema) as Check<Static<T>>);
  return {
    Check: (value): value is Static<T> => check().Check(value),
    Errors: (value) => check().Errors(value),
  };
}
