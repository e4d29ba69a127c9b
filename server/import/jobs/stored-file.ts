import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { FILE_BYTES_MAX } from "../table/read-table.ts";

// A file as the database keeps it: compressed, in base64, in parts that both engines store well.

const PART_BYTES = 768 * 1024;

export async function toParts(bytes: Uint8Array): Promise<string[]> {
  const packed = await promisify(gzip)(bytes, { level: 4 });
  const parts: string[] = [];
  for (let from = 0; from < packed.length; from += PART_BYTES) {
    parts.push(packed.toString("base64", from, from + PART_BYTES));
  }
  return parts;
}

export async function fromParts(parts: readonly string[]): Promise<Uint8Array> {
  const packed = Buffer.concat(parts.map((part) => Buffer.from(part, "base64")));
  return promisify(gunzip)(packed, { maxOutputLength: FILE_BYTES_MAX });
}

/** The name of a file without its folder, for people. */
export function shownName(name: string): string {
  return (name.split(/[/\\]/).at(-1) ?? "").replaceAll(/\p{C}/gu, "").slice(0, 100);
}
