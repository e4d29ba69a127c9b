import crypto from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { archiveName, type Release } from "../../../shared/api/upgrade.ts";

// Releases signed as minisign does it, with a key of the test.

export class ReleaseKey {
  readonly #id = crypto.randomBytes(8);
  readonly #pair = crypto.generateKeyPairSync("ed25519");

  /** The text of the file with the public key. */
  get publicKey(): string {
    const raw = this.#pair.publicKey.export({ format: "der", type: "spki" }).subarray(-32);
    return `untrusted comment: a key\n${Buffer.concat([Buffer.from("Ed"), this.#id, raw]).toString("base64")}\n`;
  }

  /** Signs bytes under a name. */
  sign(bytes: Buffer, name: string): string {
    const sign = (signed: Buffer) => crypto.sign(null, signed, this.#pair.privateKey);
    const ofFile = sign(crypto.createHash("blake2b512").update(bytes).digest());
    const comment = `timestamp:1\tfile:${name}\thashed`;
    const first = Buffer.concat([Buffer.from("ED"), this.#id, ofFile]).toString("base64");
    const last = sign(Buffer.concat([ofFile, Buffer.from(comment)])).toString("base64");
    return `untrusted comment: a signature\n${first}\ntrusted comment: ${comment}\n${last}\n`;
  }

  /** Writes an archive of these bytes with its signature. @returns its path */
  write(folder: string, release: Release, bytes = Buffer.from(`archive of ${release.version}`)): string {
    const name = archiveName(release);
    const file = path.join(folder, name);
    fs.writeFileSync(file, bytes);
    fs.writeFileSync(`${file}.minisig`, this.sign(bytes, name));
    return file;
  }
}
