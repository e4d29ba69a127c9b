import { type Static, Type } from "typebox";

/**
 * A reason between programs: a code of one table, and the values that its words name. The words are made where a person reads them, so
 * that no program reads a sentence.
 */
export const Reason = Type.Object(
  {
    code: Type.String({ maxLength: 64 }),
    values: Type.Array(Type.String({ maxLength: 1000 }), { maxItems: 8 }),
  },
  { additionalProperties: false },
);
export type Reason = Static<typeof Reason>;

/** A reason whose code is one of `Code`. */
export type ReasonOf<Code extends string> = Reason & { readonly code: Code };

export function reasonOf<Code extends string>(code: Code, ...values: readonly string[]): ReasonOf<Code> {
  return { code, values: [...values] };
}
