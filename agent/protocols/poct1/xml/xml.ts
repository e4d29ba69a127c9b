import iconv from "iconv-lite";
import { isChinese, utf8Text } from "../../utf8.ts";
import { declaredEncoding, type Element, parseTree } from "../../file/layouts/xml-tree.ts";
import { DEPTH_MAX } from "./document-splitter.ts";

export type { Element } from "../../file/layouts/xml-tree.ts";

// XML of POCT1-A: parses documents of a device and writes elements of the agent. An element has its value in attribute `V`.

/** Max elements of a document; a larger one is unreadable. The largest seen has 3 000. */
export const ELEMENTS_MAX = 20_000;
/** Max attributes of a document. An element has three: value, unit and a reason for no value. */
export const ATTRIBUTES_MAX = 3 * ELEMENTS_MAX;

type ParsedXml =
  | { readonly problem: null; readonly root: Element; readonly controlId: string | null }
  | { readonly problem: string; readonly controlId: string | null };

/** Parses strictly: a document that is not well-formed is unreadable. No entity but XML's own five is expanded. */
export function parseXml(document: Uint8Array): ParsedXml {
  let controlId: string | null = null;
  const { text: xml, problem } = decode(document);
  const limits = { depth: DEPTH_MAX, elements: ELEMENTS_MAX, attributes: ATTRIBUTES_MAX, ignoresDoctype: false };
  const tree = parseTree(xml, limits, ({ name, attributes }) => {
    if (name === "HDR.control_id") controlId ??= attributes["V"]?.trim() || null;
  });
  if ("problem" in tree) return { problem: problem ?? tree.problem, controlId };
  return problem === null ? { problem, root: tree.root, controlId } : { problem, controlId };
}

/** Returns the first element of this name at any depth: devices put DCP and DSC in different places. */
export function find(parent: Element, name: string): Element | null {
  if (parent.name === name) return parent;
  for (const each of parent.children) {
    const found = find(each, name);
    if (found !== null) return found;
  }
  return null;
}

export function value(root: Element, name: string): string {
  return find(root, name)?.attributes["V"]?.trim() ?? "";
}

export function values(parent: Element, name: string): string[] {
  return all(parent, name).map((each) => each.attributes["V"]?.trim() ?? "");
}

/** Returns every element of this name at any depth. */
export function all(parent: Element, name: string): Element[] {
  return [...(parent.name === name ? [parent] : []), ...parent.children.flatMap((each) => all(each, name))];
}

/** Returns a field's value. Fields of SVC are in it or in its objects (SPC, ORD), a patient's observations are not. */
export function textOf(parent: Element | null, name: string): string {
  return parent === null ? "" : attribute(find(parent, name), "V");
}

export function attribute(of: Element | null, name: string): string {
  return of?.attributes[name]?.trim() ?? "";
}

export function child(parent: Element | null, name: string): Element | null {
  return parent?.children.find((each) => each.name === name) ?? null;
}

export function children(parent: Element | null, name: string): readonly Element[] {
  return parent?.children.filter((each) => each.name === name) ?? [];
}

/** Returns 0 for an invalid number, so that nothing is requested. */
export function quantity(root: Element, name: string): number {
  const text = value(root, name);
  return /^\d{1,9}$/.test(text) ? Number(text) : 0;
}

export function element(name: string, ...content: readonly string[]): string {
  return `<${name}>${content.join("")}</${name}>`;
}

export function field(name: string, text: string, more: { unit?: string; content?: string } = {}): string {
  const unit = more.unit === undefined ? "" : ` U="${escaped(more.unit)}"`;
  const start = `<${name} V="${escaped(text)}"${unit}`;
  return more.content === undefined ? `${start}/>` : `${start}>${more.content}</${name}>`;
}

function escaped(text: string): string {
  // XML allows no control characters, not even as references.
  const legal = text.replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, " ");
  return legal.replace(/[&<>"\t\n\r]/g, (char) => `&#${char.charCodeAt(0)};`);
}

const utf8Decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Charsets that contain ASCII and have no byte of a tag within a character, so that documents can be split before decoding: those
 * of one byte, and the Chinese ones, whose second bytes are digits or follow `?`.
 */
const SPLIT_BEFORE_DECODING = /^(?:us-ascii|iso-8859-\d\d?|windows-125\d|gb2312|gbk|gb18030)$/i;

/** Decodes a document. With a problem, the text serves only for the control id. `guessed`: see guessedCharset(). */
function decode(document: Uint8Array): { text: string; problem: string | null; guessed: string | null } {
  const declared = declaredEncoding(document) ?? "utf-8";
  const isUtf8 = /^utf-?8$/i.test(declared);
  if (!isUtf8 && !(SPLIT_BEFORE_DECODING.test(declared) && iconv.encodingExists(declared))) {
    const problem = `encoding ${declared}, expected UTF-8, ISO-8859, GB 18030 or a Windows code page`;
    return { text: iconv.decode(document, "iso-8859-1"), problem, guessed: null };
  }
  if (!isUtf8) {
    const text = utf8Text(document, /^gb/i.test(declared));
    return { text: text ?? iconv.decode(document, declared), problem: null, guessed: text === null ? null : "utf-8" };
  }
  try {
    return { text: utf8Decoder.decode(document), problem: null, guessed: null };
  } catch {
    const guessed = isChinese(document) ? "gb18030" : "windows-1252";
    return { text: iconv.decode(document, guessed), problem: null, guessed };
  }
}

/** Returns the charset of a document that is in another one than it declares; without a declaration it declares UTF-8. Null otherwise. */
export function guessedCharset(document: Uint8Array): string | null {
  return decode(document).guessed;
}
