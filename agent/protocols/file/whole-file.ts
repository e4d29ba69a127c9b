import { decodeText } from "./layouts/file-text.ts";
import type { ResultFiles } from "./profile.ts";
import { isPdf } from "./spreadsheet-cells.ts";
import { isCutTable } from "./layouts/table-records.ts";
import { isWholeXml } from "./layouts/xml-records.ts";

// Whether a file has its end. A program that writes slowly looks as if it had finished.

/** The end of a PDF is within its last kB, and the list of parts of a spreadsheet at most 64 kB before its end. */
const [PDF_END_BYTES, ZIP_END_BYTES] = [1024, 66_000];

export function isWholeFile(name: string, bytes: Uint8Array, { layout }: ResultFiles): boolean {
  const end = (length: number) => Buffer.from(bytes.subarray(-length)).toString("latin1");
  if (isPdf(name)) return end(PDF_END_BYTES).includes("%%EOF");
  switch (layout.kind) {
    case "xml":
      return isWholeXml(bytes);
    case "xlsx":
      return end(ZIP_END_BYTES).includes("PK\x05\x06");
    case "csv":
    case "tsv":
      return layout.grows || !isCutTable(bytes, layout);
    case "txt":
      return /\S/.test(decodeText(bytes, layout.charset));
  }
}
