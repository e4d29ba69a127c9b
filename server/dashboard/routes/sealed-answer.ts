import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";

// A response is sealed with the id of its request, which the server does not keep: it may hold a new API key or a password.

const ALGORITHM = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** SHA-256 of texts, as hex. Their borders count. */
export function digestOf(...texts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(texts)).digest("hex");
}

/** @returns the encrypted text, in base64 */
export function seal(text: string, id: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(ALGORITHM, keyOf(id), iv);
  return Buffer.concat([iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]).toString("base64");
}

/** Opens what `seal` made with the same id. @throws Error for other bytes, or another id */
export function unseal(sealed: string, id: string): string {
  const bytes = Buffer.from(sealed, "base64");
  const decipher = createDecipheriv(ALGORITHM, keyOf(id), bytes.subarray(0, IV_BYTES));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  const text = bytes.subarray(IV_BYTES, -TAG_BYTES);
  return Buffer.concat([decipher.update(text), decipher.final()]).toString("utf8");
}

function keyOf(id: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", id, "", "answer of a write", 32));
}
