import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Compile } from "typebox/compile";
import { parse } from "yaml";
import { problems } from "../../../shared/schema/problems.ts";
import type { AstmProfile } from "../../protocols/astm/profile.ts";
import type { Hl7Profile } from "../../protocols/hl7/profile.ts";
import { astmProfile } from "./astm.ts";
import { hl7Profile } from "./hl7.ts";
import { ProfileForm } from "./schema.ts";

// Reads the profiles that are files: agent/devices/<protocol>/*.yaml.

type FileProfile = AstmProfile | Hl7Profile;

const validator = Compile(ProfileForm);

/** Reads a profile's text. @throws an Error with the file's name and all problems of its form, or the first of its meaning */
function readProfile(text: string, file: string): FileProfile {
  const form: unknown = parse(text, { schema: "core" });
  if (!validator.Check(form)) throw new Error(`${file}: ${problems(validator, form).join("; ")}`);
  try {
    return form.protocol === "astm" ? astmProfile(form) : hl7Profile(form);
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** Reads the profiles below a folder with a folder per protocol, by their ids. */
export function readProfiles(root: string): ReadonlyMap<string, FileProfile> {
  const found = new Map<string, FileProfile>();
  for (const protocol of ["astm", "hl7"]) {
    const folder = join(root, protocol);
    for (const name of readdirSync(folder).filter((each) => each.endsWith(".yaml"))) {
      const profile = readProfile(readFileSync(join(folder, name), "utf8"), `${protocol}/${name}`);
      if (`${profile.id}.yaml` !== name) throw new Error(`${protocol}/${name}: its profile is ${profile.id}`);
      found.set(profile.id, profile);
    }
  }
  return found;
}
