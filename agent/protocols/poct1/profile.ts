import type { ProfileBase } from "../profile.ts";

/** Device that sends POCT1-A. Its dialect follows from its HELLO (dialect.ts). */
export interface Poct1Profile extends ProfileBase {
  readonly protocol: "poct1a";
  readonly link: { readonly kind: "poct1a" };
}
