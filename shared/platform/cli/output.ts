import { printable, printableJson, printableLines } from "../../runtime/printable.ts";

// Output of the command lines. Results go to stdout; problems, notes and progress go to stderr.

let isEndless = false;

/** Makes the end of stdout's reader the end of this process, for a command that prints until Ctrl-C. */
export function endWithReader(): void {
  isEndless = true;
}

/** Whether the process ends when the reader of stdout does. */
export function endsWithReader(): boolean {
  return isEndless;
}

/** Prints one line of a result to stdout. */
export function printLine(line: string): void {
  process.stdout.write(`${printable(line)}\n`);
}

/** Prints a line of a time line to stdout; a terminal gets local times. */
export function printTimes(line: string): void {
  printLine(isTerminal() ? localTimes(line, "milliseconds") : line);
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
  const widths = columnWidths(rows);
  return rows.map((cells) => alignedLine(cells, widths));
}

/** A list for a reader. Cells hold times as the API writes them. */
export interface Table<Row> {
  readonly head: readonly string[];
  readonly cells: (row: Row) => readonly string[];
}

/** Prints a list to stdout. A terminal gets a line for an empty one. */
export async function printTable<Row>(table: Table<Row>, rows: Iterable<Row> | AsyncIterable<Row>): Promise<void> {
  let count = 0;
  for await (const line of tableText(table, rows)) {
    count++;
    printLine(line);
  }
  if (count === 0 && isTerminal()) printError("the list is empty");
}

/** Rows that set the width of the columns, because a list may have no end. */
const MEASURED_ROWS = 200;

/** Yields a list as lines: a header, aligned columns and local times for a terminal; for a program the cells alone. */
export async function* tableText<Row>(
  { head, cells }: Table<Row>,
  rows: Iterable<Row> | AsyncIterable<Row>,
  forTerminal = isTerminal(),
): AsyncGenerator<string> {
  let widths: readonly number[] | null = null;
  const first: string[][] = [];
  for await (const row of rows) {
    if (!forTerminal) {
      yield cells(row)
        .filter((cell) => cell !== "")
        .join("  ");
      continue;
    }
    const shown = cells(row).map((cell) => printable(localTimes(cell, "seconds")));
    if (widths !== null) yield alignedLine(shown, widths);
    else if (first.push(shown) === MEASURED_ROWS) {
      widths = columnWidths([head, ...first]);
      yield* tableLines([head, ...first]);
    }
  }
  if (widths === null && first.length > 0) yield* tableLines([head, ...first]);
}

function columnWidths(rows: readonly (readonly string[])[]): number[] {
  const columns = Math.max(0, ...rows.map((cells) => cells.length));
  return Array.from({ length: columns }, (_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
}

function alignedLine(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, column) => cell.padEnd(widths[column] ?? 0))
    .join("  ")
    .trimEnd();
}

/** Writes each instant of a text in the time zone of this machine: `2026-11-21 12:30:00`. */
export function localTimes(text: string, precision: "seconds" | "milliseconds"): string {
  return text.replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z/g, (instant, fraction: string = "") => {
    const time = new Date(instant);
    if (Number.isNaN(time.getTime())) return instant;
    return `${time.toLocaleString("sv-SE")}${precision === "milliseconds" ? fraction : ""}`;
  });
}

function isTerminal(): boolean {
  return process.stdout.isTTY;
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

/** Time from which on the pace of a task is known. */
const PACE_MS = 2_000;

/** Formats the time that is left at the pace so far: `40 s left`, `5 min left`. Empty while too little is known. */
export function remainingText(done: number, total: number, elapsedMs: number): string {
  if (done === 0 || elapsedMs < PACE_MS) return "";
  const seconds = Math.ceil((elapsedMs * (total - done)) / done / 1000);
  if (seconds < 100) return `${seconds} s left`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 100 ? `${minutes} min left` : `${Math.ceil(minutes / 60)} h left`;
}

/** Formats a number of bytes: `812 kB`, `1.4 GB`. */
export function byteText(bytes: number): string {
  if (bytes < 1e6) return `${Math.ceil(bytes / 1e3)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}
