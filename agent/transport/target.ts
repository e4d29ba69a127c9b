import { type Address, parseAddress } from "./address.ts";

/** The place of a device on a command line. */
export type Target =
  | { readonly kind: "dial" | "listen"; readonly address: Address }
  | { readonly kind: "serial"; readonly path: string };

/** Reads `tcp://host:port` (dialled), `listen://host:port` or `serial:PATH`. @returns null for any other text */
export function parseTarget(text: string): Target | null {
  const [, scheme, place = ""] = /^(tcp:\/\/|listen:\/\/|serial:)(.+)$/.exec(text) ?? [];
  if (scheme === undefined) return null;
  if (scheme === "serial:") return { kind: "serial", path: place };
  const address = parseAddress(place);
  return address === null ? null : { kind: scheme === "tcp://" ? "dial" : "listen", address };
}
