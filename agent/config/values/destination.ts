import type { ObjectTarget } from "../../imaging/archive/s3/object-target.ts";
import type { Address } from "../../transport/address.ts";

/** An archive that gets each image, by C-STORE, STOW-RS or S3. */
export type Destination =
  | {
      readonly id: string;
      readonly way: "store";
      readonly address: Address;
      readonly aeTitle: string;
      readonly callingAeTitle: string;
    }
  | ({ readonly id: string; readonly way: "stow" } & StowTarget)
  | ({ readonly id: string; readonly way: "s3" } & ObjectTarget);

export interface StowTarget {
  /** URL of the STOW-RS service, without `/studies`. */
  readonly url: string;
  /** File with the value of the Authorization header, read for each request; null without one. */
  readonly authorizationFile: string | null;
}

export function secretFilesOf(destination: Destination): string[] {
  switch (destination.way) {
    case "store":
      return [];
    case "stow":
      return destination.authorizationFile === null ? [] : [destination.authorizationFile];
    case "s3":
      return [destination.secretFile];
  }
}

/** The URL that a destination sends to; null for C-STORE. */
export function urlOfDestination(destination: Destination): string | null {
  switch (destination.way) {
    case "store":
      return null;
    case "stow":
      return destination.url;
    case "s3":
      return destination.endpoint;
  }
}
