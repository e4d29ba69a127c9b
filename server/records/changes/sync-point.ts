import { syncBounds } from "../../database/stamps.ts";
import type { Store } from "../../database/store.ts";

/** The start of a client's list of changes, and the start of the next one. */
export interface SyncPoint {
  /** Lowest stamp of the list, ms since 1970; null lists all. */
  readonly from: number | null;
  /** The time that the client sends next time: all that this list lacks became visible at it or later. */
  readonly next: number;
}

/** Max clinics whose last commit is kept. */
const CLINICS_MAX = 10_000;

/** Where the lists of a clinic's changes start. Call it before reading the list. */
export class SyncPoints {
  readonly #store: Pick<Store, "first" | "noteVisible">;
  /** The time after the last commit of each clinic, as long as its version stays. */
  readonly #next = new Map<number, { readonly version: number; readonly next: number }>();

  constructor(store: Pick<Store, "first" | "noteVisible">) {
    this.#store = store;
  }

  /**
   * Finds the stamps of what became visible to a clinic at or after a time, which are often a little older.
   * @param since ms since 1970; null for everything
   * @param version of the clinic's data, read before the call
   */
  async find(clinicId: number, since: number | null, version: number): Promise<SyncPoint> {
    const known = this.#next.get(clinicId);
    if (since === null && known?.version === version) return { from: null, next: known.next };
    const { oldest, next } = await this.#read(clinicId, since ?? Number.MAX_SAFE_INTEGER, version);
    return { from: since === null ? null : Math.min(since, oldest ?? since), next };
  }

  /** Whether a change became visible to a clinic at or after a time. */
  async hasChangesSince(clinicId: number, since: number, version: number): Promise<boolean> {
    return (await this.#read(clinicId, since, version)).oldest !== null;
  }

  async #read(clinicId: number, since: number, version: number): Promise<{ oldest: number | null; next: number }> {
    const bounds = await this.#store.first(syncBounds, { clinicId, since });
    if (bounds === undefined) throw new Error("expected one row of bounds, got none");
    const { oldest, unnoted } = bounds;
    const next = bounds.next ?? 0;
    if (unnoted === 0) {
      if (this.#next.size >= CLINICS_MAX) this.#next.clear();
      this.#next.set(clinicId, { version, next });
    } else {
      // The server may have ended between its commit and the note.
      void this.#store.noteVisible(clinicId);
    }
    return { oldest, next };
  }
}
