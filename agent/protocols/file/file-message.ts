import { createHash } from "node:crypto";

// A file as a message: a line with its length and its name, then its bytes. The name belongs to the message, because a program may
// export the same content twice, and because a person looks for it.

/** Max characters of the line, in JSON. A name has at most 255. */
const HEADER_BYTES_MAX = 4096;

const LF = 0x0a;

export interface FileHeader {
  readonly name: string;
  readonly bytes: number;
}

export interface FileMessage {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** @returns the bytes before those of the file */
export function fileHeader({ name, bytes }: FileHeader): Uint8Array {
  return Buffer.from(`FILE ${bytes} ${JSON.stringify(name)}\n`);
}

/** Reads the line. @returns null while it has not come; a problem for other bytes */
export function readFileHeader(
  message: Uint8Array,
): { readonly header: FileHeader; readonly length: number } | { readonly problem: string } | null {
  const end = message.subarray(0, HEADER_BYTES_MAX).indexOf(LF);
  if (end < 0) return message.length < HEADER_BYTES_MAX ? null : { problem: "the line before the file has no end" };
  const [, bytes, name = ""] = /^FILE (\d{1,12}) (".*")$/.exec(Buffer.from(message.subarray(0, end)).toString()) ?? [];
  const read = nameOf(name);
  if (read === null) return { problem: "the line before the file names no file" };
  return { header: { name: read, bytes: Number(bytes) }, length: end + 1 };
}

function nameOf(text: string): string | null {
  try {
    const name = JSON.parse(text) as unknown;
    return typeof name === "string" && name !== "" ? name : null;
  } catch {
    return null;
  }
}

/** @returns the key that only the same content under the same name has */
export function fileKey(message: Uint8Array): string {
  return `FILE ${createHash("sha256").update(message).digest("hex")}`;
}

/** Reads a message of the spool. @returns null for one that is not a complete file */
export function readFileMessage(message: Uint8Array): FileMessage | null {
  const read = readFileHeader(message);
  if (read === null || "problem" in read) return null;
  const bytes = message.subarray(read.length);
  return bytes.length === read.header.bytes ? { name: read.header.name, bytes } : null;
}
