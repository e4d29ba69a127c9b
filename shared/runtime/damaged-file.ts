/** SQLite's codes for a file whose pages contradict each other, or that begins with other bytes than a database. */
const DAMAGED = /^SQLITE_(CORRUPT|NOTADB)/;

/** The error that SQLite threw at a file: if it found the file damaged, one that names it and says what to do. */
export function describeDamage(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || !("code" in error) || !DAMAGED.test(String(error.code))) return error;
  const advice = "copy it with its -wal file, then restore a backup or rescue its rows with sqlite3's .recover command";
  return new Error(`${file} is damaged (${error.message}): ${advice}`, { cause: error });
}
