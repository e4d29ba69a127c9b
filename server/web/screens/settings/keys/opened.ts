import { type KeyArea, keyAreas, type KeyPermission } from "../../../../dashboard/types/settings/keys.ts";

/** The texts of a permission: the sentence of its checkbox and its placeholders. */
export interface Opened {
  readonly sentence: "reads" | "readsAlone" | "sends";
  readonly areas: readonly KeyArea[];
}

/** Returns everything that a permission gives access to, for the checkbox that grants it. */
export function opened(permission: KeyPermission): Opened {
  const areas = keyAreas[permission];
  if (areas.includes("sending") || areas.includes("entering")) return { sentence: "sends", areas };
  return { sentence: areas.length === 1 ? "readsAlone" : "reads", areas };
}
