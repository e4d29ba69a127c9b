import { abaxisVetscanVs2 } from "./abaxis-vetscan-vs2.ts";
import { arkraySpotchemEz } from "./arkray-spotchem-ez.ts";
import { fujiDriChemNx } from "./fuji-dri-chem-nx.ts";
import { genericAstm, genericAstmRaw } from "./generic-astm.ts";
import { genericHl7 } from "./generic-hl7.ts";
import { genericPoct1a } from "./generic-poct1a.ts";
import { mindrayBc2800Vet, mindrayBc2800VetOneWay } from "./mindray-bc2800vet.ts";
import type { Profile } from "./profile.ts";
import { skyla } from "./skyla.ts";

/** Every profile; the order is that of the documentation. */
export const profiles: readonly Profile[] = [
  abaxisVetscanVs2,
  skyla,
  mindrayBc2800Vet,
  mindrayBc2800VetOneWay,
  arkraySpotchemEz,
  fujiDriChemNx,
  genericAstm,
  genericAstmRaw,
  genericHl7,
  genericPoct1a,
];

export function profileById(id: string): Profile | undefined {
  return profiles.find((profile) => profile.id === id);
}
