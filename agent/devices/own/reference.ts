// A clinic's own profile is named with its revision, as in `profile: own/acme-x1@3` of agent.yaml.

export const OWN_PREFIX = "own/";

const REFERENCE = /^own\/([a-z0-9][a-z0-9-]{0,62})@([1-9]\d{0,6})$/;

export interface Reference {
  /** The name without the prefix: `acme-x1`. */
  readonly name: string;
  readonly revision: number;
}

/** Whether a text names a profile of the clinic, with or without its revision. */
export function isOwn(profile: string): boolean {
  return profile.startsWith(OWN_PREFIX);
}

/** @returns null for a text that names no revision of an own profile */
export function parseReference(text: string): Reference | null {
  const [, name, revision] = REFERENCE.exec(text) ?? [];
  return name === undefined ? null : { name, revision: Number(revision) };
}

export function referenceText({ name, revision }: Reference): string {
  return `${OWN_PREFIX}${name}@${revision}`;
}
