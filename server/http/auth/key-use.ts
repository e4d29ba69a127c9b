import type { Logger } from "pino";
import { type ApiKey, touchKey, touchNewKey } from "../../records/clinics/keys.ts";
import type { Store } from "../../database/store.ts";

/** Min interval between writes of a key's last_used_at. */
const WRITE_INTERVAL_MS = 60_000;

export type KeyUse = (key: ApiKey, now: number) => Promise<void>;

/**
 * Returns a function that stores when a key was used. Only the first use waits for the database: imports stamp their changes once
 * a clinic has used a key, so it must be stored before any response.
 */
export function createKeyUse(store: Store, logger: Logger): KeyUse {
  /** Writes of first uses, by key id. Concurrent requests wait for the same write. */
  const firstUses = new Map<number, Promise<void>>();
  /** Times of first uses that could not be stored, by key id: an import held the database. */
  const unstored = new Map<number, number>();

  function warn(key: ApiKey, error: unknown): void {
    logger.warn({ err: error, key: key.public_id }, "the last use of a key was not stored");
  }

  return async (key, now) => {
    if (key.last_used_at === null) {
      const since = Math.min(unstored.get(key.id) ?? now, now);
      const writing =
        firstUses.get(key.id) ?? store.transaction((session) => touchNewKey(session, key, { now, since }));
      firstUses.set(key.id, writing);
      try {
        await writing;
        key.last_used_at = now;
        unstored.delete(key.id);
      } catch (error) {
        unstored.set(key.id, since);
        // The next request tries again.
        warn(key, error);
      } finally {
        firstUses.delete(key.id);
      }
      return;
    }
    if (now - key.last_used_at < WRITE_INTERVAL_MS) return;
    key.last_used_at = now;
    store.transaction((session) => touchKey(session, key.id, now)).catch((error: unknown) => warn(key, error));
  };
}
