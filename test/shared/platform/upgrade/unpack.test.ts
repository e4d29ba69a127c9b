import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import zlib from "node:zlib";
import * as fc from "fast-check";
import { afterAll, beforeEach, expect, test } from "vitest";
import { unpack } from "../../../../shared/platform/upgrade/unpack.ts";
import { temporaryFolder } from "../../../support/machine/processes.ts";

// Archives of tar itself, and archives that a stranger could write.

const root = temporaryFolder();
let folder: string;
let count = 0;
beforeEach(() => {
  folder = path.join(root, String((count += 1)));
  fs.mkdirSync(folder);
});
afterAll(() => fs.rmSync(root, { recursive: true }));

interface Entry {
  readonly name: string;
  readonly text?: string;
  readonly type?: string;
  readonly mode?: string;
}

/** Writes entries as ustar. */
function archiveOf(entries: readonly Entry[]): string {
  const blocks = entries.flatMap(({ name, text = "", type = "0", mode = "0000644" }) => {
    const header = Buffer.alloc(512);
    header.write(name, 0);
    header.write(`${mode}\0`, 100);
    header.write(`${Buffer.byteLength(text).toString(8).padStart(11, "0")}\0`, 124);
    header.write("        ", 148);
    header.write(type, 156);
    header.write("ustar\u000000", 257);
    const sum = header.reduce((all, byte) => all + byte, 0);
    header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    const body = Buffer.alloc(Math.ceil(Buffer.byteLength(text) / 512) * 512);
    body.write(text);
    return [header, body];
  });
  const file = path.join(folder, "archive.tar.gz");
  fs.writeFileSync(file, zlib.gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)])));
  return file;
}

test("an archive of tar is unpacked with its folders, its long names and the right to run", async () => {
  const top = path.join(folder, "top");
  const deep = path.join(top, "a".repeat(90), "b".repeat(90));
  fs.mkdirSync(deep, { recursive: true });
  fs.writeFileSync(path.join(deep, "c.txt"), "x".repeat(100_000));
  fs.writeFileSync(path.join(top, "run"), "#!/bin/sh\n", { mode: 0o755 });
  fs.writeFileSync(path.join(top, "empty"), "");
  const archive = path.join(folder, "top.tar.gz");
  execFileSync("tar", ["-C", folder, "--format=ustar", "-czf", archive, "top"]);
  const unpacked = path.join(folder, "unpacked");
  await unpack(archive, "top", unpacked);
  execFileSync("diff", ["-r", top, unpacked]);
  expect(fs.statSync(path.join(unpacked, "run")).mode & 0o111).not.toBe(0);
  expect(fs.statSync(path.join(unpacked, "empty")).mode & 0o111).toBe(0);
});

test.each<[string, Entry, string]>([
  ["a name above the folder", { name: "top/../../evil" }, "is outside of top/"],
  ["an absolute name", { name: "/etc/evil" }, "is outside of top/"],
  ["another folder", { name: "other/file" }, "is outside of top/"],
  ["a separator of Windows", { name: "top/..\\evil" }, "is outside of top/"],
  ["a drive of Windows", { name: "top/C:evil" }, "is outside of top/"],
  ["an empty part", { name: "top//evil" }, "is outside of top/"],
  ["a link", { name: "top/link", type: "2" }, "is neither file nor folder"],
  ["a hard link", { name: "top/link", type: "1" }, "is neither file nor folder"],
  ["a device", { name: "top/device", type: "3" }, "is neither file nor folder"],
  ["an extension", { name: "top/longer", type: "L" }, "is neither file nor folder"],
])("an archive with %s is refused, and nothing is written outside", async (_, entry, reason) => {
  const archive = archiveOf([{ name: "top/good", text: "good" }, entry]);
  const before = fs.readdirSync(root).length;
  await expect(unpack(archive, "top", path.join(folder, "unpacked"))).rejects.toThrow(reason);
  expect(fs.readdirSync(root).length).toBe(before);
  expect(fs.readdirSync(folder).toSorted()).toEqual(["archive.tar.gz", "unpacked"]);
  expect(fs.readdirSync(path.join(folder, "unpacked"))).toEqual(["good"]);
});

test("an archive that is cut or changed anywhere is refused or gives the same files", async () => {
  const whole = fs.readFileSync(
    archiveOf([
      { name: "top/a", text: "aaa" },
      { name: "top/b/c", text: "c".repeat(2_000) },
    ]),
  );
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.boolean(), async (place, isCut) => {
      const at = place % whole.length;
      const bytes = Buffer.from(whole);
      bytes[at]! ^= 0x10;
      const archive = path.join(folder, "changed.tar.gz");
      fs.writeFileSync(archive, isCut ? whole.subarray(0, at) : bytes);
      const unpacked = path.join(folder, `run-${(run += 1)}`);
      const read = (name: string) => fs.readFileSync(path.join(unpacked, name), "utf8");
      const outcome = await unpack(archive, "top", unpacked).then(
        () => `${read("a")} ${read("b/c")}`,
        (error: unknown) => (error instanceof Error ? "refused" : error),
      );
      expect(["refused", `aaa ${"c".repeat(2_000)}`]).toContain(outcome);
    }),
    { numRuns: 200 },
  );
});
