// Makes text of devices, patients and files safe for a terminal, where a control character is a command.

/** C0, DEL and C1 controls, line and paragraph separators, and marks of text direction. */
const CONTROLS = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Shows each control character as `\u001b`, so that one line stays one line. */
export function printable(line: string): string {
  return line.replaceAll(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Shows each control character of a text as an escape, except its line feeds. */
export function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}

/** Formats a value as JSON, indented by two spaces, with control characters as escapes. */
export function printableJson(value: unknown): string {
  return printableLines(JSON.stringify(value, null, 2));
}
