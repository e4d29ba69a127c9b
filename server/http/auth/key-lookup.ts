import crypto from "node:crypto";
import { isWellFormedKey } from "../../../shared/runtime/api-key.ts";
import { findKey, type FoundKey } from "../../records/clinics/keys.ts";
import type { Store } from "../../database/store.ts";
import { digest } from "./api-keys.ts";

/** Max keys in memory. Beyond it the oldest entry is evicted. */
const KEYS_CACHED_MAX = 10_000;

export type KeyLookup = (presented: string) => Promise<FoundKey | undefined>;

/** Returns a function that finds a presented key, also a revoked or expired one. A found key is cached until its clinic changes. */
export function createKeyLookup(store: Store, pepper: Buffer): KeyLookup {
  // The names are hashes, so that a memory dump shows no keys.
  const cached = new Map<string, FoundKey>();

  return async (presented) => {
    const name = crypto.hash("sha256", presented, "base64");
    const known = cached.get(name);
    if (known !== undefined) {
      await store.refreshVersions();
      const { answers } = await store.versions(known.key.clinic_id);
      if (answers === known.versions.answers) return known;
      cached.delete(name);
    }
    if (!isWellFormedKey(presented)) return undefined;
    // The search is by digest: its duration reveals nothing about a key to a caller without the pepper.
    const found = await findKey(store, digest(pepper, presented));
    if (found === undefined) return undefined;
    cached.set(name, found);
    const [oldest] = cached.keys();
    if (cached.size > KEYS_CACHED_MAX && oldest !== undefined) cached.delete(oldest);
    return found;
  };
}
