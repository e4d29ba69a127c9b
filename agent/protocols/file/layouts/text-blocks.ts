import { decodeText } from "./file-text.ts";
import { type BlockLayout, type FileRecord, type FileRecords, RECORDS_MAX } from "./records.ts";

// The records of a report in lines: its results, each with the lines of its block. A block with a line that no pattern reads is not
// read, because its results may mean something else.

export function blockRecords(bytes: Uint8Array, layout: BlockLayout): FileRecords {
  const lines = decodeText(bytes, layout.charset).split(/\r\n|\r|\n/);
  const records: FileRecord[] = [];
  const notes: string[] = [];
  for (const block of blocksOf(lines, layout)) {
    const read = readBlock(block, layout);
    if (typeof read === "string") notes.push(read);
    else records.push(...read);
  }
  if (records.length === 0) return { problem: notes[0] ?? "the file has no result" };
  if (records.length > RECORDS_MAX) return { problem: `${records.length} results, at most ${RECORDS_MAX}` };
  return { records, notes, hasPointDecimals: true };
}

interface NumberedLine {
  readonly number: number;
  readonly text: string;
}

function blocksOf(lines: readonly string[], { isSplit }: BlockLayout): NumberedLine[][] {
  const blocks: NumberedLine[][] = [[]];
  for (const [index, text] of lines.entries()) {
    if (isSplit?.(text) === true) blocks.push([]);
    else if (text.trim() !== "") blocks.at(-1)?.push({ number: index + 1, text });
  }
  return blocks.filter((block) => block.length > 0);
}

/** @returns the records, or why the block is not read */
function readBlock(block: readonly NumberedLine[], { lines }: BlockLayout): FileRecord[] | string {
  const sample: Record<string, string> = {};
  const results: { where: string; groups: Readonly<Record<string, string>> }[] = [];
  for (const { number, text } of block) {
    const found = lines.map(({ as, read }) => ({ as, groups: read(text) })).find(({ groups }) => groups !== null);
    if (found?.groups == null) return `line ${number} is none that the layout has: ${text.trim().slice(0, 100)}`;
    if (found.as === "sample") {
      const other = Object.entries(found.groups).find(([group, value]) => (sample[group] ?? value) !== value);
      if (other !== undefined) return `line ${number} begins another sample (${other[0]}) without a line between`;
      Object.assign(sample, found.groups);
    }
    if (found.as === "result") results.push({ where: `line ${number}`, groups: found.groups });
  }
  return results.map(({ where, groups }) => ({
    where,
    at: (place) => (groups[place] ?? sample[place] ?? "").trim(),
    columns: [],
  }));
}
