import type { MakerNode } from "../../page/types/maker.ts";
import { textAt, XML_LIMITS, xmlText } from "../../protocols/file/layouts/xml-records.ts";
import { type Element, parseTree } from "../../protocols/file/layouts/xml-tree.ts";
import { timeFormats } from "./time-formats.ts";

// XML as a tree: what is around the results, and each result. A node has the path by which a profile reads it for the first result; one
// that no path reaches has none.

/** Max results, and elements of each part, that are shown. */
const [RECORDS_SHOWN, ELEMENTS_SHOWN] = [40, 300];

/** @param wanted the name of the elements that are results; null before one is chosen */
export function xmlTree(bytes: Uint8Array, wanted: string | null): MakerNode | null {
  const tree = parseTree(xmlText(bytes), XML_LIMITS);
  if ("problem" in tree) return null;
  const lines = wanted === null ? [] : linesOf(tree.root, wanted, []);
  const [first] = lines;
  const around = new Part(first ?? null, wanted).node(tree.root, []);
  const records = lines.slice(0, RECORDS_SHOWN).map((line) => {
    const [element] = line;
    return { ...new Part(line, null).node(element!, []), kind: "record" as const, place: "result" };
  });
  return { ...EMPTY, kind: "message", children: [{ ...around, kind: "record", place: "document" }, ...records] };
}

/** Returns the tree of documents whose places no profile can name, such as those of POCT1-A. */
export function plainXmlTree(documents: readonly Uint8Array[]): MakerNode {
  const children = documents.flatMap((bytes) => {
    const tree = parseTree(xmlText(bytes), XML_LIMITS);
    return "problem" in tree ? [] : [{ ...new Part(null, null).node(tree.root, []), kind: "record" as const }];
  });
  return { ...EMPTY, kind: "message", children };
}

/** Returns the name of the elements that a document has most of, of those with a content of their own; null without any. */
export function repeatedElement(bytes: Uint8Array): string | null {
  const tree = parseTree(xmlText(bytes), XML_LIMITS);
  if ("problem" in tree) return null;
  const counts = new Map<string, number>();
  const visit = (element: Element) => {
    if (element.children.length + Object.keys(element.attributes).length >= 2) {
      counts.set(element.name, (counts.get(element.name) ?? 0) + 1);
    }
    element.children.forEach(visit);
  };
  visit(tree.root);
  const [most] = [...counts].filter(([, count]) => count > 1).toSorted(([, one], [, other]) => other - one);
  return most?.[0] ?? null;
}

const EMPTY: MakerNode = { place: "", kind: "element", from: 0, to: 0, text: "", children: [] };

/** Returns each wanted element with the elements around it, the nearest first. */
function linesOf(element: Element, wanted: string, above: readonly Element[]): Element[][] {
  const line = [element, ...above];
  const below = element.children.flatMap((child) => linesOf(child, wanted, line));
  return element.name === wanted ? [line, ...below] : below;
}

class Part {
  /** A result with what is around it, which the paths begin at. */
  readonly #line: readonly Element[] | null;
  /** Elements that are parts of their own. */
  readonly #without: string | null;
  #left = ELEMENTS_SHOWN;

  constructor(line: readonly Element[] | null, without: string | null) {
    this.#line = line;
    this.#without = without;
  }

  /** @param path names from the nearest element around the result */
  node(element: Element, path: readonly string[]): MakerNode {
    this.#left -= 1;
    const isAround = this.#line?.includes(element) === true;
    const isResult = this.#line?.[0] === element;
    const names = isAround ? [element.name] : [...path, element.name];
    const own = isResult ? [] : names;
    const attributes = Object.entries(element.attributes).map(([name, text]) =>
      this.#leaf([...own, `@${name}`], `@${name}`, text.trim(), "field"),
    );
    const children: MakerNode[] = [];
    for (const child of element.children) {
      if (child.name === this.#without || this.#left <= 0) continue;
      // A path begins with a child of an element around the result.
      children.push(this.node(child, isAround ? [] : names));
    }
    const text = element.text.trim();
    const leaf = this.#leaf(names, element.name, text, "element");
    return { ...leaf, text: text === "" ? `<${element.name}>` : text, children: [...attributes, ...children] };
  }

  #leaf(names: readonly string[], label: string, text: string, kind: "element" | "field"): MakerNode {
    const place = names.join("/");
    const isRead = text !== "" && place.length <= 100 && this.#line !== null && reads(this.#line, place) === text;
    const formats = isRead ? timeFormats([text]) : [];
    return { ...EMPTY, ...{ kind, label, text, formats }, place: isRead ? place : "" };
  }
}

function reads(line: readonly Element[], place: string): string | null {
  try {
    return textAt(line, place);
  } catch {
    // One of several elements of the name.
    return null;
  }
}
