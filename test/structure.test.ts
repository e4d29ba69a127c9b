import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

// The product's folders and files import each other in one direction. The linter says which folder may import which; this
// finds circles, `import type` included, which the linter's own rule passes over.

const ROOT = path.resolve(import.meta.dirname, "..");
const IMPORT = /\b(?:from|import)\s*\(?\s*"(\.{1,2}\/[^"]+\.ts)"/g;

/** The files that each file imports, by their paths from the root. */
function importsOfProduct(): ReadonlyMap<string, readonly string[]> {
  const files = ["agent", "server", "shared"].flatMap((folder) =>
    fs
      .readdirSync(path.join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => path.join(folder, name)),
  );
  const importsOf = (file: string) =>
    Array.from(fs.readFileSync(path.join(ROOT, file), "utf8").matchAll(IMPORT), ([, specifier = ""]) =>
      path.join(path.dirname(file), specifier),
    );
  return new Map(files.map((file) => [file, importsOf(file)]));
}

/** The same between folders. A program's entry is a node of its own: it starts the command line, and nothing imports it. */
function importsOfFolders(files: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, readonly string[]> {
  const nodeOf = (file: string) => (path.basename(file) === "main.ts" ? file : path.dirname(file));
  const folders = new Map<string, string[]>();
  for (const [file, imported] of files) {
    const from = nodeOf(file);
    const others = imported.map(nodeOf).filter((to) => to !== from);
    folders.set(from, [...(folders.get(from) ?? []), ...others]);
  }
  return folders;
}

/** Removes nodes that import nothing that is left, again and again. @returns what remains: circles, and what leads to one */
function inCircles(imports: ReadonlyMap<string, readonly string[]>): string[] {
  let left = [...imports.keys()];
  for (;;) {
    const stay = left.filter((node) => imports.get(node)?.some((to) => left.includes(to)));
    if (stay.length === left.length) return stay;
    left = stay;
  }
}

test("no two files import each other, directly or through others", () => {
  const files = importsOfProduct();
  expect(files.size).toBeGreaterThan(200);
  expect(inCircles(files)).toEqual([]);
});

test("no two folders import each other, directly or through others", () => {
  expect(inCircles(importsOfFolders(importsOfProduct()))).toEqual([]);
});

test("a circle is found, and so is what leads into it", () => {
  const imports = new Map([
    ["a", ["b"]],
    ["b", ["c"]],
    ["c", ["b", "d"]],
    ["d", []],
  ]);
  expect(inCircles(imports)).toEqual(["a", "b", "c"]);
});

test.each(["agent", "server"])("the folder %s holds at most six files", (folder) => {
  const entries = fs.readdirSync(path.join(ROOT, folder), { withFileTypes: true });
  expect(entries.filter((entry) => entry.isFile()).length).toBeLessThanOrEqual(6);
});
