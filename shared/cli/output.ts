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

/** Creates a progress callback with one line that is rewritten on a terminal, or tenths elsewhere. `end` ends the line. */
export function progressLine(): { progress: (done: number, total: number) => void; end: () => void } {
  if (!process.stderr.isTTY) return { progress: progressInTenths(), end: () => undefined };
  let shown = -1;
  return {
    progress(done, total) {
      const percent = Math.floor((100 * done) / Math.max(1, total));
      if (percent <= shown) return;
      shown = percent;
      process.stderr.write(`\r${percent} %`);
    },
    end: () => void process.stderr.write("\r     \r"),
  };
}

/** Formats a number of bytes: `812 kB`, `1.4 GB`. */
export function byteText(bytes: number): string {
  if (bytes < 1e6) return `${Math.ceil(bytes / 1e3)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}
