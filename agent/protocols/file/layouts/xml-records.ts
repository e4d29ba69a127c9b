import iconv from "iconv-lite";
import { encodingOf } from "../../../../shared/files/text-file.ts";
import { type FileRecord, type FileRecords, RECORDS_MAX, type XmlLayout } from "./records.ts";
import { declaredEncoding, type Element, parseTree } from "./xml-tree.ts";

// The records of an XML file: the elements of one name, each read with the elements around it.

export const XML_LIMITS = { depth: 32, elements: 200_000, attributes: 600_000, ignoresDoctype: true } as const;

export function xmlRecords(bytes: Uint8Array, { records: wanted }: XmlLayout): FileRecords {
  const tree = parseTree(xmlText(bytes), XML_LIMITS);
  if ("problem" in tree) return { problem: `no complete XML: ${tree.problem}` };
  const records: FileRecord[] = [];
  const visit = (element: Element, above: readonly Element[]) => {
    const line = [element, ...above];
    if (element.name === wanted) {
      records.push({ where: `${wanted} ${records.length + 1}`, at: (place) => textAt(line, place), columns: [] });
    }
    for (const child of element.children) visit(child, line);
  };
  visit(tree.root, []);
  if (records.length === 0) return { problem: `no element ${wanted} in ${tree.root.name}` };
  if (records.length > RECORDS_MAX) return { problem: `${records.length} elements ${wanted}, at most ${RECORDS_MAX}` };
  return { records, notes: [], hasPointDecimals: true };
}

export function isWholeXml(bytes: Uint8Array): boolean {
  return !("problem" in parseTree(xmlText(bytes), XML_LIMITS));
}

/** A path means one of several elements, such as one of two animals, and nothing shows which. */
export class AmbiguousPath extends Error {}

/**
 * Reads a path such as `value`, `@code` or `patient/@id`. The first name is that of the record, of an element around it, or of a child
 * of one of these, the nearest first. @throws AmbiguousPath for one of several children of an element around the record
 */
export function textAt(line: readonly Element[], place: string): string {
  const steps = place.split("/");
  const last = steps.at(-1) ?? "";
  const names = last.startsWith("@") ? steps.slice(0, -1) : steps;
  const element = names.length === 0 ? line[0] : elementAt(line, names);
  const text = last.startsWith("@") ? element?.attributes[last.slice(1)] : element?.text;
  return text?.trim() ?? "";
}

function elementAt(line: readonly Element[], [first = "", ...rest]: readonly string[]): Element | undefined {
  for (const element of line) {
    const children = element.children.filter(({ name }) => name === first);
    const start = element.name === first ? element : children[0];
    if (start === undefined) continue;
    if (start !== element && element !== line[0] && children.length > 1) {
      throw new AmbiguousPath(
        `${element.name} has ${children.length} elements ${first}, and which is meant is unknown`,
      );
    }
    return rest.reduce<Element | undefined>((found, name) => found?.children.find((each) => each.name === name), start);
  }
  return undefined;
}

/** Decodes by the byte order mark or the declaration, in any charset that is one of a file: a Taiwanese station writes Big5. */
export function xmlText(bytes: Uint8Array): string {
  const unicode = encodingOf(bytes);
  const declared = declaredEncoding(bytes) ?? "utf-8";
  const encoding =
    unicode === "utf-8" && iconv.encodingExists(declared) && !/^utf-?16/i.test(declared) ? declared : unicode;
  return iconv.decode(bytes, encoding);
}
