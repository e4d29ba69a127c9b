import { createReadStream } from "node:fs";
import { encodingOf } from "../../shared/files/text-file.ts";

/** Max bytes of a line, so that a file without line ends cannot fill the memory. A longer line is a problem. */
const LINE_BYTES_MAX = 5 * 1024 * 1024;

export const LINE_TOO_LONG = `longer than ${LINE_BYTES_MAX} bytes, expected one JSON object a line`;

interface InputLine {
  number: number;
  /** Null if the line is longer than LINE_BYTES_MAX. */
  bytes: Buffer | null;
  bytesRead: number;
}

/** Reads the lines of a file that are not blank. @throws Error for a file in UTF-16 */
export async function* readLines(path: string): AsyncGenerator<InputLine> {
  let number = 0;
  let bytesRead = 0;
  let parts: Buffer[] = [];
  let length = 0;

  function keep(part: Buffer): void {
    length += part.length;
    bytesRead += part.length;
    if (length <= LINE_BYTES_MAX) parts.push(part);
  }

  function* finish(): Generator<InputLine> {
    number += 1;
    const bytes = length > LINE_BYTES_MAX ? null : Buffer.concat(parts);
    parts = [];
    length = 0;
    if (bytes === null || !isBlank(bytes)) yield { number, bytes, bytesRead };
  }

  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) {
    if (bytesRead === 0 && encodingOf(chunk) !== "utf-8") throw new Error(`${path} is UTF-16: save it as UTF-8`);
    let start = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      keep(chunk.subarray(start, end));
      bytesRead += 1;
      start = end + 1;
      yield* finish();
    }
    keep(chunk.subarray(start));
  }
  yield* finish();
}

const LF = 0x0a;

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}
