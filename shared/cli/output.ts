import { printable, printableJson, printableLines } from "../runtime/printable.ts";

// Output of the command lines. Results go to stdout; problems, notes and progress go to stderr.

/** Prints one line of a result to stdout. */
export function printLine(line: string): void {
  process.stdout.write(`${printable(line)}\n`);
}

/** Prints a result to stdout as indented JSON. */
export function printJson(value: unknown): void {
  process.stdout.write(`${printableJson(value)}\n`);
}

/** Prints a problem or a note to stderr; the text may have several lines. */
export function printError(text: string): void {
  process.stderr.write(`${printableLines(text)}\n`);
}

/** Formats a count with its noun: `1 device`, `2 devices`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Formats rows of cells as lines; each column is as wide as its widest cell. */
export function tableLines(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0))) ?? [];
  return rows.map((cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** Creates a progress callback that prints `10 %`, `20 %`, ... to stderr, each step at most once. */
export function progressInTenths(print: (text: string) => void = printError): (done: number, total: number) => void {
  let printed = 0;
  return (done, total) => {
    const tenth = Math.floor((10 * done) / total);
    if (tenth <= printed) return;
    printed = tenth;
    print(`${10 * tenth} %`);
  };
}
