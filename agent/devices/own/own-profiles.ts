import fs from "node:fs";
import path from "node:path";
import { errorCode, errorMessage } from "../../../shared/runtime/error-message.ts";
import { printProfile } from "../table/document.ts";
import type { AnyProfileForm } from "../table/file.ts";
import { readProfileText } from "../table/load.ts";
import type { ReadProfile } from "../table/read.ts";
import { OWN_PREFIX, parseReference, type Reference, referenceText } from "./reference.ts";
import { hashOf, readStored, writeOnce } from "./stored-file.ts";

// The clinic's own profiles in the data folder: profiles/own/<name>/<revision>.yaml, each the resolved whole. A revision never changes.

/** Folder of the profiles in the data folder. */
const PROFILES_FOLDER = "profiles";

const REVISION_MAX = 1_000_000;

/** A revision that can be used. */
export interface OwnProfile {
  /** Its name with the revision: `own/acme-x1@3`. */
  readonly reference: string;
  /** SHA-256 of its text, in hexadecimal digits. */
  readonly hash: string;
  readonly form: AnyProfileForm;
  /** Its id is the reference, so that each message keeps the revision that received it. */
  readonly profile: ReadProfile["profile"];
}

/** The reason for which a revision cannot be used. */
export interface OwnFault {
  readonly code: "PROFILE.MISSING" | "PROFILE.CHANGED" | "PROFILE.FAULTY";
  /** Each names the file, and the line if it has one. */
  readonly problems: readonly string[];
}

export class OwnProfiles {
  readonly #folder: string;
  /** The revisions that were read. They never change. */
  readonly #known = new Map<string, OwnProfile>();

  /** @param data the agent's data folder */
  constructor(data: string) {
    this.#folder = path.join(data, PROFILES_FOLDER, OWN_PREFIX);
  }

  /** Returns the references of all revisions, by name, the newest revision first. */
  list(): string[] {
    const names = entriesOf(this.#folder).toSorted();
    return names.flatMap((name) => this.#revisionsOf(name).map((revision) => referenceText({ name, revision })));
  }

  /** Reads a revision by its reference. */
  read(reference: string): OwnProfile | OwnFault {
    const known = this.#known.get(reference);
    if (known !== undefined) return known;
    const parsed = parseReference(reference);
    if (parsed === null) {
      return {
        code: "PROFILE.MISSING",
        problems: [`${reference} has no revision, expected one such as own/acme-x1@3`],
      };
    }
    try {
      const read = this.#readFile(parsed);
      if ("profile" in read) this.#known.set(reference, read);
      return read;
    } catch (error) {
      return { code: "PROFILE.FAULTY", problems: [errorMessage(error)] };
    }
  }

  /** Returns the text of a revision with its SHA-256. @returns null for one that is missing, or was edited */
  textOf(reference: string): { readonly text: string; readonly sha256: string } | null {
    const file = this.fileOf(reference);
    const stored = file === null ? null : readStored(file);
    return stored === null || stored.isChanged ? null : { text: stored.text, sha256: stored.hash };
  }

  /** Returns the file of a revision that is stored; null for another profile. */
  fileOf(reference: string): string | null {
    const parsed = parseReference(reference);
    const file = parsed === null ? null : this.#file(parsed);
    return file !== null && fs.existsSync(file) ? file : null;
  }

  /** Stores a form as the next revision of its profile; one that the latest revision equals is that one. @returns its reference */
  save(form: AnyProfileForm): string {
    const name = nameOf(form);
    for (;;) {
      const [latest = 0] = this.#revisionsOf(name);
      const before = latest === 0 ? null : this.read(referenceText({ name, revision: latest }));
      const same = { ...form, revision: latest };
      if (before !== null && "form" in before && profileText(before.form) === profileText(same))
        return before.reference;
      const next = { ...form, revision: latest + 1 };
      if (next.revision > REVISION_MAX) {
        throw new Error(`own/${name} has revision ${latest}, after which there is none: give the profile another name`);
      }
      // Another process may store the same number meanwhile.
      if (this.#write(next)) return referenceText({ name, revision: next.revision });
    }
  }

  /**
   * Stores a form under its own revision, as it came from elsewhere. @returns its reference
   * @throws Error if the revision is stored with another content
   */
  put(form: AnyProfileForm): string {
    const reference = referenceText({ name: nameOf(form), revision: form.revision });
    if (this.#write(form)) return reference;
    const stored = this.read(reference);
    if ("hash" in stored && stored.hash === hashOf(profileText(form))) return reference;
    throw new Error(`${reference} is stored with another content, expected a new revision of it`);
  }

  #write(form: AnyProfileForm): boolean {
    return writeOnce(this.#file({ name: nameOf(form), revision: form.revision }), profileText(form));
  }

  #readFile(reference: Reference): OwnProfile | OwnFault {
    const stored = readStored(this.#file(reference));
    const name = referenceText(reference);
    if (stored === null) return { code: "PROFILE.MISSING", problems: [`${this.#file(reference)} is missing`] };
    if (stored.isChanged) {
      const why = "was changed after it was stored, expected a new revision (profile import FILE)";
      return { code: "PROFILE.CHANGED", problems: [`${this.#file(reference)} ${why}`] };
    }
    const read = readProfileText(stored.text, this.#file(reference));
    if ("problems" in read) {
      return { code: "PROFILE.FAULTY", problems: read.problems.map(({ message }) => message) };
    }
    const { form, profile } = read;
    if (form.profile !== `${OWN_PREFIX}${reference.name}` || form.revision !== reference.revision) {
      return { code: "PROFILE.FAULTY", problems: [`${this.#file(reference)} is ${form.profile}@${form.revision}`] };
    }
    return { reference: name, hash: stored.hash, form, profile: { ...profile, id: name } };
  }

  #file({ name, revision }: Reference): string {
    return path.join(this.#folder, name, `${revision}.yaml`);
  }

  /** The newest first. */
  #revisionsOf(name: string): number[] {
    const found = entriesOf(path.join(this.#folder, name)).flatMap(
      (entry) => /^([1-9]\d{0,6})\.yaml$/.exec(entry)?.[1] ?? [],
    );
    return found.map(Number).toSorted((a, b) => b - a);
  }
}

/** Prints a form as people read one: what it is comes first. */
export function profileText({ schema, profile, revision, ...others }: AnyProfileForm): string {
  return printProfile({ schema, profile, revision, ...others });
}

function nameOf({ profile }: AnyProfileForm): string {
  const parsed = parseReference(`${profile}@1`);
  if (parsed === null) throw new Error(`profile is ${profile}, expected one that begins with own/ such as own/acme-x1`);
  return parsed.name;
}

function entriesOf(folder: string): string[] {
  try {
    return fs.readdirSync(folder);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errorCode(error))) return [];
    throw error;
  }
}
