import crypto from "node:crypto";
import fs from "node:fs";
import { pipeline } from "node:stream/promises";

// Verifies signatures of minisign (https://jedisct1.github.io/minisign/), in their prehashed form alone: Ed25519 (RFC 8032) over the
// BLAKE2b-512 of the file. A second signature covers the first one and the trusted comment.

const PUBLIC_KEY = { algorithm: "Ed", bytes: 42 };
const SIGNATURE = { algorithm: "ED", bytes: 74 };
const GLOBAL_SIGNATURE_BYTES = 64;
/** Header of a raw Ed25519 key as SubjectPublicKeyInfo in DER (RFC 8410, section 4). */
const ED25519_HEADER = Buffer.from("302a300506032b6570032100", "hex");

/** A signature file is four short lines. */
export const SIGNATURE_BYTES_MAX = 4_096;

/**
 * Verifies that a file is what the key's owner signed under that name. Another file of the owner, such as an older version, has
 * another name in its trusted comment.
 * @throws Error with the reason
 */
export async function verifyFile(file: string, name: string, signature: string, publicKey: string): Promise<void> {
  const key = readPublicKey(publicKey);
  const { keyId, ofFile, comment, ofComment } = readSignature(signature);
  if (!keyId.equals(key.id)) {
    throw new Error(`${name} is signed with the key ${keyName(keyId)}, expected ${keyName(key.id)}`);
  }
  const hash = crypto.createHash("blake2b512");
  await pipeline(fs.createReadStream(file), hash);
  if (!crypto.verify(null, hash.digest(), key.key, ofFile)) {
    throw new Error(`${name} does not match its signature: fetch it again`);
  }
  if (!crypto.verify(null, Buffer.concat([ofFile, comment]), key.key, ofComment)) {
    throw new Error(`the trusted comment of ${name} does not match its signature: fetch both again`);
  }
  // minisign writes the fields of its comment with tabs between them.
  const isNamed = comment.toString().split(/[\t ]/).includes(`file:${name}`);
  if (!isNamed) throw new Error(`the signature of ${name} is for another file: its trusted comment lacks file:${name}`);
}

interface PublicKey {
  readonly id: Buffer;
  readonly key: crypto.KeyObject;
}

function readPublicKey(text: string): PublicKey {
  const bytes = decode(linesOf(text)[1], PUBLIC_KEY);
  if (bytes === null) throw new Error("the release key of this program is damaged: install the package again");
  const key = crypto.createPublicKey({
    key: Buffer.concat([ED25519_HEADER, bytes.subarray(10)]),
    format: "der",
    type: "spki",
  });
  return { id: bytes.subarray(2, 10), key };
}

interface Signature {
  readonly keyId: Buffer;
  readonly ofFile: Buffer;
  readonly comment: Buffer;
  readonly ofComment: Buffer;
}

function readSignature(text: string): Signature {
  const [, first, comment, last] = linesOf(text);
  const bytes = decode(first, SIGNATURE);
  const ofComment = Buffer.from(last ?? "", "base64");
  const trusted = /^trusted comment: (.*)$/.exec(comment ?? "")?.[1];
  if (bytes === null || trusted === undefined || ofComment.length !== GLOBAL_SIGNATURE_BYTES) {
    throw new Error("the signature cannot be read: expected four lines of minisign, with the algorithm ED");
  }
  return { keyId: bytes.subarray(2, 10), ofFile: bytes.subarray(10), comment: Buffer.from(trusted), ofComment };
}

function linesOf(text: string): string[] {
  return text.split(/\r?\n/);
}

/** @returns null unless the line has that length and starts with the name of the algorithm */
function decode(line: string | undefined, expected: { readonly algorithm: string; readonly bytes: number }) {
  const bytes = Buffer.from(line ?? "", "base64");
  const algorithm = bytes.subarray(0, 2).toString("latin1");
  return bytes.length === expected.bytes && algorithm === expected.algorithm ? bytes : null;
}

/** Writes the id of a key as minisign does: a number with its last byte first. */
function keyName(id: Buffer): string {
  return id.readBigUInt64LE().toString(16).toUpperCase().padStart(16, "0");
}
