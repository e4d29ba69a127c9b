const CHUNK_CHARS_MIN = 65_536;

/** Joins lines to chunks, because a write to a file costs more than a line. Each line brings its line end. */
export async function* textChunks(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let chunk = "";
  for await (const line of lines) {
    chunk += line;
    if (chunk.length < CHUNK_CHARS_MIN) continue;
    yield chunk;
    chunk = "";
  }
  yield chunk;
}
