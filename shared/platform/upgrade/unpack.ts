import fs from "node:fs";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import zlib from "node:zlib";
import { syncFolder } from "../../files/private-folder.ts";

// Unpacks a .tar.gz of ustar (POSIX.1-2024, pax, "ustar Interchange Format"): files and folders, no links. It runs in the process
// that serves devices, so nothing here blocks it for long.

const BLOCK = 512;
/** A program's folder has 200 files in 300 MB. */
const BYTES_MAX = 2 * 1024 ** 3;
const ENTRIES_MAX = 20_000;

interface Header {
  readonly name: string;
  readonly size: number;
  readonly isExecutable: boolean;
  readonly is: "file" | "folder";
}

/**
 * Unpacks the folder `top` of an archive as `folder`, which must not exist. Every file is on the disk at the end.
 * @throws Error for an archive with anything outside `top`, with links, or that is cut
 */
export async function unpack(archive: string, top: string, folder: string): Promise<void> {
  fs.mkdirSync(folder, { mode: 0o700 });
  await pipeline(fs.createReadStream(archive), zlib.createGunzip(), async (bytes: AsyncIterable<Buffer>) => {
    await readEntries(new Blocks(bytes), top, folder);
  });
  syncTree(folder);
}

async function readEntries(blocks: Blocks, top: string, folder: string): Promise<void> {
  let [entries, total] = [0, 0];
  for (;;) {
    const block = await blocks.take(BLOCK);
    // Two blocks of zeros end the archive.
    if (block.every((byte) => byte === 0)) break;
    const header = readHeader(block);
    entries += 1;
    total += header.size;
    if (entries > ENTRIES_MAX || total > BYTES_MAX) throw new Error("the archive is larger than any release");
    const place = placeOf(header.name, top, folder);
    if (header.is === "folder") fs.mkdirSync(place, { recursive: true, mode: 0o755 });
    else await writeFile(place, header, blocks);
  }
  await blocks.drain();
}

async function writeFile(file: string, { size, isExecutable }: Header, blocks: Blocks): Promise<void> {
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o755 });
  const handle = await fs.promises.open(file, "wx", isExecutable ? 0o755 : 0o644);
  try {
    for (let left = size; left > 0; ) {
      const bytes = await blocks.takeSome(left);
      await handle.writeFile(bytes);
      left -= bytes.length;
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  await blocks.take((BLOCK - (size % BLOCK)) % BLOCK);
}

function readHeader(block: Buffer): Header {
  const text = (from: number, length: number) => {
    const field = block.subarray(from, from + length);
    const end = field.indexOf(0);
    return field.subarray(0, end === -1 ? length : end).toString();
  };
  // The sum counts its own field as spaces.
  const sum = block.reduce((all, byte, at) => all + (at >= 148 && at < 156 ? 0x20 : byte), 0);
  if (text(257, 5) !== "ustar" || sum !== octal(text(148, 8))) throw new Error("the archive is not a ustar file");
  const prefix = text(345, 155);
  const name = `${prefix === "" ? "" : `${prefix}/`}${text(0, 100)}`;
  const type = text(156, 1);
  if (type !== "0" && type !== "" && type !== "5") throw new Error(`${name} in the archive is neither file nor folder`);
  const is = type === "5" ? "folder" : "file";
  const size = is === "folder" ? 0 : octal(text(124, 12));
  return { name, size, isExecutable: (octal(text(100, 8)) & 0o111) !== 0, is };
}

function octal(text: string): number {
  const digits = text.trim();
  if (!/^[0-7]{1,12}$/.test(digits)) throw new Error("the archive is damaged: a number in it is not octal");
  return Number.parseInt(digits, 8);
}

/** @throws Error for a name outside `top` */
function placeOf(name: string, top: string, folder: string): string {
  const [first, ...parts] = name.replace(/\/$/, "").split("/");
  const isInside = first === top && parts.every((part) => /^[^\\:\0]+$/.test(part) && part !== "." && part !== "..");
  if (!isInside) throw new Error(`${name} in the archive is outside of ${top}/`);
  return path.join(folder, ...parts);
}

/** A stream, read in lengths that the reader chooses. */
class Blocks {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** @throws Error if the stream ends before */
  async take(length: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let left = length; left > 0; ) {
      const part = await this.takeSome(left);
      parts.push(part);
      left -= part.length;
    }
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  }

  /** @returns at least one byte, at most `length` */
  async takeSome(length: number): Promise<Buffer> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#chunks.next();
      if (done === true) throw new Error("the archive is cut");
      this.#rest = value;
    }
    const taken = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return taken;
  }

  /** Reads to the end, so that the checksum of gzip is compared. */
  async drain(): Promise<void> {
    while ((await this.#chunks.next()).done !== true);
  }
}

/** Syncs the names of a tree of folders to the disk. */
function syncTree(folder: string): void {
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) syncFolder(path.join(entry.parentPath, entry.name));
  }
  syncFolder(folder);
}
