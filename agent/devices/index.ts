import { abaxisVetscanVs2 } from "./abaxis-vetscan-vs2.ts";
import { genericAstm } from "./generic-astm.ts";
import type { Profile } from "./profile.ts";

/** Every profile; the order is that of the documentation. */
export const profiles: readonly Profile[] = [abaxisVetscanVs2, genericAstm];

export function profileById(id: string): Profile | undefined {
  return profiles.find((profile) => profile.id === id);
}
