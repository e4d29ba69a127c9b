import { type StudyView, viewStudy } from "../store/studies/history.ts";
import type { Store } from "../store/database/store.ts";

/** @throws Error if there is no such study */
export async function storedStudy(store: Store, fp: string): Promise<StudyView> {
  const view = await viewStudy(store, fp);
  if (view === undefined) throw new Error(`study ${fp} does not exist`);
  return view;
}
