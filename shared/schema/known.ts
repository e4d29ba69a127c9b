import type { TSchema } from "typebox";

// An agent and a server one minor version apart work together: each ignores the fields of the other that it does not know.

interface Parts {
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
  readonly anyOf?: readonly TSchema[];
}

/** Copies a value without the properties that the schema lacks, at every level. A part of another type than the schema's stays. */
export function knownPart(schema: TSchema, value: unknown): unknown {
  const { properties, items, anyOf } = schema as Parts;
  if (Array.isArray(value)) return items === undefined ? value : value.map((item) => knownPart(items, item));
  if (typeof value !== "object" || value === null) return value;
  // At most one member of each union is an object; the others are null, words and numbers.
  const member = anyOf?.find((one) => (one as Parts).properties !== undefined);
  if (member !== undefined) return knownPart(member, value);
  if (properties === undefined) return value;
  const own = value as Readonly<Record<string, unknown>>;
  // Iterates the names of the schema, since the value may have hundreds of thousands of others.
  const names = Object.keys(properties).filter((name) => Object.hasOwn(own, name));
  return Object.fromEntries(names.map((name) => [name, knownPart(properties[name]!, own[name])]));
}

/**
 * Finds the first list in the value that is longer than the schema allows, without reading its items. A check of the complete
 * value could take seconds. @returns a sentence, or null if no list is too long
 */
export function overlongList(schema: TSchema, value: unknown, path = ""): string | null {
  if (typeof value !== "object" || value === null) return null;
  const { properties, items, anyOf = [], maxItems = Number.POSITIVE_INFINITY } = schema as Parts;
  if (Array.isArray(value)) {
    if (value.length > maxItems) return `${path.slice(1)} is a list of ${value.length}, at most ${maxItems}`;
    return items === undefined ? null : first(value, (item, index) => overlongList(items, item, `${path}/${index}`));
  }
  const own = properties ?? anyOf.map((one) => (one as Parts).properties).find((each) => each !== undefined) ?? {};
  const inner = value as Readonly<Record<string, unknown>>;
  const names = Object.keys(own).filter((name) => typeof inner[name] === "object");
  return first(names, (name) => overlongList(own[name]!, inner[name], `${path}/${name}`));
}

function first<Item>(items: readonly Item[], find: (item: Item, index: number) => string | null): string | null {
  for (const [index, item] of items.entries()) {
    const found = find(item, index);
    if (found !== null) return found;
  }
  return null;
}
