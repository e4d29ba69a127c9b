import type { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { isLoopback } from "../../shared/network/network-address.ts";
import type { OwnNames } from "./local-names.ts";
import { namesOf } from "./own-certificate.ts";

/**
 * Returns the addresses under which other machines reach a port, the best one first. Over https they are those of the certificate:
 * a number works in each network, and few networks know the names of PCs.
 */
export function addressesOf(
  port: { readonly host: string | undefined; readonly port: number },
  certificate: X509Certificate | undefined,
  own: OwnNames,
): string[] {
  if (certificate === undefined) {
    if (port.host !== undefined && isLoopback(port.host)) return [];
    const isEach = port.host === undefined || port.host === "0.0.0.0" || port.host === "::";
    return (isEach ? own.addresses : [port.host ?? ""]).map((name) => urlOf("http", name, port.port));
  }
  const named = namesOf(certificate).filter((name) => !name.startsWith("*.") && !isLoopback(name));
  // The certificate of the authority names this machine's own addresses, the one of a clinic may name none.
  const [numbers, names] = [named.filter((name) => isIP(name) !== 0), named.filter((name) => isIP(name) === 0)];
  return [...numbers, ...names].map((name) => urlOf("https", name, port.port));
}

function urlOf(scheme: "http" | "https", name: string, port: number): string {
  return new URL(`${scheme}://${isIP(name) === 6 ? `[${name}]` : name}:${port}`).origin;
}
