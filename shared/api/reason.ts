import { type Static, Type } from "typebox";

const VALUES_MAX = 12;
const VALUE_CHARS_MAX = 1000;

/**
 * A reason between programs: a code of one table, and the values that its words name. The words are made where a person reads them, so
 * that no program reads a sentence.
 */
export const Reason = Type.Object(
  {
    code: Type.String({ maxLength: 64 }),
    values: Type.Array(Type.String({ maxLength: VALUE_CHARS_MAX }), { maxItems: VALUES_MAX }),
  },
  { additionalProperties: false },
);
export type Reason = Static<typeof Reason>;

/** A reason whose code is one of `Code`. */
export type ReasonOf<Code extends string> = Reason & { readonly code: Code };

/** Cuts what a device wrote, so that its text keeps no result from its place. */
export function reasonOf<Code extends string>(code: Code, ...values: readonly string[]): ReasonOf<Code> {
  return { code, values: values.slice(0, VALUES_MAX).map((value) => value.slice(0, VALUE_CHARS_MAX)) };
}
