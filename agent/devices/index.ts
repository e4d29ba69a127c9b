import { abaxisVetscanVs2 } from "./abaxis-vetscan-vs2.ts";
import { arkrayPu4010 } from "./arkray-pu4010.ts";
import { arkraySpotchemEl } from "./arkray-spotchem-el.ts";
import { arkraySpotchemEz } from "./arkray-spotchem-ez.ts";
import { biosystemsBa } from "./biosystems-ba.ts";
import { bionoteVcheckM10 } from "./bionote-vcheck-m10.ts";
import { bionoteVcheck, bionoteVcheckC10, bionoteVcheckH6 } from "./bionote-vcheck.ts";
import { bouleExigo } from "./boule-exigo.ts";
import { celercare } from "./celercare.ts";
import { diruiH100 } from "./dirui-h100.ts";
import { dymindDf } from "./dymind-df.ts";
import { edanH30, edanI15 } from "./edan.ts";
import { fujiAu } from "./fuji-au.ts";
import { fujiDriChemNxHl7 } from "./fuji-dri-chem-nx-hl7.ts";
import { epoc } from "./epoc.ts";
import { fujiDriChemNx } from "./fuji-dri-chem-nx.ts";
import { genericAstm, genericAstmRaw } from "./generic-astm.ts";
import { genericHl7 } from "./generic-hl7.ts";
import { genericPoct1a } from "./generic-poct1a.ts";
import { genruiVh30 } from "./genrui-vh30.ts";
import { horibaPentra } from "./horiba-pentra.ts";
import { ichromaIii } from "./ichroma-iii.ts";
import { mindrayBc2800Vet, mindrayBc2800VetOneWay } from "./mindray-bc2800vet.ts";
import { mindrayBc } from "./mindray-bc.ts";
import { mindrayBs } from "./mindray-bs.ts";
import { mythic } from "./mythic.ts";
import type { Profile } from "./profile.ts";
import { siemensClinitek } from "./siemens-clinitek.ts";
import { seamatySmt } from "./seamaty-smt.ts";
import { radiometerAbl9 } from "./radiometer-abl9.ts";
import { skyla } from "./skyla.ts";
import { urit5160, uritChem } from "./urit-5160.ts";
import { radiometerAbl } from "./radiometer-abl.ts";
import { siemensDca } from "./siemens-dca.ts";
import { sysmexXn } from "./sysmex-xn.ts";
import { transasiaEm200 } from "./transasia-em200.ts";
import { vitros } from "./vitros.ts";
import { zybioZ } from "./zybio-z.ts";

/** All profiles, in the order of the documentation. */
export const profiles: readonly Profile[] = [
  abaxisVetscanVs2,
  skyla,
  mindrayBc2800Vet,
  mindrayBc2800VetOneWay,
  arkraySpotchemEz,
  arkraySpotchemEl,
  arkrayPu4010,
  fujiDriChemNx,
  fujiAu,
  mythic,
  epoc,
  siemensDca,
  horibaPentra,
  radiometerAbl,
  sysmexXn,
  vitros,
  transasiaEm200,
  diruiH100,
  radiometerAbl9,
  genericAstm,
  genericAstmRaw,
  mindrayBc,
  dymindDf,
  zybioZ,
  mindrayBs,
  urit5160,
  uritChem,
  fujiDriChemNxHl7,
  bionoteVcheck,
  bionoteVcheckM10,
  bionoteVcheckC10,
  bionoteVcheckH6,
  bouleExigo,
  edanH30,
  edanI15,
  siemensClinitek,
  biosystemsBa,
  ichromaIii,
  seamatySmt,
  celercare,
  genruiVh30,
  genericHl7,
  genericPoct1a,
];

export function profileById(id: string): Profile | undefined {
  return profiles.find((profile) => profile.id === id);
}
