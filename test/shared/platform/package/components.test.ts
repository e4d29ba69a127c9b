import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { cycloneDx, licenseList } from "../../../../shared/platform/package/bill-of-materials.ts";
import {
  type Component,
  componentsIn,
  joined,
  packageOf,
  withDependencies,
} from "../../../../shared/platform/package/components.ts";
import { temporaryFolder } from "../../../support/machine/processes.ts";

// Goal: the lists of a package name each package of others as its lock file has it. Method: a folder with invented packages.

const SHA512 = `sha512-${Buffer.alloc(64, 7).toString("base64")}`;
const release = { version: "1.2.3", platform: "linux-x64", time: 1_700_000_000 };

let root: string;
const lock: Record<string, object> = {};

beforeEach(() => {
  root = temporaryFolder();
  for (const folder of Object.keys(lock)) delete lock[folder];
});

afterEach(() => fs.rmSync(root, { recursive: true }));

function install(folder: string, description: object, files: Readonly<Record<string, string>> = {}): void {
  fs.mkdirSync(path.join(root, folder), { recursive: true });
  const whole = { version: "1.0.0", ...description };
  for (const [name, text] of Object.entries({ ...files, "package.json": JSON.stringify(whole) }))
    fs.writeFileSync(path.join(root, folder, name), text);
  lock[folder] = { version: "1.0.0", integrity: SHA512 };
  fs.writeFileSync(path.join(root, "package-lock.json"), JSON.stringify({ packages: lock }));
}

function read(...folders: readonly string[]): Component[] {
  return componentsIn(root, folders);
}

describe("the packages of others", () => {
  test.each([
    ["node_modules/pg/lib/index.js", "node_modules/pg"],
    ["node_modules/@fastify/send/index.js", "node_modules/@fastify/send"],
    ["node_modules/a/node_modules/@b/c/d.js", "node_modules/a/node_modules/@b/c"],
    ["node_modules/@fastify/send", null],
    ["agent/main.ts", null],
  ])("%s belongs to %s", (file, folder) => {
    expect(packageOf(file)).toBe(folder);
  });

  test("a package has its license in each form that npm accepts, with its text", () => {
    install("node_modules/a", { name: "a", license: "MIT" }, { "LICENSE.md": "Text of a\r\n", "readme.md": "no" });
    install("node_modules/b", { name: "b", license: { type: "ISC" }, repository: "github:some/b" });
    install("node_modules/c", { name: "c", licenses: [{ type: "MIT" }, { type: "ISC" }] });
    install("node_modules/d", { name: "d", repository: { url: "git+https://example.com/d.git" } }, { LICENCE: "d's" });
    const found = read("node_modules/a", "node_modules/b", "node_modules/c", "node_modules/d", "node_modules/a");
    expect(found.map(({ name, license, licenseTexts, sources }) => [name, license, licenseTexts, sources])).toEqual([
      ["a", "MIT", ["Text of a"], ""],
      ["b", "ISC", [], "https://github.com/some/b"],
      ["c", "MIT OR ISC", [], ""],
      ["d", null, ["d's"], "https://example.com/d.git"],
    ]);
  });

  test("a package without a license, or of another version than the lock file has, ends the release", () => {
    install("node_modules/a", { name: "a" });
    expect(() => read("node_modules/a")).toThrow("a has no license: ask its authors for one, or leave the package out");
    install("node_modules/b", { name: "b", license: "MIT", version: "2.0.0" });
    expect(() => read("node_modules/b")).toThrow("the lock file has 1.0.0, not 2.0.0: run npm ci");
  });
});

describe("the bill of materials", () => {
  beforeEach(() => {
    install("node_modules/@b/c", { name: "@b/c", license: "(MIT OR ISC)" });
    install("node_modules/a", { name: "a", license: "MIT", repository: "some/a" }, { LICENSE: "Text of a" });
  });

  test("it has what CycloneDX 1.6 requires, and each hash as hexadecimal digits", () => {
    const document = JSON.parse(cycloneDx(release, read("node_modules/a", "node_modules/@b/c"))) as object;
    expect(document).toMatchObject({
      bomFormat: "CycloneDX",
      specVersion: "1.6",
      serialNumber: expect.stringMatching(/^urn:uuid:[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/) as string,
      version: 1,
      metadata: {
        timestamp: "2023-11-14T22:13:20.000Z",
        component: { type: "application", name: "vetwire", version: "1.2.3" },
      },
      components: [
        {
          ...{ type: "library", "bom-ref": "pkg:npm/a@1.0.0", name: "a", version: "1.0.0", purl: "pkg:npm/a@1.0.0" },
          licenses: [{ license: { id: "MIT" } }],
          hashes: [{ alg: "SHA-512", content: "07".repeat(64) }],
          externalReferences: [{ type: "vcs", url: "https://github.com/some/a" }],
        },
        { group: "@b", name: "c", purl: "pkg:npm/%40b/c@1.0.0", licenses: [{ expression: "(MIT OR ISC)" }] },
      ],
      dependencies: [{ dependsOn: ["pkg:npm/a@1.0.0", "pkg:npm/%40b/c@1.0.0"] }, {}, {}],
    });
  });

  test("the order of the lists does not change it, another component changes its number", () => {
    const [a, c] = [read("node_modules/a"), read("node_modules/@b/c")];
    expect(cycloneDx(release, joined(a, c, a))).toBe(cycloneDx(release, joined(c, a)));
    const numberOf = (text: string) => (JSON.parse(text) as { serialNumber: string }).serialNumber;
    expect(numberOf(cycloneDx(release, a))).not.toBe(numberOf(cycloneDx(release, c)));
  });

  test("the list of licenses has each text, and names each missing one", () => {
    const text = licenseList(joined(read("node_modules/a", "node_modules/@b/c")));
    expect(text).toContain("@b/c 1.0.0 ((MIT OR ISC))\n\nIts archive has no text of the license.\n");
    expect(text).toContain("a 1.0.0 (MIT)\n\nText of a\n");
  });

  test("a package comes with what it depends on, from the folder that Node would take", () => {
    const packages = {
      "node_modules/a": { dependencies: { b: "1", c: "1" } },
      "node_modules/a/node_modules/b": { dependencies: { c: "1" } },
      "node_modules/b": {},
      "node_modules/c": { dependencies: { a: "1" } },
      "node_modules/d": {},
    };
    const expected = ["node_modules/a", "node_modules/a/node_modules/b", "node_modules/c"];
    expect(withDependencies({ packages }, ["a"])).toEqual(expected);
    expect(() => withDependencies({ packages }, ["e"])).toThrow("the lock file has no e");
  });
});
