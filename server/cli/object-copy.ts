import fs from "node:fs";
import path from "node:path";
import { printLine } from "../../shared/cli/output.ts";
import { fileSource } from "../../shared/objects/file-source.ts";
import { type ObjectOptions, objectStoreOf } from "./object-options.ts";

// Copies of exports and backups in a bucket.

/**
 * Makes the copy of a file that a command has written: under the name of the file, read back, in parts if it is long. Without a bucket
 * there is none. Checks the options at once, before the command writes the file.
 * @throws Error for options that do not fit @returns a function that copies, and throws if the store does not return the bytes
 */
export function copier(options: ObjectOptions): (file: string, type: string) => Promise<void> {
  const store = objectStoreOf(options);
  return async (file, type) => {
    if (store === null) return;
    const handle = await fs.promises.open(file);
    try {
      const name = path.basename(file);
      await store.store(name, type, await fileSource(handle));
      printLine(`${file}: copied to ${options.objects ?? ""} as ${name}, and read back`);
    } finally {
      await handle.close();
    }
  };
}
