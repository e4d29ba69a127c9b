import { readSpreadsheet } from "../../../shared/files/table/spreadsheet.ts";
import { fileHeader, readFileMessage } from "./file-message.ts";
import type { ResultFiles } from "./profile.ts";

// A spreadsheet as its cells. Reading it takes several steps, and reading a message is one.

/** Max bytes of its parts after unpacking. The file of an analyzer has some kB. */
const UNPACKED_BYTES_MAX = 32 * 1024 * 1024;

const PROBLEMS = {
  unpacks_too_large: `a spreadsheet that unpacks to more than ${UNPACKED_BYTES_MAX} bytes`,
  not_xlsx: "not a spreadsheet of Excel: export it as .xlsx",
  damaged_xlsx: "a damaged spreadsheet",
  too_complex: "a spreadsheet with a cell far from the others, or with too much text: export it again",
  no_rows: "a spreadsheet without a row",
} as const;

/** Returns the message with the cells of its spreadsheet in place of the bytes; any other message as it is. */
export async function withCells(message: Uint8Array, { layout }: ResultFiles): Promise<Uint8Array> {
  const file = layout.kind === "xlsx" ? readFileMessage(message) : null;
  if (file === null || isPdf(file.name)) return message;
  const read = await readSpreadsheet(file.bytes, { unpackedMax: UNPACKED_BYTES_MAX, withClock: true });
  const cells = "fault" in read ? { problem: PROBLEMS[read.fault] } : { rows: [...read.records] };
  const bytes = Buffer.from(JSON.stringify(cells));
  return Buffer.concat([fileHeader({ name: file.name, bytes: bytes.length }), bytes]);
}

/** Returns whether a file is a document of people, which is never read for results. */
export function isPdf(name: string): boolean {
  return /\.pdf$/i.test(name);
}
