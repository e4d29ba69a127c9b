import { type KeyArea, keyAreas, type KeyPermission } from "../../../../dashboard/types/settings/keys.ts";

/** What a permission opens: the sentence of its box, and the parts that fill it. */
export interface Opened {
  readonly sentence: "reads" | "readsAlone" | "sends";
  readonly areas: readonly KeyArea[];
}

/** Returns all that a permission opens, for the box with which a person grants it. */
export function opened(permission: KeyPermission): Opened {
  const areas = keyAreas[permission];
  if (areas.includes("sending") || areas.includes("entering")) return { sentence: "sends", areas };
  return { sentence: areas.length === 1 ? "readsAlone" : "reads", areas };
}
