import { SaxesParser } from "saxes";

// XML as a tree, within bounds. No entity but XML's own five is expanded, and nothing is fetched.

export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Element[];
  readonly text: string;
}

interface OpenElement extends Element {
  readonly children: OpenElement[];
  text: string;
}

interface TreeLimits {
  readonly depth: number;
  readonly elements: number;
  readonly attributes: number;
  /** A DOCTYPE that only names a file is ignored. One with declarations is refused in any case. */
  readonly ignoresDoctype: boolean;
}

/** Parses strictly: a document that is not well-formed is unreadable. `opened` is called for each element in order. */
export function parseTree(
  xml: string,
  limits: TreeLimits,
  opened: (element: Element) => void = () => undefined,
): { readonly root: Element } | { readonly problem: string } {
  let root: OpenElement | null = null;
  let [elements, attributes] = [0, 0];
  const open: OpenElement[] = [];
  const parser = new SaxesParser();
  parser.on("error", (error) => {
    throw new MalformedXml(short(error.message));
  });
  parser.on("doctype", (doctype) => {
    if (!limits.ignoresDoctype || doctype.includes("[")) throw new MalformedXml("DOCTYPE is refused");
  });
  parser.on("attribute", () => {
    attributes += 1;
    if (attributes > limits.attributes) throw new MalformedXml(`more than ${limits.attributes} attributes`);
  });
  parser.on("opentag", ({ name, attributes: own }) => {
    const element: OpenElement = { name, attributes: own, children: [], text: "" };
    elements += 1;
    if (elements > limits.elements) throw new MalformedXml(`more than ${limits.elements} elements`);
    if (open.length === limits.depth) throw new MalformedXml(`elements nested more than ${limits.depth} deep`);
    opened(element);
    open.at(-1)?.children.push(element);
    root ??= element;
    open.push(element);
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
    return root === null ? { problem: "no element" } : { root };
  } catch (error) {
    if (!(error instanceof MalformedXml)) throw error;
    return { problem: error.message };
  }
}

/** Quotes a few printable characters for an error message. */
export function short(text: string): string {
  const printable = text.slice(0, 60).replace(/[^\x20-\x7e]/g, "?");
  return printable === "" ? "nothing" : printable;
}

class MalformedXml extends Error {}

const ENCODING = /^<\?xml\s[^>]*?\sencoding\s*=\s*["']([\w.:-]{1,40})["']/;

/** Returns the encoding that a document declares; null without a declaration. */
export function declaredEncoding(document: Uint8Array): string | null {
  const start = Buffer.from(document.buffer, document.byteOffset, Math.min(200, document.length)).toString("latin1");
  return ENCODING.exec(start)?.[1] ?? null;
}
