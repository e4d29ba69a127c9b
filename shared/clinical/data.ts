import { readFileSync } from "node:fs";
import type { Static, Type } from "typebox";
import { Value } from "typebox/value";

// Reads the files of shared/data.

/** Reads the bytes of a file in shared/data, for a digest of the catalogue. */
export function dataFile(name: string): Buffer {
  return readFileSync(new URL(`../data/${name}`, import.meta.url));
}

/** Reads a file of shared/data. Throws an error with the first row that does not match the schema. */
export function readData<T extends Type.TSchema>(name: string, schema: T): Static<T> {
  const data: unknown = JSON.parse(dataFile(name).toString("utf8"));
  if (Value.Check(schema, data)) return data;
  const [error] = Value.Errors(schema, data);
  const row = Number(error?.instancePath.split("/")[1]);
  const text = Array.isArray(data) && Number.isInteger(row) ? ` in ${JSON.stringify(data[row])}` : "";
  throw new Error(`shared/data/${name}: ${error?.instancePath} ${error?.message}${text}`);
}
