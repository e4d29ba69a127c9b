// Keeps the end of a process's stderr, and finds the sentence in it that tells why the process ended.

const CHARS_MAX = 4_000;
const SENTENCE_CHARS_MAX = 500;

export class LastWords {
  #text = "";

  add(text: string): void {
    this.#text = (this.#text + text).slice(-CHARS_MAX);
  }

  /** The message of a crash, or the last line; null if nothing was said. */
  get sentence(): string | null {
    const lines = this.#text.split(/\r?\n/).filter((line) => line.trim() !== "");
    const crash = lines.findLast((line) => /^(Uncaught )?\w*Error\b.*:/.test(line));
    const last = lines.findLast((line) => !/^\s|^Node\.js v/.test(line));
    return (crash ?? last)?.trim().slice(0, SENTENCE_CHARS_MAX) ?? null;
  }
}
