// Field texts of LIS02-A2 records and HL7 segments. Both write `""` to delete an earlier value (LIS02-A2 §5.4.9; HL7's null).

/** Characters that tell one patient or sample from another. Devices write `0`, `-` or `.` for nobody. */
const NAMING = /[\p{L}1-9]/u;

/** Returns an identifying field as sent; "" if it names nobody: blanks, delimiters, `""`, `0`, `^0`, `-`, `.`. */
export function sent(record: { raw(field: number): string } | null, field: number): string {
  const raw = record?.raw(field) ?? "";
  return NAMING.test(raw) ? raw : "";
}

/** Trims an identifier. @returns "" if it names nobody */
export function identifier(text: string): string {
  return NAMING.test(text) ? text.trim() : "";
}

/** Words of control material at the beginning of an identifier: QC12, CTRL-N. */
const CONTROL_PREFIX = /^\s*(?:QC|CTRL|CONTROL)/i;
/** The same words within a text: `BMM 371 CONTROLE`. */
const CONTROL_WORD = /(?<![\p{L}\p{N}])(?:QC|CTRL|CONTROLS?|CONTROLE)(?![\p{L}\p{N}])/iu;

/** Returns whether a sample's identifier or description names control material. */
export function isControlName(text: string): boolean {
  return CONTROL_PREFIX.test(text) || CONTROL_WORD.test(text);
}

/** Trims a text. @returns "" for `""` */
export function given(text: string): string {
  const trimmed = text.trim();
  return trimmed === '""' ? "" : trimmed;
}

/** Returns the first component that names a sample; "" without any. Its number may stand behind a rack or before one. */
export function sampleId(components: readonly string[] = []): string {
  return components.map(identifier).find(Boolean) ?? "";
}

/** Joins the filled components of each repetition, without empty repetitions. */
export function filled(repetitions: readonly (readonly string[])[], joint: string): string[] {
  return repetitions.map((parts) => parts.map(given).filter(Boolean).join(joint)).filter(Boolean);
}
