// The patterns of texts in words. A person reads why a text is refused, and a regular expression explains nothing to a clinic.

const forms = new Map<string, string>();

/** Registers the words for a pattern of JSON Schema, such as `a day such as 2026-11-21`. @returns the pattern */
export function textForm(pattern: string, words: string): string {
  forms.set(pattern, words);
  return pattern;
}

/** Returns the words for a pattern, for a sentence of the form "expected X". */
export function formOf(pattern: string): string {
  return forms.get(pattern) ?? UNKNOWN_FORM;
}

/** The words for a pattern without words. */
export const UNKNOWN_FORM = "text of another form";
