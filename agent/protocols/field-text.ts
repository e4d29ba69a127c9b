// Field texts of LIS02-A2 records and HL7 segments. Both write `""` to delete an earlier value (LIS02-A2 §5.4.9; HL7's null).

/** Returns a field as sent; "" for a field of blanks, delimiters or `""`. */
export function sent(record: { raw(field: number): string } | null, field: number): string {
  const raw = record?.raw(field) ?? "";
  return /[\p{L}\p{N}]/u.test(raw) ? raw : "";
}

/** Trims a text. @returns "" for `""` */
export function given(text: string): string {
  const trimmed = text.trim();
  return trimmed === '""' ? "" : trimmed;
}

/** Returns the first filled component of a field; "" without any. A sample number may stand behind a rack or before one. */
export function firstFilled(components: readonly string[] = []): string {
  return components.map(given).find(Boolean) ?? "";
}

/** Joins the filled components of each repetition, without empty repetitions. */
export function filled(repetitions: readonly (readonly string[])[], joint: string): string[] {
  return repetitions.map((parts) => parts.map(given).filter(Boolean).join(joint)).filter(Boolean);
}
