import type { TSchema } from "typebox";

// An agent and a server one minor version apart work together: what one does not know of the other's words it passes over.

interface Parts {
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
  readonly anyOf?: readonly TSchema[];
}

/** The value without the properties that the schema's objects do not name, at every level; what is of another form stays as it is. */
export function knownPart(schema: TSchema, value: unknown): unknown {
  const { properties, items, anyOf } = schema as Parts;
  if (Array.isArray(value)) return items === undefined ? value : value.map((item) => knownPart(items, item));
  if (typeof value !== "object" || value === null) return value;
  // At most one member of each union is an object; the others are null, words and numbers.
  const member = anyOf?.find((one) => (one as Parts).properties !== undefined);
  if (member !== undefined) return knownPart(member, value);
  if (properties === undefined) return value;
  const entries = Object.entries(value).filter(([name]) => Object.hasOwn(properties, name));
  return Object.fromEntries(entries.map(([name, inner]) => [name, knownPart(properties[name]!, inner)]));
}
