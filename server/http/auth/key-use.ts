import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { type ApiKey, touchKeys, touchNewKey } from "../../records/clinics/keys.ts";
import type { Store } from "../../database/store.ts";

/** Min interval between writes of a key's last_used_at. */
const WRITE_INTERVAL_MS = 60_000;

/** Keys that are used within it share a write: a host of many clinics would write hundreds of times a second. */
const GATHER_MS = 1000;

export type KeyUse = (key: ApiKey, now: number) => Promise<void>;

/**
 * Returns a function that stores when a key was used, until the app closes. Only the first use waits for the database: imports stamp
 * their changes once a clinic has used a key, so it must be stored before any response.
 */
export function createKeyUse(app: FastifyInstance, store: Store, logger: Logger): KeyUse {
  /** Writes of first uses, by key id. Concurrent requests wait for the same write. */
  const firstUses = new Map<number, Promise<void>>();
  /** Times of first uses that could not be stored, by key id: an import held the database. */
  const unstored = new Map<number, number>();
  /** Ids of the keys whose further uses wait for the next write, and the time of the last of these uses. */
  const used = { ids: new Set<number>(), at: 0 };

  function warn(keys: readonly number[], error: unknown): void {
    logger.warn({ err: error, keys }, "the last use of a key was not stored");
  }

  async function write(): Promise<void> {
    if (used.ids.size === 0) return;
    const { at } = used;
    const ids = [...used.ids];
    used.ids.clear();
    await store.transaction((session) => touchKeys(session, ids, at)).catch((error: unknown) => warn(ids, error));
  }

  const timer = setInterval(() => void write(), GATHER_MS).unref();
  app.addHook("onClose", async () => {
    clearInterval(timer);
    await write();
  });

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
        warn([key.id], error);
      } finally {
        firstUses.delete(key.id);
      }
      return;
    }
    if (now - key.last_used_at < WRITE_INTERVAL_MS) return;
    key.last_used_at = now;
    used.ids.add(key.id);
    used.at = now;
  };
}
