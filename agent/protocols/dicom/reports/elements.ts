// Reads elements of a parsed dataset. Their shape is checked, because a third-party parser supplies them.

/** Elements by their tag in eight hex digits. */
export type Elements = Readonly<Record<string, unknown>>;

export interface Code {
  readonly value: string;
  /** Coding scheme designator in upper case. */
  readonly scheme: string;
  readonly meaning: string;
}

/** Max characters of a text; the rest is cut off. */
const TEXT_LENGTH_MAX = 1_000;

/** Returns the first value as text, "" without one. */
export function text(elements: Elements, tag: string): string {
  return asText(values(elements, tag)[0]);
}

export function texts(elements: Elements, tag: string): string[] {
  return values(elements, tag).map(asText);
}

/** Returns the first value as bytes, none without one. */
export function binary(elements: Elements, tag: string): Uint8Array {
  const [value] = values(elements, tag);
  return value instanceof ArrayBuffer ? new Uint8Array(value) : new Uint8Array();
}

export function items(elements: Elements, tag: string): Elements[] {
  return values(elements, tag).filter(isObject);
}

/** Returns the codes of a code sequence (PS3.3 §8). */
export function codes(elements: Elements, tag: string): Code[] {
  return items(elements, tag).map((item) => ({
    // Long Code Value and URN Code Value have elements of their own.
    value: text(item, "00080100") || text(item, "00080119") || text(item, "00080120"),
    scheme: text(item, "00080102").toUpperCase(),
    meaning: text(item, "00080104"),
  }));
}

function values(elements: Elements, tag: string): readonly unknown[] {
  const element = elements[tag];
  const list = isObject(element) ? element["Value"] : undefined;
  return Array.isArray(list) ? list : [];
}

function asText(value: unknown): string {
  if (typeof value === "string") return value.replaceAll("\0", "").trim().slice(0, TEXT_LENGTH_MAX);
  if (typeof value === "number") return String(value);
  // The parser gives the representations of a person name as properties.
  return isObject(value) ? asText(value["Alphabetic"] ?? value["Ideographic"]) : "";
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
