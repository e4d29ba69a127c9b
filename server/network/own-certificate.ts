import { createPrivateKey, type KeyObject, type X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import type { NetworkRefusal } from "../dashboard/types/settings/network.ts";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import { certificatesIn } from "../../shared/network/public-key-pin.ts";

// Checks the certificate that a clinic brings, before the server uses it.

/** @returns why browsers and agents could not use the chain with this key; null if they can */
export function certificateRefusal(chain: string, keyPem: string, now: number): NetworkRefusal | null {
  const certificates = chainOf(chain);
  const [own] = certificates;
  if (own === undefined) return { code: "no certificate", got: firstLine(chain) };
  const key = keyOf(keyPem);
  if (key === null) return { code: "no key", got: firstLine(keyPem) };
  if (key === "encrypted") return { code: "encrypted key", got: firstLine(keyPem) };
  if (!own.checkPrivateKey(key)) return { code: "other key", got: own.subject };
  for (const { validFrom, validTo, subject } of certificates) {
    if (Date.parse(validTo) < now) return { code: "expired", got: `${subject}: ${dayOf(validTo)}` };
    if (Date.parse(validFrom) > now) return { code: "not yet valid", got: `${subject}: ${dayOf(validFrom)}` };
  }
  if (namesOf(own).length === 0) return { code: "no names", got: own.subject };
  const wrong = certificates.find((each, index) => !isIssuedBy(each, certificates[index + 1]));
  if (wrong !== undefined) return { code: "wrong chain", got: `${wrong.subject} < ${wrong.issuer}` };
  try {
    createSecureContext({ cert: chain, key: keyPem });
    return null;
  } catch (error) {
    return { code: "unusable certificate", got: errorMessage(error) };
  }
}

/** Returns the host names and addresses for which a certificate is valid, in their order. */
export function namesOf({ subjectAltName = "" }: X509Certificate): string[] {
  return Array.from(subjectAltName.matchAll(/(?:DNS|IP Address):([^,\s"]+)/g), ([, name = ""]) => name.toLowerCase());
}

/** The last one of a chain has nobody after it: its issuer is the browser's. */
function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate | undefined): boolean {
  return issuer === undefined || (certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey));
}

/** @returns none if one of them cannot be read */
function chainOf(pem: string): X509Certificate[] {
  try {
    return certificatesIn(pem);
  } catch {
    return [];
  }
}

function keyOf(pem: string): KeyObject | "encrypted" | null {
  try {
    return createPrivateKey(pem);
  } catch {
    return pem.includes("ENCRYPTED") ? "encrypted" : null;
  }
}

/** Only the header of a pasted text is quoted: it may be a private key in the wrong field. */
function firstLine(text: string): string {
  return /-----BEGIN [A-Z0-9 ]{1,40}-----/.exec(text)?.[0] ?? "";
}

function dayOf(time: string): string {
  return new Date(time).toISOString().slice(0, 10);
}
