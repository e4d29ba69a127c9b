import { fujiAu } from "./text/fuji-au.ts";
import { fujiDriChemNx } from "./text/fuji-dri-chem-nx.ts";
import { genericPoct1a } from "./generic-poct1a.ts";
import { htiMicrocc20 } from "./text/hti-microcc-20.ts";
import { mindrayBc2800Vet, mindrayBc2800VetOneWay } from "./text/mindray-bc2800vet.ts";
import { mythic } from "./text/mythic.ts";
import { type OwnFault, type OwnProfile, OwnProfiles } from "./own/own-profiles.ts";
import { isOwn, parseReference } from "./own/reference.ts";
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
  file("arkray-spotchem-ez"),
  file("arkray-spotchem-el"),
  file("arkray-pu4010"),
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
  file("dirui-h100"),
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
  file("abaxis-vetscan-vs2-csv"),
  file("scil-vet-abc-csv"),
  file("wondfo-finecare-csv"),
  file("idexx-interlink"),
  practiceFiles,
];

/** The clinic's own profiles in the data folder of this process. */
let own: OwnProfiles | null = null;

/** Serves the own profiles of a data folder from now on. */
export function useOwnProfiles(data: string): void {
  own = new OwnProfiles(data);
}

/** Reads an own profile of the data folder in use. */
export function ownProfile(reference: string): OwnProfile | OwnFault {
  return own?.read(reference) ?? { code: "PROFILE.MISSING", problems: ["no data folder is in use"] };
}

/** Returns the references of the own profiles in use, the newest revision of each first. */
export function ownReferences(): string[] {
  return own?.list() ?? [];
}

/** Returns the shipped profiles and the newest revision of each own one that can be used. */
export function allProfiles(): readonly Profile[] {
  const references = ownReferences();
  const newest = references.filter((one) => references.find((other) => isSameName(one, other)) === one);
  return [...newest.flatMap((reference) => usable(ownProfile(reference)) ?? []), ...profiles];
}

function isSameName(one: string, other: string): boolean {
  return one.split("@")[0] === other.split("@")[0];
}

/** @returns the newest revision of an own profile that can be used; null if it is this one, and for a shipped profile */
export function newerRevision(reference: string): string | null {
  if (!isOwn(reference)) return null;
  const same = ownReferences().filter((other) => isSameName(reference, other));
  const newest = same.find((other) => usable(ownProfile(other)) !== undefined) ?? null;
  const isNewer =
    newest !== null && (parseReference(newest)?.revision ?? 0) > (parseReference(reference)?.revision ?? 0);
  return isNewer ? newest : null;
}

/** @param id a shipped profile's, or the reference of an own one that can be used: `own/acme-x1@3` */
export function profileById(id: string): Profile | undefined {
  return isOwn(id) ? usable(ownProfile(id)) : profiles.find((profile) => profile.id === id);
}

/** @returns the profile unless it has a fault */
export function usable(read: OwnProfile | OwnFault): Profile | undefined {
  return "profile" in read ? read.profile : undefined;
}

/** Whether a device's profile may send orders. A clinic's own one may be a stranger's, so that agent.yaml has to switch it on. */
export function takesOrders({
  profile,
  orders,
}: {
  readonly profile: string;
  readonly orders?: boolean | undefined;
}): boolean {
  return !isOwn(profile) || orders === true;
}
