/** SQLite's codes for a damaged database, and for a file of another format. */
const DAMAGED = /^SQLITE_(CORRUPT|NOTADB)/;

/** Returns an error with the file and advice if SQLite reports a damaged file, otherwise the same error. */
export function describeDamage(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || !("code" in error) || !DAMAGED.test(String(error.code))) return error;
  const advice = "copy it with its -wal file, then restore a backup or rescue its rows with sqlite3's .recover command";
  return new Error(`${file} is damaged (${error.message}): ${advice}`, { cause: error });
}
