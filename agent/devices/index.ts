import { abaxisVetscanVs2 } from "./astm/abaxis-vetscan-vs2.ts";
import { arkrayPu4010 } from "./text/arkray-pu4010.ts";
import { arkraySpotchemEl } from "./text/arkray-spotchem-el.ts";
import { arkraySpotchemEz } from "./text/arkray-spotchem-ez.ts";
import { biosystemsBa } from "./hl7/biosystems-ba.ts";
import { bionoteVcheckM10 } from "./hl7/bionote-vcheck-m10.ts";
import { bionoteVcheck, bionoteVcheckC10, bionoteVcheckH6 } from "./hl7/bionote-vcheck.ts";
import { bouleExigo } from "./hl7/boule-exigo.ts";
import { celercare } from "./hl7/celercare.ts";
import { diruiH100 } from "./text/dirui-h100.ts";
import { dymindDf } from "./hl7/mindray/dymind-df.ts";
import { edanH30, edanI15 } from "./hl7/edan.ts";
import { fujiAu } from "./text/fuji-au.ts";
import { fujiDriChemNxHl7 } from "./hl7/fuji-dri-chem-nx-hl7.ts";
import { epoc } from "./astm/epoc.ts";
import { fujiDriChemNx } from "./text/fuji-dri-chem-nx.ts";
import { genericAstm, genericAstmRaw } from "./astm/generic-astm.ts";
import { genericHl7 } from "./hl7/generic-hl7.ts";
import { genericPoct1a } from "./generic-poct1a.ts";
import { genruiVh30 } from "./hl7/genrui-vh30.ts";
import { horibaPentra } from "./astm/horiba-pentra.ts";
import { ichromaIii } from "./hl7/ichroma-iii.ts";
import { mindrayBc2800Vet, mindrayBc2800VetOneWay } from "./text/mindray-bc2800vet.ts";
import { mindrayBc } from "./hl7/mindray/mindray-bc.ts";
import { mindrayBs } from "./hl7/mindray/mindray-bs.ts";
import { mythic } from "./text/mythic.ts";
import { practiceFiles } from "./practice-files.ts";
import { practiceSystem } from "./hl7/practice-system.ts";
import type { Profile } from "./profile.ts";
import { siemensClinitek } from "./hl7/siemens-clinitek.ts";
import { seamatySmt } from "./hl7/seamaty-smt.ts";
import { radiometerAbl9 } from "./astm/radiometer-abl9.ts";
import { skyla } from "./astm/skyla.ts";
import { urit5160, uritChem } from "./hl7/urit-5160.ts";
import { radiometerAbl } from "./astm/radiometer-abl.ts";
import { siemensDca } from "./astm/siemens-dca.ts";
import { sysmexXn } from "./astm/sysmex-xn.ts";
import { transasiaEm200 } from "./astm/transasia-em200.ts";
import { vitros } from "./astm/vitros.ts";
import { zybioZ } from "./hl7/mindray/zybio-z.ts";

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
  practiceSystem,
  practiceFiles,
];

export function profileById(id: string): Profile | undefined {
  return profiles.find((profile) => profile.id === id);
}
