import type { Address } from "../transport/address.ts";

/** An archive that gets each image, by C-STORE or STOW-RS. */
export type Destination =
  | {
      readonly id: string;
      readonly way: "store";
      readonly address: Address;
      readonly aeTitle: string;
      readonly callingAeTitle: string;
    }
  | ({ readonly id: string; readonly way: "stow" } & StowTarget);

export interface StowTarget {
  /** URL of the STOW-RS service, without `/studies`. */
  readonly url: string;
  /** File with the value of the Authorization header, read anew for each request; null if there is none. */
  readonly authorizationFile: string | null;
}
