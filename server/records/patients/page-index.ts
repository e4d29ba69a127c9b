import type { VersionedCache } from "./versioned-cache.ts";

// Caches the length and the page boundaries of long lists until the list changes.

/** A row of a list of patients, after which others follow. The patient may have left the list. */
export interface PageBookmark {
  readonly updatedAt: number;
  readonly patientFp: string;
}

export interface PageIndex {
  readonly total: number;
  /** Reads once the position before the list, and every `BOOKMARK_STEP`th row. A deep page is read from the row before it. */
  readonly bookmarks: () => Promise<readonly PageBookmark[]>;
}

export const BOOKMARK_STEP = 1000;

/** Max cached page indexes, about 20 MB for lists of 100,000 patients. */
export const PAGE_INDEXES_MAX = 2000;

export type PageIndexCache = VersionedCache<PageIndex>;
