import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";

const built = path.resolve(import.meta.dirname, "../../../../dist/server/web");

/** Max bytes of script, after gzip, that the first screen loads. */
const FIRST_LOAD_BYTES_MAX = 60_000;

/** The script of index.html with all that it imports before it runs, and the screens of sign-in and Today. */
function firstScripts(): string[] {
  const wanted = [...readFileSync(path.join(built, "index.html"), "utf8").matchAll(/assets\/([\w-]+\.js)/g)].map(
    ([, name = ""]) => name,
  );
  const screens = readdirSync(path.join(built, "assets")).filter((name) => /^(sign-in|today)-.*\.js$/.test(name));
  const scripts = new Set<string>();
  for (const name of [...wanted, ...screens]) collect(name, scripts);
  return [...scripts];
}

function collect(name: string, scripts: Set<string>): void {
  if (scripts.has(name)) return;
  scripts.add(name);
  const source = readFileSync(path.join(built, "assets", name), "utf8");
  for (const [, imported = ""] of source.matchAll(/(?:from|import)\s*"\.\/([\w-]+\.js)"/g)) collect(imported, scripts);
}

test("the first screen loads less than 60 kB of script", () => {
  const scripts = firstScripts();
  expect(scripts.length).toBeGreaterThanOrEqual(3);
  const sizes = scripts.map((name) => gzipSync(readFileSync(path.join(built, "assets", name))).length);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  process.stdout.write(`first load: ${total} bytes of script after gzip in ${scripts.length} files\n`);
  expect(total).toBeLessThan(FIRST_LOAD_BYTES_MAX);
});
