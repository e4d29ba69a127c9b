import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

// An assert without a message reads and parses the source file to generate one. This takes minutes on sources that tsx maps.

const folder = path.resolve(import.meta.dirname, "..");

/** @returns the text between a call's parentheses. `from` is the index after the opening one. A string is reduced to its quotes. */
function argumentsAt(source: string, from: number): string {
  let depth = 1;
  let text = "";
  for (let index = from; index < source.length; index += 1) {
    const character = source[index] ?? "";
    if (`"'\``.includes(character)) {
      do index += source[index] === "\\" ? 2 : 1;
      while (index < source.length && source[index] !== character);
    }
    if ("([{".includes(character)) depth += 1;
    if (")]}".includes(character)) depth -= 1;
    if (depth === 0) return text;
    if (depth === 1) text += character;
  }
  return text;
}

/** @returns the numbers of the lines on which assert() or assert.ok() has no message */
function withoutMessage(source: string): number[] {
  const calls = [...source.matchAll(/(?<![\w.])assert(?:\.ok)?\(/g)];
  return calls
    .filter(({ index, 0: call }) => !/,\s*\S/.test(argumentsAt(source, index + call.length)))
    .map(({ index }) => source.slice(0, index).split("\n").length);
}

test("every assert of node:assert has a message", () => {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  const asserting = files
    .map((file) => ({ file, source: readFileSync(path.join(folder, file), "utf8") }))
    .filter(({ file, source }) => source.includes('from "node:assert') && file !== "support/assertions.test.ts");
  expect(asserting.length).toBeGreaterThan(5);
  const bare = asserting.flatMap(({ file, source }) => withoutMessage(source).map((line) => `${file}:${line}`));
  expect(bare).toEqual([]);
});

test("the check of asserts reports only calls without a message", () => {
  const source = [
    "assert.ok(found.length > 100);",
    "assert.ok(some(a, [b, c]) && { d, e });",
    "assert(text === ', )');",
    "assert.ok(\n  found,\n);",
    'assert.ok(some(a, b), "nothing was found");',
    "assert.ok(\n  found,\n  `nothing (${a}, ${b})`,\n);",
    "assert.equal(a);",
    "fc.assert(property);",
  ].join("\n");
  expect(withoutMessage(source)).toEqual([1, 2, 3, 4]);
});
