import { Type } from "typebox";
import { textForm } from "./text-form.ts";

// Parts that most schemas share.

/** UTC, always with milliseconds: `2026-11-21T09:30:00.000Z`. */
export const TIMESTAMP_PATTERN = textForm(
  "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$",
  "a time in UTC such as 2026-11-21T09:30:00.000Z",
);

/** A day without a time: `2026-11-21`. */
export const DATE_PATTERN = textForm("^\\d{4}-\\d\\d-\\d\\d$", "a day such as 2026-11-21");

/** A SHA-256 in hexadecimal. */
export const SHA256_PATTERN = textForm("^[0-9a-f]{64}$", "64 digits and letters a to f");

/** A field that is always present, and null if its value is unknown. */
export function Nullable<T extends Type.TSchema>(schema: T): Type.TUnion<[T, Type.TNull]> {
  return Type.Union([schema, Type.Null()]);
}

/** An object that has no other properties. */
export function ClosedObject<T extends Type.TProperties>(properties: T): Type.TObject<T> {
  return Type.Object(properties, { additionalProperties: false });
}
