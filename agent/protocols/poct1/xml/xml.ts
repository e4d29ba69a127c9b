import iconv from "iconv-lite";
import { SaxesParser } from "saxes";
import { DEPTH_MAX } from "./document-splitter.ts";

// XML of POCT1-A: parses documents of a device and writes elements of the agent.

/** Max elements of a document; a larger one is unreadable. The largest seen has 3 000. */
export const ELEMENTS_MAX = 20_000;
/** Max attributes of a document. An element has three: value, unit and a reason for no value. */
export const ATTRIBUTES_MAX = 3 * ELEMENTS_MAX;

/** XML element. POCT1-A keeps a field's value in attribute `V`. */
export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Element[];
  readonly text: string;
}

type ParsedXml =
  | { readonly problem: null; readonly root: Element; readonly controlId: string | null }
  | { readonly problem: string; readonly controlId: string | null };

interface OpenElement extends Element {
  readonly children: OpenElement[];
  text: string;
}

/** Parses strictly: a document that is not well-formed is unreadable. No entity but XML's own five is expanded. */
export function parseXml(document: Uint8Array): ParsedXml {
  let controlId: string | null = null;
  let root: OpenElement | null = null;
  let elements = 0;
  let attributes = 0;
  const open: OpenElement[] = [];
  const { text: xml, problem } = decode(document);
  const parser = new SaxesParser();
  parser.on("error", (error) => {
    throw new MalformedXml(short(error.message));
  });
  parser.on("doctype", () => {
    throw new MalformedXml("DOCTYPE is refused");
  });
  parser.on("attribute", () => {
    attributes += 1;
    if (attributes > ATTRIBUTES_MAX) throw new MalformedXml(`more than ${ATTRIBUTES_MAX} attributes`);
  });
  parser.on("opentag", ({ name, attributes: own }) => {
    const opened: OpenElement = { name, attributes: own, children: [], text: "" };
    elements += 1;
    if (elements > ELEMENTS_MAX) throw new MalformedXml(`more than ${ELEMENTS_MAX} elements`);
    if (open.length === DEPTH_MAX) throw new MalformedXml(`elements nested more than ${DEPTH_MAX} deep`);
    if (name === "HDR.control_id") controlId ??= own["V"]?.trim() || null;
    open.at(-1)?.children.push(opened);
    root ??= opened;
    open.push(opened);
  });
  parser.on("closetag", () => {
    open.pop();
  });
  const addText = (text: string) => {
    const parent = open.at(-1);
    if (parent !== undefined) parent.text += text;
  };
  parser.on("text", addText);
  parser.on("cdata", addText);
  try {
    parser.write(xml).close();
    if (root === null) throw new MalformedXml("no element");
    return problem === null ? { problem, root, controlId } : { problem, controlId };
  } catch (error) {
    if (!(error instanceof MalformedXml)) throw error;
    return { problem: problem ?? error.message, controlId };
  }
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

/** Quotes a few printable characters for an error message. */
export function short(text: string): string {
  const printable = text.slice(0, 60).replace(/[^\x20-\x7e]/g, "?");
  return printable === "" ? "nothing" : printable;
}

class MalformedXml extends Error {}

const utf8Decoder = new TextDecoder("utf-8", { fatal: true });

const ENCODING = /^<\?xml\s[^>]*?\sencoding\s*=\s*["']([\w.:-]{1,40})["']/;

/** Charsets with one byte per character that contain ASCII, so documents can be split before decoding. */
const SINGLE_BYTE = /^(?:us-ascii|iso-8859-\d\d?|windows-125\d)$/i;

/** Decodes as UTF-8 without a declaration. With a problem, the text serves only for the control id. */
function decode(document: Uint8Array): { readonly text: string; readonly problem: string | null } {
  const declaration = Buffer.from(document.buffer, document.byteOffset, Math.min(200, document.length)).toString(
    "latin1",
  );
  const encoding = ENCODING.exec(declaration)?.[1] ?? "utf-8";
  if (SINGLE_BYTE.test(encoding) && iconv.encodingExists(encoding)) {
    return { text: iconv.decode(document, encoding), problem: null };
  }
  const asLatin1 = () => iconv.decode(document, "iso-8859-1");
  if (!/^utf-?8$/i.test(encoding)) {
    return { text: asLatin1(), problem: `encoding ${encoding}, expected UTF-8, ISO-8859 or a Windows code page` };
  }
  try {
    return { text: utf8Decoder.decode(document), problem: null };
  } catch {
    return { text: asLatin1(), problem: "invalid UTF-8" };
  }
}
