import { createHash } from "node:crypto";
import type fs from "node:fs";
import type { ObjectSource } from "./object-store.ts";

const READ_BYTES = 1024 * 1024;

/** Hashes an open file, which the caller keeps open and unchanged until it is stored. */
export async function fileSource(file: fs.promises.FileHandle): Promise<ObjectSource> {
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of file.createReadStream({ start: 0, autoClose: false, highWaterMark: READ_BYTES })) {
    hash.update(chunk as Buffer);
    size += (chunk as Buffer).length;
  }
  return {
    size,
    sha256: hash.digest("hex"),
    async read(start, end) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
      return buffer.subarray(0, bytesRead);
    },
  };
}
