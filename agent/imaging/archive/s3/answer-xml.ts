import { SaxesParser } from "saxes";

/** An element of a store's response: its name, its own text and its children. */
export interface Element {
  readonly name: string;
  readonly text: string;
  readonly children: readonly Element[];
}

/** Max elements of a response. A page of parts has about 5 000. */
const ELEMENTS_MAX = 20_000;

/** Reads a response, which may start with white space. @returns its root, or null if the XML is incomplete */
export function readXml(text: string): Element | null {
  const parser = new SaxesParser();
  const open: { name: string; text: string; children: Element[] }[] = [{ name: "", text: "", children: [] }];
  let count = 0;
  let isWrong = false;
  parser.on("error", () => (isWrong = true));
  parser.on("opentag", ({ name }) => {
    count += 1;
    if (count <= ELEMENTS_MAX) open.push({ name, text: "", children: [] });
    else isWrong = true;
  });
  parser.on("text", (part) => {
    open.at(-1)!.text += part;
  });
  parser.on("closetag", () => {
    const closed = open.length > 1 ? open.pop() : undefined;
    if (closed !== undefined) open.at(-1)!.children.push(closed);
  });
  try {
    parser.write(text.trimStart()).close();
  } catch {
    return null;
  }
  return isWrong ? null : (open[0]!.children[0] ?? null);
}

/** @returns the children with a name */
export function childrenOf(element: Element | null, name: string): readonly Element[] {
  return element?.children.filter((child) => child.name === name) ?? [];
}

/** @returns the text of the first child with a name; empty without one */
export function textOf(element: Element | null, name: string): string {
  return childrenOf(element, name)[0]?.text ?? "";
}

/** Escapes a text for the content of an element. */
export function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
