import { type StoredView, viewStudy } from "../store/unmatched.ts";
import type { Store } from "../store/types.ts";

/** @throws Error if there is no such study */
export async function storedStudy(store: Store, fp: string): Promise<StoredView> {
  const view = await viewStudy(store, fp);
  if (view === undefined) throw new Error(`study ${fp} does not exist`);
  return view;
}
