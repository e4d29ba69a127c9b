import type { ReadContext, Reading } from "../../report/report.ts";
import { readSamples } from "../../report/specimen.ts";
import { readFileMessage } from "./file-message.ts";
import type { ResultFiles } from "./profile.ts";
import type { FileRecords } from "./layouts/records.ts";
import { isPdf } from "./spreadsheet-cells.ts";
import { type FileSamples, fileSamples } from "./samples.ts";
import { tableRecords } from "./layouts/table-records.ts";
import { blockRecords } from "./layouts/text-blocks.ts";
import { AmbiguousPath, xmlRecords } from "./layouts/xml-records.ts";

/** Reads a file of results. A spreadsheet is read from its cells; see cellsOf(). */
export function readFile(message: Uint8Array, profile: ResultFiles, context: ReadContext): Reading {
  const file = readFileMessage(message);
  if (file === null) return { is: "quarantined", reason: "the bytes are not a complete file" };
  if (isPdf(file.name)) return { is: "not-for-patients", reason: "a document for people: no value is read from it" };
  const found = recordsOf(file.bytes, profile);
  if ("problem" in found) return { is: "quarantined", reason: `${file.name}: ${found.problem}` };
  const read = samplesOf(found, profile);
  if ("problem" in read) return { is: "quarantined", reason: `${file.name}: ${read.problem}` };
  const { samples, notes, controls } = read;
  const before = [...found.notes, ...notes, ...controls];
  return readSamples(samples, before, profile, context, (_, all) => {
    const ofControls = all.slice(found.notes.length + notes.length);
    if (ofControls.length > 0 && notes.length === 0) return { is: "not-for-patients", reason: ofControls.join("; ") };
    const reason = all.length === 0 ? "the file has no result" : all.join("; ");
    return { is: "quarantined", reason: `${file.name}: ${reason}` };
  });
}

function samplesOf(
  { records, hasPointDecimals }: Exclude<FileRecords, { readonly problem: string }>,
  profile: ResultFiles,
): FileSamples | { readonly problem: string } {
  try {
    return fileSamples(records, profile, hasPointDecimals);
  } catch (error) {
    if (error instanceof AmbiguousPath) return { problem: error.message };
    throw error;
  }
}

function recordsOf(bytes: Uint8Array, { layout, places }: ResultFiles): FileRecords {
  switch (layout.kind) {
    case "csv":
    case "tsv":
    case "xlsx":
      return tableRecords(bytes, layout, places);
    case "txt":
      return blockRecords(bytes, layout);
    case "xml":
      return xmlRecords(bytes, layout);
  }
}
