import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";

// Texts that are sealed with a secret: the response to a write with the id of its request, which the server does not keep, the
// password of the mail server and a sign-in under way with the pepper. A stolen database alone opens neither.

/** The purpose of a text. Each purpose has a key of its own. */
type Purpose =
  | "answer of a write"
  | "password of the mail server"
  | "sign-in through a provider"
  | "sign-in of an operator through a provider";

const ALGORITHM = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** SHA-256 of texts, as hex. Their borders count. */
export function digestOf(...texts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(texts)).digest("hex");
}

/** @returns the encrypted text, in base64 */
export function seal(text: string, secret: string | Buffer, purpose: Purpose): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(ALGORITHM, keyOf(secret, purpose), iv);
  return Buffer.concat([iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]).toString("base64");
}

/** Opens what `seal` made with the same secret. @throws Error for other bytes, or another secret */
export function unseal(sealed: string, secret: string | Buffer, purpose: Purpose): string {
  const bytes = Buffer.from(sealed, "base64");
  const decipher = createDecipheriv(ALGORITHM, keyOf(secret, purpose), bytes.subarray(0, IV_BYTES));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  const text = bytes.subarray(IV_BYTES, -TAG_BYTES);
  return Buffer.concat([decipher.update(text), decipher.final()]).toString("utf8");
}

function keyOf(secret: string | Buffer, purpose: Purpose): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, "", purpose, 32));
}
