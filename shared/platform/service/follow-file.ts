import fs from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

// Shows the end of a log file where no service manager has a reader for it.

const POLL_MS = 500;
/** Bytes from the end in which the last lines are looked for. */
const TAIL_BYTES = 1024 * 1024;

/** Returns the last lines of a file. @throws Error with the remedy if it is missing */
export function lastLines(file: string, count: number): string[] {
  const { text } = readFrom(file, Math.max(0, sizeOf(file) - TAIL_BYTES));
  return text.split("\n").slice(0, -1).slice(-count);
}

/** Passes on what is appended to a file, also after the file started again, until the signal. */
export async function followFile(file: string, show: (text: string) => void, signal: AbortSignal): Promise<void> {
  for (let at = sizeOf(file); !signal.aborted; ) {
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
    // The file is missing for a moment while it starts again.
    const size = fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size === at) continue;
    if (size < at) at = 0;
    if (size === 0) continue;
    const { text, end } = readFrom(file, at);
    show(text);
    at = end;
  }
}

function sizeOf(file: string): number {
  const found = fs.statSync(file, { throwIfNoEntry: false });
  if (found === undefined) throw new Error(`${file} is missing: the service has not started yet`);
  return found.size;
}

function readFrom(file: string, at: number): { text: string; end: number } {
  const descriptor = fs.openSync(file, "r");
  try {
    const buffer = Buffer.alloc(Math.min(TAIL_BYTES, Math.max(0, fs.fstatSync(descriptor).size - at)));
    const read = fs.readSync(descriptor, buffer, 0, buffer.length, at);
    return { text: buffer.toString("utf8", 0, read), end: at + read };
  } finally {
    fs.closeSync(descriptor);
  }
}
