import { createHash, X509Certificate } from "node:crypto";

/** Returns the pin of a certificate: the SHA-256 of its public key (SubjectPublicKeyInfo), which a renewal with the same key keeps. */
export function pinOf({ publicKey }: X509Certificate): string {
  const spki = publicKey.export({ type: "spki", format: "der" });
  return `sha256/${createHash("sha256").update(spki).digest("base64")}`;
}

/** Returns the certificates of a text, in their order. @throws Error for an unreadable one */
export function certificatesIn(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}
