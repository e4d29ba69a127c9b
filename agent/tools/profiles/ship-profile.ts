import fs from "node:fs";
import path from "node:path";
import { profileText } from "../../devices/own/own-profiles.ts";
import { readProfileText, shippedForm } from "../../devices/table/load.ts";
import type { ReadProfileFile } from "./profile-file.ts";

// Makes the file of a clinic's profile one of the project's: agent/devices/<protocol>/<id>.yaml and its fixtures.

/** The place at which `index.ts` lists the last of the special profiles. */
const LAST_SPECIAL = '  file("generic-hl7"),\n';

/**
 * Writes into the sources below `root`. @returns the written files
 * @throws Error for a folder without the sources, and for a profile that is shipped already
 */
export function shipProfile(root: string, { form, captures }: ReadProfileFile): string[] {
  const id = form.profile.replace(/^own\//, "");
  const index = path.join(root, "agent/devices/index.ts");
  if (!fs.existsSync(index))
    throw new Error(`${root} has no agent/devices/index.ts, expected the folder of the sources`);
  if (shippedForm(id) !== null) throw new Error(`${id} is shipped already: raise its revision by hand`);
  const shipped = { ...form, profile: id, revision: 1 };
  const file = path.join(root, "agent/devices", form.protocol, `${id}.yaml`);
  const text = profileText(shipped);
  const read = readProfileText(text, file);
  if ("problems" in read) throw new Error(read.problems.map(({ message }) => message).join("\n"));
  const listed = fs.readFileSync(index, "utf8");
  const written = [
    writeNew(file, text),
    ...[...captures].map(([name, bytes]) =>
      writeNew(path.join(root, "fixtures", id, name.replace(/^captures\//, "case-")), bytes),
    ),
  ];
  fs.writeFileSync(index, listed.replace(LAST_SPECIAL, `  file("${id}"),\n${LAST_SPECIAL}`));
  return [...written, index];
}

function writeNew(file: string, content: string | Uint8Array): string {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, content, { flag: "wx" });
  return file;
}
