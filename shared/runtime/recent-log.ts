// The last lines of a log in memory, for a page that shows them.

const LINES_MAX = 500;
/** Max characters of a line; the rest of a longer one is left out. */
const LINE_CHARS_MAX = 8_192;

export class RecentLog {
  readonly #lines: string[] = [];
  readonly #listeners = new Set<(line: string) => void>();

  /** The last 500 lines, the oldest first, each a JSON object without its line feed. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Calls the listener with each new line. @returns a function that ends it */
  subscribe(listener: (line: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  add(text: string): void {
    const line = text.trimEnd().slice(0, LINE_CHARS_MAX);
    this.#lines.push(line);
    if (this.#lines.length > LINES_MAX) this.#lines.shift();
    for (const listener of this.#listeners) listener(line);
  }
}
