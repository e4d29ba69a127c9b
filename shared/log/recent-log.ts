// The last lines of a log in memory, for a page that shows them.

const LINES_MAX = 500;
/** Max characters of a line; the rest of a longer one is left out. */
const LINE_CHARS_MAX = 8_192;

export class RecentLog {
  readonly #lines: string[] = [];

  /** The last 500 lines, the oldest first, each a JSON object without its line feed. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  add(text: string): void {
    this.#lines.push(text.trimEnd().slice(0, LINE_CHARS_MAX));
    if (this.#lines.length > LINES_MAX) this.#lines.shift();
  }
}
