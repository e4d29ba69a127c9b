import { abaxisVetscanVs2 } from "./abaxis-vetscan-vs2.ts";
import { arkraySpotchemEz } from "./arkray-spotchem-ez.ts";
import { biosystemsBa } from "./biosystems-ba.ts";
import { bionoteVcheck, bionoteVcheckC10, bionoteVcheckH6 } from "./bionote-vcheck.ts";
import { bouleExigo } from "./boule-exigo.ts";
import { dymindDf } from "./dymind-df.ts";
import { edanH30, edanI15 } from "./edan.ts";
import { fujiAu } from "./fuji-au.ts";
import { fujiDriChemNx } from "./fuji-dri-chem-nx.ts";
import { genericAstm, genericAstmRaw } from "./generic-astm.ts";
import { genericHl7 } from "./generic-hl7.ts";
import { genericPoct1a } from "./generic-poct1a.ts";
import { mindrayBc2800Vet, mindrayBc2800VetOneWay } from "./mindray-bc2800vet.ts";
import { mindrayBc } from "./mindray-bc.ts";
import { mindrayBs } from "./mindray-bs.ts";
import type { Profile } from "./profile.ts";
import { siemensClinitek } from "./siemens-clinitek.ts";
import { skyla } from "./skyla.ts";
import { zybioZ } from "./zybio-z.ts";

/** All profiles, in the order of the documentation. */
export const profiles: readonly Profile[] = [
  abaxisVetscanVs2,
  skyla,
  mindrayBc2800Vet,
  mindrayBc2800VetOneWay,
  arkraySpotchemEz,
  fujiDriChemNx,
  fujiAu,
  genericAstm,
  genericAstmRaw,
  mindrayBc,
  dymindDf,
  zybioZ,
  mindrayBs,
  bionoteVcheck,
  bionoteVcheckC10,
  bionoteVcheckH6,
  bouleExigo,
  edanH30,
  edanI15,
  siemensClinitek,
  biosystemsBa,
  genericHl7,
  genericPoct1a,
];

export function profileById(id: string): Profile | undefined {
  return profiles.find((profile) => profile.id === id);
}
