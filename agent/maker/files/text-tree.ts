import type { FileProfileForm } from "../../devices/table/file.ts";
import { readPattern } from "../../devices/table/pattern.ts";
import type { ProfileForm } from "../../devices/table/schema.ts";
import { shownLines } from "../../devices/table/text-layout.ts";
import type { MakerNode } from "../../page/types/maker.ts";
import { decodeText } from "../../protocols/file/layouts/file-text.ts";
import { timeFormats } from "./time-formats.ts";

// A text as a tree: its lines, each with the named groups that the profile finds in it.

const LINES_SHOWN = 300;

type Groups = Readonly<Record<string, string>>;

/** A report in a file. A line that no pattern takes can get one. */
export function blockTree(bytes: Uint8Array, file: Extract<FileProfileForm["file"], { kind: "txt" }>): MakerNode {
  const patterns = file.lines.map(({ as, pattern }) => ({ as, pattern: readPattern(pattern) }));
  const lines = decodeText(bytes, file.charset)
    .split(/\r\n|\r|\n/)
    .filter((line) => line.trim() !== "");
  return treeOf(
    lines.slice(0, LINES_SHOWN).map((line) => {
      const found = patterns.map(({ as, pattern }) => ({ as, groups: pattern.named(line)?.groups ?? null }));
      const taken = found.find(({ groups }) => groups !== null);
      if (taken?.groups == null) return lineOf("unread", line, {});
      return lineOf(taken.as === "result" ? "result" : "read", line, taken.groups);
    }),
  );
}

/** A text of a serial line, by the first layout that it begins as. Its lines stay as the layout cuts them. */
export function layoutTree(bytes: Uint8Array, { text = [] }: ProfileForm): MakerNode {
  const message = Buffer.from(bytes).toString("latin1");
  for (const layout of text) {
    const lines = shownLines(layout, message);
    if (lines === null) continue;
    return treeOf(
      lines
        .slice(0, LINES_SHOWN)
        .map(({ text: line, groups, isResult }) => lineOf(isResult ? "result" : "read", line, groups ?? {})),
    );
  }
  return plainTree(bytes);
}

/** The lines of a text that code reads. */
export function plainTree(bytes: Uint8Array): MakerNode {
  const lines = Buffer.from(bytes)
    .toString("latin1")
    .split(/(?!\t)\p{Cc}+/u);
  const filled = lines.filter((line) => line.trim() !== "").slice(0, LINES_SHOWN);
  return treeOf(filled.map((line) => lineOf("read", line, {})));
}

/** @param place `unread` for one that no pattern takes */
function lineOf(place: "unread" | "read" | "result", text: string, groups: Groups): MakerNode {
  const children = Object.entries(groups).map(([name, found]): MakerNode => {
    return {
      place: name,
      kind: "field",
      from: 0,
      to: 0,
      text: found.trim(),
      formats: timeFormats([found]),
      children: [],
    };
  });
  return { place, kind: "record", from: 0, to: 0, text: visible(text).slice(0, 300), children };
}

/** Control characters have no form of their own. */
function visible(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, " ").trim();
}

function treeOf(children: readonly MakerNode[]): MakerNode {
  return { place: "", kind: "message", from: 0, to: 0, text: "", children };
}
