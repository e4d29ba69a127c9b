import type { AnyProfileForm } from "./file.ts";

// A clinic's profile may begin with a shipped one, `extends: generic-hl7@1`, and state what differs. One level, and only the revision
// that it names: the resolved whole is what is kept, so that a new release changes no profile.

/** Returns the shipped form of an id; null without one. */
export type BaseOf = (id: string) => AnyProfileForm | null;

/** The reason for which a form has no base, for the sentence "extends X". */
export class BaseError extends Error {}

type Values = Readonly<Record<string, unknown>>;

const BASE = /^([a-z0-9][a-z0-9-]{0,62})@([1-9]\d{0,5})$/;

/**
 * Merges a form with its base: maps merge, lists and texts replace, null removes. The whole has no `extends`. Its identity and its evidence
 * are its own: what proves the base proves no other device. The form is as read and the whole not yet checked. @throws a BaseError
 */
export function resolveForm(form: Values, baseOf: BaseOf): Values {
  const { extends: written, ...own } = form;
  if (written === undefined) return own;
  const [, id = "", revision] = (typeof written === "string" ? BASE.exec(written) : null) ?? [];
  if (revision === undefined) {
    throw new BaseError(`is ${JSON.stringify(written)}, expected a profile with its revision such as generic-hl7@1`);
  }
  const base = baseOf(id);
  if (base === null) throw new BaseError(`is ${id}, a profile that this release does not have as a file`);
  if (base.revision !== Number(revision)) {
    throw new BaseError(`is ${id}@${revision}, but this release has ${id}@${base.revision}`);
  }
  const { schema: _schema, profile: _profile, revision: _revision, evidence: _evidence, ...inherited } = base;
  return merged(inherited, own) as Values;
}

/** Merges a value with one that states what differs. */
export function merged(base: unknown, own: unknown): unknown {
  if (!isMap(own)) return own;
  const kept = isMap(base) ? base : {};
  const keys = new Set([...Object.keys(kept), ...Object.keys(own)]);
  const pairs = [...keys]
    .filter((key) => !Object.hasOwn(own, key) || own[key] !== null)
    .map((key) => [key, Object.hasOwn(own, key) ? merged(valueAt(kept, key), own[key]) : kept[key]] as const);
  return Object.fromEntries(pairs);
}

function valueAt(map: Values, key: string): unknown {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

function isMap(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
