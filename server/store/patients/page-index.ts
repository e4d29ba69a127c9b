import type { VersionedCache } from "./versioned-cache.ts";

// Caches the length and the page boundaries of long lists until the list changes.

/** A position in a list of patients. The named patient may have left the list. */
export interface PageBookmark {
  readonly updatedAt: number;
  readonly patientFp: string;
}

export interface PageIndex {
  readonly total: number;
  /** The first position, and every `BOOKMARK_STEP`th one after it. A deep page is read from the preceding bookmark. */
  readonly bookmarks: readonly PageBookmark[];
}

export const BOOKMARK_STEP = 1000;

/** Max cached page indexes, about 20 MB for lists of 100,000 patients. */
export const PAGE_INDEXES_MAX = 2000;

export type PageIndexCache = VersionedCache<PageIndex>;
