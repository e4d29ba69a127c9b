import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

// Rules for the files as a whole. The linter says which folder may import which. These tests find circles, `import type`
// included, and exports without an importer.

const ROOT = path.resolve(import.meta.dirname, "..");
const IMPORT = /\b(?:from|import)\s*\(?\s*"(\.{1,2}\/[^"]+\.tsx?)"/g;

/** Returns the source files of these folders, by their paths from the root. */
function sourcesIn(...folders: readonly string[]): ReadonlyMap<string, string> {
  const files = folders.flatMap((folder) =>
    fs
      .readdirSync(path.join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => path.join(folder, name)),
  );
  return new Map(files.map((file) => [file, fs.readFileSync(path.join(ROOT, file), "utf8")]));
}

/** Returns the files that each file imports. */
function importsOfFiles(sources: ReadonlyMap<string, string>): ReadonlyMap<string, readonly string[]> {
  const importsOf = (file: string, source: string) =>
    Array.from(source.matchAll(IMPORT), ([, specifier = ""]) => path.join(path.dirname(file), specifier));
  return new Map([...sources].map(([file, source]) => [file, importsOf(file, source)]));
}

/**
 * Returns the folders that each folder imports. The entry of a program is a separate node, since it starts the command line and
 * no file imports it.
 */
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

/** Removes nodes without imports among the rest until none remains to remove. @returns circles, and nodes that lead to one */
function inCircles(imports: ReadonlyMap<string, readonly string[]>): string[] {
  let left = [...imports.keys()];
  for (;;) {
    const stay = left.filter((node) => imports.get(node)?.some((to) => left.includes(to)));
    if (stay.length === left.length) return stay;
    left = stay;
  }
}

const EXPORT = /^export (?:async )?(function\*?|const|class|interface|type) (\w+)/gm;
const NAMED_IMPORT = /\b(?:import|export) (?:type )?\{([^}]*)\} from "(\.{1,2}\/[^"]+\.tsx?)"/g;
/** An import of all names: `import * as x from` or `import("...")`. */
const WHOLE_IMPORT = /(?:\* as \w+ from |\bimport\(|\bload\()"((?:\.{1,2}|agent|server|shared)\/[^"]+\.tsx?)"/g;

/**
 * Returns the exports that no other file imports, such as `shared/api/fp.ts newFp`. A type that its own file mentions is part of
 * the signature of another export, so it needs no importer.
 */
function unusedExports(sources: ReadonlyMap<string, string>): string[] {
  const used = new Set<string>();
  const resolve = (file: string, specifier: string) =>
    specifier.startsWith(".") ? path.join(path.dirname(file), specifier) : specifier;
  for (const [file, source] of sources) {
    for (const [, names = "", specifier = ""] of source.matchAll(NAMED_IMPORT)) {
      for (const name of names.split(",")) {
        used.add(
          `${resolve(file, specifier)} ${name
            .trim()
            .replace(/^type /, "")
            .replace(/ as .*/, "")}`,
        );
      }
    }
    for (const [, specifier = ""] of source.matchAll(WHOLE_IMPORT)) used.add(resolve(file, specifier));
  }
  return [...sources].flatMap(([file, source]) => {
    if (used.has(file)) return [];
    const isMentioned = (name: string) => (source.match(new RegExp(`\\b${name}\\b`, "g")) ?? []).length > 1;
    const names = Array.from(source.matchAll(EXPORT), ([, kind = "", name = ""]) => {
      const isType = kind === "type" || kind === "interface";
      return isType && isMentioned(name) ? [] : [`${file} ${name}`];
    });
    return names.flat().filter((name) => !used.has(name));
  });
}

test("every export of the product has an importer", () => {
  const unused = unusedExports(sourcesIn("agent", "server", "shared", "test"));
  expect(unused.filter((name) => !name.startsWith("test/"))).toEqual([]);
});

test("the check reports an export without an importer, for every form of import of the others", () => {
  const sources = new Map([
    [
      "a/one.ts",
      "export const used = 1;\nexport type Used = 1;\nexport const unused = 2;\nexport async function* f() {}",
    ],
    ["a/two.ts", "export interface Whole {}"],
    ["a/five.ts", "export interface Signature {}\nexport interface Unused {}\nconst f = (given: Signature) => given;"],
    ["a/three.ts", "export class Late {}"],
    [
      "b/four.ts",
      'import { type Used, used as other } from "../a/one.ts";\nimport * as two from "../a/two.ts";\nawait import("../a/three.ts");',
    ],
  ]);
  expect(unusedExports(sources)).toEqual(["a/one.ts unused", "a/one.ts f", "a/five.ts Unused"]);
});

test("no two files import each other, directly or through others", () => {
  const files = importsOfFiles(sourcesIn("agent", "server", "shared"));
  expect(files.size).toBeGreaterThan(200);
  expect(inCircles(files)).toEqual([]);
});

test("no two folders import each other, directly or through others", () => {
  expect(inCircles(importsOfFolders(importsOfFiles(sourcesIn("agent", "server", "shared"))))).toEqual([]);
});

test("the check reports a circle and the files that lead into it", () => {
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

test("the threat model names tests that exist", () => {
  const text = fs.readFileSync(path.join(ROOT, ".github/THREATS.md"), "utf8");
  const named = [...text.matchAll(/`(test\/[^`]+\.test\.ts)`/g)].map(([, file = ""]) => file);
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((file) => !fs.existsSync(path.join(ROOT, file)))).toEqual([]);
});
