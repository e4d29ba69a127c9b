import type { MakerNode } from "../page/types/maker.ts";
import { decodeFrom, decodeText } from "../protocols/hl7/message/charset.ts";

// A message as a tree of its bytes: records, fields, components. A click on a node is exact, since a node has the range of its bytes.

export type TreeProtocol = "astm" | "hl7";

export function isTreeProtocol(protocol: string): protocol is TreeProtocol {
  return protocol === "astm" || protocol === "hl7";
}

/** Max bytes of a message that the maker shows. */
export const MAKER_BYTES_MAX = 1024 * 1024;

const TWO_BYTES: readonly string[] = ["gb18030", "big5", "euc-kr"];

interface Delimiters {
  readonly field: string;
  readonly repeat: string;
  readonly component: string;
}

/** Returns the tree of a message without its frame. @returns null if it has no header of the protocol */
export function messageTree(bytes: Uint8Array, protocol: TreeProtocol): MakerNode | null {
  const { charset } = decodeText(bytes, {});
  const decode: Reader["decode"] = ({ from, to }) => decodeFrom(charset, bytes.subarray(from, to));
  // A character a byte: the offsets of the text are those of the bytes.
  const latin = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  // The second byte of a Chinese character may be that of a delimiter.
  const text = TWO_BYTES.includes(charset) ? latin.replaceAll(/[\x81-\xfe][^\r\n]/g, "\x81\x81") : latin;
  const lines = linesOf(text, protocol);
  const header = lines[0];
  if (header === undefined) return null;
  const delimiters = delimitersOf(text.slice(header.from, header.to), protocol);
  if (delimiters === null) return null;
  const children = lines.map((line) => recordNode(text, line, { delimiters, protocol, decode }));
  return { place: "", kind: "message", from: 0, to: bytes.length, text: "", children };
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** Returns the ranges of the records. A line of HL7 that starts no segment continues the one before. */
function linesOf(text: string, protocol: TreeProtocol): Range[] {
  const lines: { from: number; to: number }[] = [];
  const start = protocol === "hl7" ? text.search(/MSH[^A-Za-z0-9\s]/) : text.search(/H[^A-Za-z0-9\s]{3}/i);
  if (start < 0) return [];
  const field = text[start + (protocol === "hl7" ? 3 : 1)] ?? "|";
  for (const match of text.slice(start).matchAll(/[^\r\n]+/g)) {
    const line = match[0].trimStart();
    const from = start + match.index + (match[0].length - line.length);
    const to = start + match.index + match[0].length;
    const last = lines.at(-1);
    const starts = protocol === "astm" || (/^[A-Za-z][A-Za-z0-9]{2}/.test(line) && (line[3] ?? field) === field);
    if (starts) lines.push({ from, to });
    else if (last !== undefined && /[!-~\u00a0-\uffff]/.test(line)) last.to = to;
  }
  return lines;
}

function delimitersOf(header: string, protocol: TreeProtocol): Delimiters | null {
  const at = protocol === "hl7" ? 3 : 1;
  const [field = "", one = "", two = ""] = header.slice(at, at + 3);
  if ([field, one, two].some((char) => char === "" || /[A-Za-z0-9\s]/.test(char))) return null;
  // HL7 declares the component first, ASTM the repeat.
  return protocol === "hl7" ? { field, component: one, repeat: two } : { field, repeat: one, component: two };
}

interface Reader {
  readonly delimiters: Delimiters;
  readonly protocol: TreeProtocol;
  readonly decode: (range: Range) => string;
}

function recordNode(text: string, { from, to }: Range, reader: Reader): MakerNode {
  const { delimiters, protocol, decode } = reader;
  const parts = partsOf(text, { from, to }, delimiters.field);
  const name = text
    .slice(parts[0]?.from ?? from, parts[0]?.to ?? to)
    .trim()
    .toUpperCase();
  const isHeader = name === (protocol === "hl7" ? "MSH" : "H");
  // MSH-1 is the separator itself; the type of a record of ASTM is its first field.
  const shift = protocol === "hl7" && !isHeader ? 0 : 1;
  const fields = parts.slice(1).map((part, index) => {
    const place = `${name}-${index + 1 + shift}`;
    // The second field of a header declares the delimiters.
    if (isHeader && index === 0) return leaf(place, "field", part, decode);
    return fieldNode(text, place, part, reader);
  });
  return { place: name, kind: "record", from, to, text: decode({ from, to }), children: fields };
}

function fieldNode(text: string, place: string, range: Range, { delimiters, decode }: Reader): MakerNode {
  const repeats = partsOf(text, range, delimiters.repeat);
  const components = (part: Range, isFirst: boolean): MakerNode[] => {
    const parts = partsOf(text, part, delimiters.component);
    if (parts.length === 1) return [];
    return parts.map((each, index) => leaf(isFirst ? `${place}.${index + 1}` : "", "component", each, decode));
  };
  const [first = range] = repeats;
  const children =
    repeats.length === 1
      ? components(first, true)
      : repeats.map((part, index) => ({
          ...leaf(place, "repeat", part, decode),
          children: components(part, index === 0),
        }));
  return { ...leaf(place, "field", range, decode), children };
}

function leaf(place: string, kind: MakerNode["kind"], { from, to }: Range, decode: Reader["decode"]): MakerNode {
  return { place, kind, from, to, text: decode({ from, to }), children: [] };
}

function partsOf(text: string, { from, to }: Range, delimiter: string): Range[] {
  const parts: Range[] = [];
  let start = from;
  for (let at = text.indexOf(delimiter, from); at >= 0 && at < to; at = text.indexOf(delimiter, start)) {
    parts.push({ from: start, to: at });
    start = at + 1;
  }
  return [...parts, { from: start, to }];
}

/** Returns all nodes below a node, in the order of their bytes. */
export function* nodesOf(node: MakerNode): Generator<MakerNode> {
  for (const child of node.children) {
    yield child;
    yield* nodesOf(child);
  }
}

/** Returns the node of a place in a record; null if the record is shorter. A field without components is its first component. */
export function nodeAt(record: MakerNode, place: string): MakerNode | null {
  const [wanted, part] = place.replace("*", "").split(".");
  const field = record.children.find((node) => node.place === wanted);
  if (field === undefined || part === undefined) return field ?? null;
  const repeat = field.children[0]?.kind === "repeat" ? field.children[0] : field;
  const component = repeat.children[Number(part) - 1];
  return component ?? (part === "1" && repeat.children.length === 0 ? repeat : null);
}
