// The objects of a PDF by their numbers, found by their marks and not by the table at its end, which a damaged file lacks.

export interface PdfObject {
  readonly dictionary: string;
  /** Unpacked; null for an object without a stream, or one that is packed in another way. */
  readonly stream: Uint8Array | null;
}

const OBJECTS_MAX = 20_000;
/** Max bytes of the text of an object without its stream. */
const DICTIONARY_MAX = 20_000;

/** Returns the objects; null for an encrypted document and for other bytes. A later object takes the place of an earlier one. */
export function pdfObjects(
  bytes: Uint8Array,
  unpack: (packed: Uint8Array) => Uint8Array,
): ReadonlyMap<number, PdfObject> | null {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  if (!text.startsWith("%PDF-") || /\/Encrypt\s+\d+\s+\d+\s+R/.test(text)) return null;
  const objects = new Map<number, PdfObject>();
  const heads = /(\d{1,9})\s{1,9}\d{1,5}\s{1,9}obj\b/g;
  for (let head = heads.exec(text); head !== null && objects.size < OBJECTS_MAX; head = heads.exec(text)) {
    const id = Number(head[1]);
    const start = heads.lastIndex;
    const body = text.slice(start, start + DICTIONARY_MAX);
    const end = /endobj|stream\r?\n/.exec(body);
    const dictionary = end === null ? body : body.slice(0, end.index);
    const isStream = end !== null && end[0].startsWith("stream");
    const from = start + (end === null ? body.length : end.index + end[0].length);
    const close = isStream ? text.indexOf("endstream", from) : from;
    const to = close < 0 ? text.length : close;
    const stream = isStream ? streamOf(bytes.subarray(from, to), dictionary, unpack) : null;
    objects.set(id, { dictionary, stream });
    // A stream may hold anything, also what looks like an object.
    heads.lastIndex = to;
    if (stream !== null && /\/Type\s*\/ObjStm\b/.test(dictionary)) addPacked(objects, dictionary, stream);
  }
  return objects;
}

function streamOf(raw: Uint8Array, dictionary: string, unpack: (packed: Uint8Array) => Uint8Array): Uint8Array | null {
  // Pictures and fonts are large, and have no text.
  if (/\/Subtype\s*\/Image\b|\/Length1\b|\/FontFile/.test(dictionary)) return null;
  const filter = valueOf(dictionary, /\/Filter\s*(?=[[/])/, /^(?:\[[^\]]*\]|\/\w+)/);
  if (filter === "") return raw;
  return /^\[?\s*\/(?:FlateDecode|Fl)\s*\]?$/.test(filter) ? unpack(raw) : null;
}

/** Returns the text of `value` after the first `key`; "" without one. One pattern for both takes hours if many keys have no end. */
export function valueOf(dictionary: string, key: RegExp, value: RegExp): string {
  const at = key.exec(dictionary);
  return at === null ? "" : (value.exec(dictionary.slice(at.index + at[0].length))?.[0] ?? "");
}

/** Adds the objects of an object stream: numbers and offsets, then the objects. */
function addPacked(objects: Map<number, PdfObject>, dictionary: string, stream: Uint8Array): void {
  const first = Number(/\/First\s+(\d+)/.exec(dictionary)?.[1]);
  const text = Buffer.from(stream).toString("latin1");
  const numbers = (text.slice(0, first).match(/\d+/g) ?? []).map(Number);
  for (let at = 0; at + 1 < numbers.length && objects.size < OBJECTS_MAX; at += 2) {
    const [id, offset] = [numbers[at]!, numbers[at + 1]!];
    const end = Math.min(numbers[at + 3] ?? text.length, offset + DICTIONARY_MAX);
    objects.set(id, { dictionary: text.slice(first + offset, first + end), stream: null });
  }
}
