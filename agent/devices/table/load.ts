import { readdirSync, readFileSync } from "node:fs";
import { join, parse as parsePath } from "node:path";
import { parse } from "yaml";
import { CODE_FOLDER } from "../../../shared/files/program-files.ts";
import type { AnyProfileForm } from "./file.ts";
import { type ProfileProblems, type ReadProfile, readProfile, readShipped } from "./read.ts";

// The profiles that the program ships: agent/devices/<protocol>/*.yaml, which a build has as JSON. A clinic's own profile may extend one.

const ROOT = join(CODE_FOLDER, "agent/devices");
const PROTOCOLS = ["astm", "hl7", "text", "file"];

let shipped: ReadonlyMap<string, ReadProfile> | null = null;

/** Returns the profiles that are files, by their ids. @throws an Error with the problems of a faulty file */
export function shippedProfiles(): ReadonlyMap<string, ReadProfile> {
  shipped ??= readAll();
  return shipped;
}

function readAll(): ReadonlyMap<string, ReadProfile> {
  const found = new Map<string, ReadProfile>();
  for (const protocol of PROTOCOLS) {
    for (const file of readdirSync(join(ROOT, protocol)).filter((each) => /\.(?:yaml|json)$/.test(each))) {
      const name = `${protocol}/${file}`;
      const text = readFileSync(join(ROOT, name), "utf8");
      const form: unknown = file.endsWith(".json") ? JSON.parse(text) : parse(text, { schema: "core" });
      const read = readShipped(form, name);
      if (parsePath(file).name !== read.form.profile) throw new Error(`${name}: its profile is ${read.form.profile}`);
      found.set(read.form.profile, read);
    }
  }
  return found;
}

/** Returns the form of a shipped profile; null if no file has this id. */
export function shippedForm(id: string): AnyProfileForm | null {
  return shippedProfiles().get(id)?.form ?? null;
}

/**
 * Reads the text of a profile, which may extend a shipped one. `where`: its file, for the sentences. `captures`: how many captures lie
 * beside it; null if that is unknown. Never throws.
 */
export function readProfileText(
  text: string,
  where: string,
  captures: number | null = null,
): ReadProfile | ProfileProblems {
  return readProfile(text, where, shippedForm, captures);
}
