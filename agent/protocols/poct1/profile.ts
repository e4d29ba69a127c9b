import type { ProfileBase } from "../profile.ts";

/** A device that converses in POCT1-A. How it departs from the others is told by who it says it is (poct1/habits.ts). */
export interface Poct1Profile extends ProfileBase {
  readonly protocol: "poct1a";
  readonly link: { readonly kind: "poct1a" };
}
