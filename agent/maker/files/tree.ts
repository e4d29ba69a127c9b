import { createLink } from "../../connection/create-link.ts";
import type { Profile } from "../../devices/profile.ts";
import type { FileProfileForm } from "../../devices/table/file.ts";
import type { MakerNode } from "../../page/types/maker.ts";
import { readFileMessage } from "../../protocols/file/file-message.ts";
import type { TableLayout } from "../../protocols/file/layouts/records.ts";
import { DocumentSplitter } from "../../protocols/poct1/xml/document-splitter.ts";
import { tableTree } from "./table-tree.ts";
import { blockTree, plainTree } from "./text-tree.ts";
import { plainXmlTree, xmlTree } from "./xml-tree.ts";

// The tree of a file by what the draft says about its layout, and that of a message whose profile is code.

/** @returns null for a file that the layout cannot show */
export function fileTree(message: Uint8Array, { file }: FileProfileForm): MakerNode | null {
  const content = readFileMessage(message)?.bytes;
  if (content === undefined) return null;
  switch (file.kind) {
    case "csv":
    case "tsv":
    case "xlsx": {
      const { kind, charset, separator = "auto" } = file;
      const find = file.header?.find ?? [];
      const header = { find, within: find.length === 0 ? 0 : (file.header.within ?? 1) };
      const layout: TableLayout = {
        kind,
        header,
        separator,
        grows: false,
        ...(charset === undefined ? {} : { charset }),
      };
      return tableTree(content, layout);
    }
    case "txt":
      return blockTree(content, { ...file, lines: file.lines ?? [] });
    case "xml":
      return xmlTree(content, file.records || null);
  }
}

/** Returns the tree of what a profile of code reads. @returns null for the protocols whose messages have a tree of their own */
export function codeTree(bytes: Uint8Array, profile: Profile): MakerNode | null {
  if (profile.protocol === "text") return plainTree(delivered(bytes, profile));
  if (profile.protocol !== "poct1a") return null;
  const splitter = new DocumentSplitter();
  const found = [...splitter.receive(bytes), ...splitter.close()];
  return plainXmlTree(found.flatMap((event) => (event.is === "document" ? [event.bytes] : [])));
}

/** Returns the first message in bytes of a line. A paste and a stored message have no frame: they are the message. */
export function delivered(bytes: Uint8Array, profile: Profile): Uint8Array {
  const link = createLink(profile, { now: () => "", newId: () => "" });
  const actions = [...link.receive(bytes), ...link.close()];
  return actions.flatMap((action) => (action.do === "deliver" ? [action.message] : []))[0] ?? bytes;
}
