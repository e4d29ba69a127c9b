// Caches the length and the page boundaries of long lists until the list changes.

/** A place in a list of patients: the place of the one it names, or where that one would stand. */
export interface PageBookmark {
  readonly updatedAt: number;
  readonly fp: string;
}

export interface PageIndex {
  readonly total: number;
  /** The first place, and every `STEP`th after it: a deep page is found from the mark before it, not by counting up to it. */
  readonly bookmarks: readonly PageBookmark[];
}

export const BOOKMARK_STEP = 1000;

/** About 20 MB if all were of lists of a hundred thousand. */
const OUTLINES_MAX = 2000;

/** Outlines by the name of their list and the version under which they were drawn; what was used last is kept. */
export class PageIndexCache {
  readonly #known = new Map<string, { version: number; outline: Promise<PageIndex> }>();

  /** `version` must have been read before this is asked. */
  async find(name: string, version: number, draw: () => Promise<PageIndex>): Promise<PageIndex> {
    const known = this.#known.get(name);
    const entry = known?.version === version ? known : { version, outline: draw() };
    this.#known.delete(name);
    this.#known.set(name, entry);
    const [oldest] = this.#known.keys();
    if (this.#known.size > OUTLINES_MAX && oldest !== undefined) this.#known.delete(oldest);
    try {
      return await entry.outline;
    } catch (error) {
      if (this.#known.get(name) === entry) this.#known.delete(name);
      throw error;
    }
  }
}
