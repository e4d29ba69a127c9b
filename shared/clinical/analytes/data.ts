import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Static, Type } from "typebox";
import { CODE_FOLDER } from "../../files/program-files.ts";
import { compileLater } from "../../schema/compile-later.ts";

// Reads the files of shared/data.

/** Reads the bytes of a file in shared/data, for a digest of the catalogue. */
export function dataFile(name: string): Buffer {
  return readFileSync(join(CODE_FOLDER, "shared/data", name));
}

/** Reads a file of shared/data. Throws an error with the first row that does not match the schema. */
export function readData<T extends Type.TSchema>(name: string, schema: T): Static<T> {
  const data: unknown = JSON.parse(dataFile(name).toString("utf8"));
  // A compiled check takes a quarter of the time, and every command waits for it.
  const validator = compileLater(schema);
  if (validator.Check(data)) return data;
  const [error] = validator.Errors(data);
  const row = Number(error?.instancePath.split("/")[1]);
  const text = Array.isArray(data) && Number.isInteger(row) ? ` in ${JSON.stringify(data[row])}` : "";
  throw new Error(`shared/data/${name}: ${error?.instancePath} ${error?.message}${text}`);
}
