import { arkrayPu4010 } from "./text/arkray-pu4010.ts";
import { arkraySpotchemEl } from "./text/arkray-spotchem-el.ts";
import { arkraySpotchemEz } from "./text/arkray-spotchem-ez.ts";
import { diruiH100 } from "./text/dirui-h100.ts";
import { fujiAu } from "./text/fuji-au.ts";
import { fujiDriChemNx } from "./text/fuji-dri-chem-nx.ts";
import { genericPoct1a } from "./generic-poct1a.ts";
import { htiMicrocc20 } from "./text/hti-microcc-20.ts";
import { mindrayBc2800Vet, mindrayBc2800VetOneWay } from "./text/mindray-bc2800vet.ts";
import { mythic } from "./text/mythic.ts";
import { practiceFiles } from "./practice-files.ts";
import { practiceSystem } from "./practice-system.ts";
import type { Profile } from "./profile.ts";
import { shippedProfiles } from "./table/load.ts";

function file(id: string): Profile {
  const read = shippedProfiles().get(id);
  if (read === undefined) throw new Error(`agent/devices has no file of the profile ${id}`);
  return read.profile;
}

/** All profiles, in the order of the documentation. */
export const profiles: readonly Profile[] = [
  file("abaxis-vetscan-vs2"),
  file("skyla"),
  mindrayBc2800Vet,
  mindrayBc2800VetOneWay,
  arkraySpotchemEz,
  arkraySpotchemEl,
  arkrayPu4010,
  htiMicrocc20,
  fujiDriChemNx,
  fujiAu,
  mythic,
  file("epoc"),
  file("siemens-dca"),
  file("horiba-pentra"),
  file("radiometer-abl"),
  file("sysmex-xn"),
  file("vitros"),
  file("transasia-em200"),
  diruiH100,
  file("radiometer-abl9"),
  file("generic-astm"),
  file("generic-astm-raw"),
  file("mindray-bc"),
  file("dymind-df"),
  file("zybio-z"),
  file("mindray-bs"),
  file("urit-5160"),
  file("urit-chem"),
  file("fuji-dri-chem-nx-hl7"),
  file("bionote-vcheck"),
  file("bionote-vcheck-m10"),
  file("bionote-vcheck-c10"),
  file("bionote-vcheck-h6"),
  file("boule-exigo"),
  file("edan-h30"),
  file("edan-i15"),
  file("siemens-clinitek"),
  file("biosystems-ba"),
  file("ichroma-iii"),
  file("seamaty-smt"),
  file("celercare"),
  file("genrui-vh30"),
  file("generic-hl7"),
  genericPoct1a,
  practiceSystem,
  practiceFiles,
];

export function profileById(id: string): Profile | undefined {
  return profiles.find((profile) => profile.id === id);
}
