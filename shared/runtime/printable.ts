// Text of devices, patients and files on its way to a terminal, where a control character is a command.

/** C0, DEL and C1 controls, line and paragraph separators, and marks that turn the direction of text. */
const CONTROLS = /[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Shows each control character as `\u001b`, so that one line stays one line. */
export function printable(line: string): string {
  return line.replaceAll(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The same for text that may have several lines. */
export function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}

/** JSON for a person and for programs: two spaces a level, and no control character raw. */
export function printableJson(value: unknown): string {
  return printableLines(JSON.stringify(value, null, 2));
}
