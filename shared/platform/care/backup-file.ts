import { createHash, type Hash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { errorCode, errorMessage } from "../../runtime/error-message.ts";
import { makePrivateFolder } from "../../files/private-folder.ts";
import { type Manifest, type Member, parseManifest } from "./manifest.ts";

// The format of a backup. The database comes first, so that SQLite opens the file as it is; SQLite ignores what follows the
// last page. The other members, a manifest and a footer follow. The footer is written last: a cut file has none.

const MAGIC = Buffer.from("VETWIRE1");
const DIGEST_BYTES = 32;
const FOOTER_BYTES = MAGIC.length + 8 + DIGEST_BYTES;
const PIECE_BYTES = 1024 * 1024;
/** Max bytes of a manifest: about a million members. */
const MANIFEST_BYTES_MAX = 256 * 1024 * 1024;

/** Callback with the bytes that are done and those of all. */
export type Progress = (done: number, total: number) => void;

/** Appends members to the database, which is the file's content so far. */
export class BackupWriter {
  readonly #descriptor: number;
  readonly #members: Member[] = [];
  readonly #piece = Buffer.alloc(PIECE_BYTES);
  #end: number;

  /** @param descriptor the open file, for reading and writing */
  constructor(descriptor: number, database: string, done: (bytes: number) => void) {
    this.#descriptor = descriptor;
    this.#end = fs.fstatSync(descriptor).size;
    const sha256 = digestOf(descriptor, 0, this.#end, this.#piece, done).toString("hex");
    this.#members.push({ name: database, offset: 0, bytes: this.#end, sha256 });
  }

  /** Appends the file's content. @returns false if there is no such file */
  add(name: string, file: string, done: (bytes: number) => void): boolean {
    let from: number;
    try {
      from = fs.openSync(file, "r");
    } catch (error) {
      if (errorCode(error) === "ENOENT") return false;
      throw error;
    }
    try {
      const offset = this.#end;
      const hash = createHash("sha256");
      for (;;) {
        const length = fs.readSync(from, this.#piece, 0, PIECE_BYTES, null);
        if (length === 0) break;
        const bytes = this.#piece.subarray(0, length);
        hash.update(bytes);
        this.#append(bytes);
        done(length);
      }
      this.#members.push({ name, offset, bytes: this.#end - offset, sha256: hash.digest("hex") });
      return true;
    } finally {
      fs.closeSync(from);
    }
  }

  /** Appends manifest and footer, and syncs the file. @returns the bytes of the file */
  end(manifest: Omit<Manifest, "members">): number {
    const text = Buffer.from(JSON.stringify({ ...manifest, members: this.#members } satisfies Manifest));
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(text.length));
    this.#append(text);
    // The manifest is on the disk before the footer that vouches for it.
    fs.fsyncSync(this.#descriptor);
    this.#append(Buffer.concat([MAGIC, length, createHash("sha256").update(text).digest()]));
    fs.fsyncSync(this.#descriptor);
    return this.#end;
  }

  #append(bytes: Uint8Array): void {
    for (let written = 0; written < bytes.length; ) {
      written += fs.writeSync(this.#descriptor, bytes, written, bytes.length - written, this.#end + written);
    }
    this.#end += bytes.length;
  }
}

/** Reads the manifest. @throws Error if the file is not a complete backup */
export function readManifest(file: string): Manifest {
  // The opening of a pipe would wait for its writer.
  if (!fs.statSync(file).isFile()) throw new Error(`${file} is not a file, expected the file of a backup`);
  const descriptor = fs.openSync(file, "r");
  try {
    const { size } = fs.fstatSync(descriptor);
    const footer = readAt(descriptor, Math.max(0, size - FOOTER_BYTES), Math.min(size, FOOTER_BYTES));
    if (footer.length < FOOTER_BYTES || !footer.subarray(0, MAGIC.length).equals(MAGIC)) {
      throw new Error(`${file} is not a complete backup: it is cut, or another program wrote it. Use another backup`);
    }
    const length = Number(footer.readBigUInt64BE(MAGIC.length));
    const start = size - FOOTER_BYTES - length;
    const text = start >= 0 && length <= MANIFEST_BYTES_MAX ? readAt(descriptor, start, length) : Buffer.alloc(0);
    const digest = createHash("sha256").update(text).digest();
    if (!digest.equals(footer.subarray(-DIGEST_BYTES))) throw damaged(file, "its list of contents has changed");
    try {
      return parseManifest(text.toString(), start);
    } catch (error) {
      throw new Error(`${file} has a wrong list of contents: ${errorMessage(error)}. Use another backup`, {
        cause: error,
      });
    }
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Reads every member. @throws Error for the first member that differs from the manifest */
export function checkMembers(file: string, { members }: Manifest, progress: Progress): void {
  const total = members.reduce((sum, { bytes }) => sum + bytes, 0);
  const descriptor = fs.openSync(file, "r");
  try {
    const piece = Buffer.alloc(PIECE_BYTES);
    let done = 0;
    for (const { name, offset, bytes, sha256 } of members) {
      const digest = digestOf(descriptor, offset, bytes, piece, (length) => progress((done += length), total));
      if (digest.toString("hex") !== sha256) throw damaged(file, `${name} in it has changed`);
    }
  } finally {
    fs.closeSync(descriptor);
  }
}

/** A backup that is open for reading. Its members may be written with the rights of a user who cannot read it. */
export interface OpenBackup {
  readonly file: string;
  readonly descriptor: number;
}

export function withBackup<Result>(file: string, work: (backup: OpenBackup) => Result): Result {
  const descriptor = fs.openSync(file, "r");
  try {
    return work({ file, descriptor });
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Writes a member to a new private file and syncs it. @throws Error if its bytes differ from the manifest */
export function extractMember(backup: OpenBackup, { name, offset, bytes, sha256 }: Member, target: string): void {
  makePrivateFolder(path.dirname(target));
  fs.rmSync(target, { force: true });
  // A new file alone, so that a link in its place is not followed.
  const to = fs.openSync(target, "wx", 0o600);
  try {
    const piece = Buffer.alloc(PIECE_BYTES);
    const hash = createHash("sha256");
    for (const length of readPieces(backup.descriptor, offset, bytes, piece)) {
      hash.update(piece.subarray(0, length));
      for (let at = 0; at < length; ) at += fs.writeSync(to, piece, at, length - at);
    }
    if (hash.digest("hex") !== sha256) throw damaged(backup.file, `${name} in it has changed`);
    fs.fsyncSync(to);
  } finally {
    fs.closeSync(to);
  }
}

function digestOf(
  descriptor: number,
  offset: number,
  bytes: number,
  piece: Buffer,
  done: (bytes: number) => void,
): Buffer {
  const hash: Hash = createHash("sha256");
  for (const length of readPieces(descriptor, offset, bytes, piece)) {
    hash.update(piece.subarray(0, length));
    done(length);
  }
  return hash.digest();
}

/** Reads a range of a file piece by piece into `piece`. Yields the length of each, and ends early at the end of the file. */
function* readPieces(descriptor: number, offset: number, bytes: number, piece: Buffer): Generator<number> {
  for (let at = 0; at < bytes; ) {
    const length = fs.readSync(descriptor, piece, 0, Math.min(piece.length, bytes - at), offset + at);
    if (length === 0) return;
    at += length;
    yield length;
  }
}

function readAt(descriptor: number, offset: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  let at = 0;
  for (let length = -1; at < bytes && length !== 0; at += length) {
    length = fs.readSync(descriptor, buffer, at, bytes - at, offset + at);
  }
  return buffer.subarray(0, at);
}

function damaged(file: string, what: string): Error {
  return new Error(`${file} is damaged, ${what}: use another backup`);
}
