import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import Database from "better-sqlite3";
import { writeImportFile } from "../support/import-lines.ts";
import { endedMegabytes } from "../support/peak-memory.ts";
import { ROOT, start, temporaryFolder } from "../support/processes.ts";
import { type Figure, whole } from "./figure.ts";

const LINES = 1_000_000;
const MEGABYTES_MAX = 300;
/** Memory does not grow with the file beyond this length, except for variations of garbage collection. */
const SHORT_LINES = 100_000;
const GROWTH_MAX = 1.25;
/** An import checks and looks up each line and maintains several indexes; the bare loop maintains one index. */
const RATIO_MAX = 10;

/** Measures `server import` of the build: time beside a bare loop over the same file, memory beside a shorter file. */
export async function* importing(quick: boolean): AsyncGenerator<Figure> {
  const lines = quick ? LINES / 4 : LINES;
  const folder = temporaryFolder();
  try {
    const [long, short] = [path.join(folder, "long.ndjson"), path.join(folder, "short.ndjson")];
    writeImportFile(long, lines);
    writeImportFile(short, SHORT_LINES);
    const shorter = await runImport(short, path.join(folder, "shorter"));
    const ours = await runImport(long, path.join(folder, "ours"));
    const bareMs = await insertBare(long, path.join(folder, "bare.db"));

    const micros = (ms: number) => `${((1000 * ms) / lines).toFixed(1)} us per line`;
    yield {
      name: `import of ${whole(lines)} lines, ${whole(fs.statSync(long).size / 1e6)} MB: time`,
      ours: `${(ours.ms / 1000).toFixed(1)} s, ${micros(ours.ms)}`,
      baseline: `JSON.parse and one insert per line ${(bareMs / 1000).toFixed(1)} s, ${micros(bareMs)}`,
      ratio: ours.ms / bareMs,
      bar: `ratio <= ${RATIO_MAX}`,
      met: ours.ms / bareMs <= RATIO_MAX,
    };
    const growth = ours.megabytes / shorter.megabytes;
    yield {
      name: `import of ${whole(lines)} lines: memory`,
      ours: `${ours.megabytes.toFixed(0)} MB resident (peak)`,
      baseline: `for ${whole(SHORT_LINES)} lines ${shorter.megabytes.toFixed(0)} MB`,
      ratio: growth,
      bar: `< ${MEGABYTES_MAX} MB, ratio < ${GROWTH_MAX}`,
      met: ours.megabytes < MEGABYTES_MAX && growth < GROWTH_MAX,
    };
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

async function runImport(file: string, data: string): Promise<{ ms: number; megabytes: number }> {
  const begun = performance.now();
  const running = start(path.join(ROOT, "dist/server/main.js"), ["import", file, "--data", data]);
  const megabytes = await endedMegabytes(running);
  return { ms: performance.now() - begun, megabytes };
}

/** Does the minimum of any import: reads, parses and inserts each line under its fp in one durable transaction. */
async function insertBare(file: string, database: string): Promise<number> {
  const begun = performance.now();
  const db = new Database(database);
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  db.exec("create table line (id integer primary key, fp text unique, body text not null)");
  const insert = db.prepare("insert into line (fp, body) values (?, ?)");
  db.exec("begin");
  for await (const line of readline.createInterface({ input: fs.createReadStream(file) })) {
    const { fp = null } = JSON.parse(line) as { fp?: string };
    insert.run(fp, line);
  }
  db.exec("commit");
  db.close();
  return performance.now() - begun;
}
