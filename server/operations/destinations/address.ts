import type { LookupAddress } from "node:dns";
import { isIP } from "node:net";
import { lookUp } from "../webhooks/addresses.ts";
import { addressKind } from "../webhooks/network.ts";

// The rule for the address of practice software, as for a webhook's receiver: a user types it, and our machine connects to it. The
// local network needs the operator's consent, and the internet TLS, since HL7 itself is plain text.

export interface DestinationAddress {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
}

/** Why an address is refused. */
export type AddressFault =
  | "DESTINATION.FORM"
  | "DESTINATION.PRIVATE"
  | "DESTINATION.FORBIDDEN"
  | "DESTINATION.NEEDS_TLS";

const ADDRESS = /^(tls:\/\/)?(\[[\da-f:.]+\]|[\w.-]+):(\d{1,5})$/i;

/** Reads `host:port`, with `tls://` before it for TLS. Its addresses are checked at each connection, because a name may change them. */
export function readAddress(text: string): DestinationAddress | null {
  const [, scheme = "", name = "", digits = ""] = ADDRESS.exec(text.trim()) ?? [];
  const port = Number(digits);
  // Lower ports are mail, file and shell services, not receivers.
  if (name === "" || name.length > 253 || port < 1024 || port > 65_535) return null;
  return { host: name.replace(/^\[|\]$/g, ""), port, isTls: scheme !== "" };
}

/** @returns an address in the form of readAddress() */
export function addressText({ host, port, isTls }: DestinationAddress): string {
  return `${isTls ? "tls://" : ""}${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/** Checks all addresses of a host. A forbidden one refuses the name, since either could be taken. */
export function checkAddresses(
  { isTls }: DestinationAddress,
  addresses: readonly LookupAddress[],
  allowPrivate: boolean,
): AddressFault | null {
  const kinds = new Set(addresses.map(({ address }) => addressKind(address)));
  if (kinds.has("refused")) return "DESTINATION.FORBIDDEN";
  if (kinds.has("private") && !allowPrivate) return "DESTINATION.PRIVATE";
  if (kinds.has("public") && !isTls) return "DESTINATION.NEEDS_TLS";
  return null;
}

/** Looks a host up. @throws the error of the look-up */
export async function addressesOf({ host }: DestinationAddress): Promise<readonly LookupAddress[]> {
  const family = isIP(host);
  return family === 0 ? lookUp(host) : [{ address: host, family }];
}
