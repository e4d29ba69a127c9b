// Keeps the end of a process's stderr, and finds the sentence in it with the reason of the end.

const CHARS_MAX = 4_000;
/** Lines of a message that is not a crash: a configuration has a line for each problem. */
const LINES_MAX = 5;
const SENTENCE_CHARS_MAX = 500;

export class LastWords {
  #text = "";

  add(text: string): void {
    this.#text = (this.#text + text).slice(-CHARS_MAX);
  }

  /** The message of a crash, or the last lines; null if there is none. */
  get sentence(): string | null {
    const lines = this.#text.split(/\r?\n/).filter((line) => line.trim() !== "");
    const crash = lines.findLast((line) => /^(Uncaught )?\w*Error\b.*:/.test(line));
    const last = lines.filter((line) => !/^\s|^Node\.js v/.test(line)).slice(-LINES_MAX);
    const said = crash ?? (last.length === 0 ? null : last.join("; "));
    return said?.trim().slice(0, SENTENCE_CHARS_MAX) ?? null;
  }
}
