import { Type } from "typebox";

// Parts that most schemas share.

/** UTC, always with milliseconds: `2026-11-21T09:30:00.000Z`. */
export const TIMESTAMP_PATTERN = "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$";

/** A day without a time: `2026-11-21`. */
export const DATE_PATTERN = "^\\d{4}-\\d\\d-\\d\\d$";

/** A field that is always present, and null if its value is unknown. */
export function Nullable<T extends Type.TSchema>(schema: T): Type.TUnion<[T, Type.TNull]> {
  return Type.Union([schema, Type.Null()]);
}

/** An object that has no other properties. */
export function ClosedObject<T extends Type.TProperties>(properties: T): Type.TObject<T> {
  return Type.Object(properties, { additionalProperties: false });
}
