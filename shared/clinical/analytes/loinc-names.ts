import { Type } from "typebox";
import { readData } from "./data.ts";

// The names of LOINC codes, as they were read in public lists. A code without a name that somebody read has none here.

const Name = Type.Object({ loinc: Type.String(), name: Type.String({ minLength: 1 }), source_id: Type.String() });

let names: ReadonlyMap<string, string> | null = null;

/** Returns the LOINC long name of a code of the catalogue; null if it was not read. */
export function loincName(loinc: string): string | null {
  names ??= new Map(readData("loinc-names.json", Type.Array(Name)).map((row) => [row.loinc, row.name]));
  return names.get(loinc) ?? null;
}
