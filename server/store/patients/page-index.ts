// Caches the length and the page boundaries of long lists until the list changes.

/** A position in a list of patients. The named patient may have left the list. */
export interface PageBookmark {
  readonly updatedAt: number;
  readonly fp: string;
}

export interface PageIndex {
  readonly total: number;
  /** The first position, and every `BOOKMARK_STEP`th one after it. A deep page is read from the preceding bookmark. */
  readonly bookmarks: readonly PageBookmark[];
}

export const BOOKMARK_STEP = 1000;

/** Max cached lists, about 20 MB for lists of 100,000 patients. The least recently used list is evicted. */
const INDEXES_MAX = 2000;

/** Page indexes by list and version. */
export class PageIndexCache {
  readonly #entries = new Map<string, { version: number; index: Promise<PageIndex> }>();

  /** Read `version` before the call, so that a later change invalidates the entry. */
  async find(name: string, version: number, build: () => Promise<PageIndex>): Promise<PageIndex> {
    const cached = this.#entries.get(name);
    const entry = cached?.version === version ? cached : { version, index: build() };
    this.#entries.delete(name);
    this.#entries.set(name, entry);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > INDEXES_MAX && oldest !== undefined) this.#entries.delete(oldest);
    try {
      return await entry.index;
    } catch (error) {
      if (this.#entries.get(name) === entry) this.#entries.delete(name);
      throw error;
    }
  }
}
